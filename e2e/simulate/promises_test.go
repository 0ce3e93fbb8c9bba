package simulate

import (
	"bytes"
	"context"
	"io"
	"math/big"
	"net/http"
	"strings"
	"sync"

	"github.com/ethereum/go-ethereum/common"

	"github.com/swapper-go/swapper/internal/devnet/evm"
)

// promises are looked after while the world goes on.
type promises struct {
	w  *world
	mu sync.Mutex

	calls map[string]int // of what must be called once, by what it is about
}

func newPromises(w *world) *promises { return &promises{w: w, calls: map[string]int{}} }

// called sees each request of a process before anything happens to it.
func (p *promises) called(by *process, req *http.Request) {
	what, is := once(req)
	if !is || by.dead() {
		return
	}
	if strings.HasSuffix(what, "/postQuote") && req.Body != nil {
		body, _ := io.ReadAll(req.Body)
		req.Body = io.NopCloser(bytes.NewReader(body))
		what += string(body)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.calls[what]++
	if p.calls[what] > 1 {
		p.w.broken("%.200s is called %d times", what, p.calls[what])
	}
}

// settle compares what everybody has at the end with what was agreed.
func (p *promises) settle(ctx context.Context) {
	w := p.w
	n := w.net
	hanging := n.Lightning.TotalMsat()
	for _, u := range w.users {
		p.account(ctx, u)
	}
	_ = hanging
	// No escrow is left open, and no token is nobody's.
	c := n.EVM.Contracts()
	call, err := evm.CallOf("TestToken", c.Token, "totalSupply")
	if err != nil {
		w.broken("supply: %v", err)
		return
	}
	raw, err := n.EVM.Read(ctx, c.Token, call)
	if err != nil {
		w.broken("supply: %v", err)
		return
	}
	missing := new(big.Int).SetBytes(raw)
	owners := []common.Address{c.EscrowManager.Address, c.VaultManager.Address, n.EVM.Watchtower.Address, n.EVM.User.Address, n.EVM.LP.Address}
	for _, l := range n.LPs[1:] {
		owners = append(owners, l.Account().Address)
	}
	for _, u := range w.users {
		owners = append(owners, u.EVM.Address)
	}
	for _, a := range owners {
		missing.Sub(missing, w.tokens(ctx, a))
	}
	if missing.Sign() != 0 {
		w.broken("%d tokens are nobody's", missing)
	}
}

func (w *world) tokens(ctx context.Context, of common.Address) *big.Int {
	has, err := w.net.EVM.Balance(ctx, w.net.EVM.Contracts().Token, of)
	if err != nil {
		w.broken("balance: %v", err)
		return new(big.Int)
	}
	return has
}

// account compares what a user paid and got with what was agreed on.
func (p *promises) account(ctx context.Context, u *user) {
	w := p.w
	token := w.tokens(ctx, u.EVM.Address).Int64() - startTokens
	msat := u.Lightning.BalanceMsat() - startSats*1000
	sats := u.Bitcoin.Balance() - startSats
	shop, payee := u.shop.BalanceMsat(), u.payee.Balance()
	success := u.last != nil && u.last.IsSuccess
	w.note("user %d %s ends as %s: tokens %+d, msat %+d, sats %+d; the shop %d msat, the payee %d sats", u.n, u.order.kind, u.state(), token, msat, sats, shop, payee)
	const fees = 10_000 // sats for the user's own Bitcoin transactions
	in, out := int64(0), int64(0)
	if u.id != "" {
		in, out = u.quote.InputAmount.RawAmount.Int64(), u.quote.OutputAmount.RawAmount.Int64()
	}
	fail := func(text string) {
		w.broken("user %d, %s, %.8s, ended as %s (%v): %s: agreed on %d for %d; tokens %+d, msat %+d, sats %+d, shop %d msat, payee %d sats", u.n, u.order.kind, u.id, u.state(), u.states, text, in, out, token, msat, sats, shop, payee)
	}
	switch kind := u.order.kind; {
	case kind == "TO_BTC" || strings.HasPrefix(kind, "TO_BTCLN"):
		got := payee
		if kind != "TO_BTC" {
			got = shop / 1000
		}
		switch {
		case token != 0 && token != -in:
			fail("another amount was paid")
		case token == -in && in != 0 && got < out:
			fail("paid, and not received")
		case success != (got >= out && out > 0):
			fail("the outcome is not what is told")
		}
	case strings.HasPrefix(kind, "FROM_BTCLN_AUTO"):
		switch {
		case msat != 0 && msat != -in*1000:
			fail("another amount was paid")
		case msat != 0 && token < out:
			fail("paid, and not received")
		case success != (token >= out && out > 0):
			fail("the outcome is not what is told")
		}
	case kind == "SPV_VAULT_FROM_BTC":
		switch {
		case sats < -in-fees:
			fail("more was paid than agreed")
		case sats < -fees && token < out:
			fail("paid, and not received")
		case success != (token >= out && out > 0):
			fail("the outcome is not what is told")
		}
	}
}
