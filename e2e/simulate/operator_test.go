package simulate

import (
	"context"
	"maps"
	"math/big"
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/swapper-go/swapper"
	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/internal/bigs"
	"github.com/swapper-go/swapper/internal/devnet"
	"github.com/swapper-go/swapper/internal/devnet/control"
	"github.com/swapper-go/swapper/watchtower"
)

// operator runs a watchtower of the service's own in each process, on a store that outlives them.
type operator struct {
	control.Wallet
	disk  *disk
	coins map[string]*big.Int // of each chain, at first
}

func (w *world) newOperator(ctx context.Context) (*operator, error) {
	o := &operator{disk: new(disk), coins: map[string]*big.Int{}}
	for _, g := range w.lands {
		err := g.equip(ctx, &o.Wallet)
		if err != nil {
			return nil, err
		}
		if o.coins[g.chain()], err = g.native(g.address(&o.Wallet)); err != nil {
			return nil, err
		}
	}
	return o, nil
}

// tower opens the process's watchtower.
func (o *operator) tower(p *process, c swapper.Config, via func(string) http.RoundTripper) (*watchtower.Tower, error) {
	heard, err := watchtower.NewNostrSource(watchtower.NostrOptions{Relays: []string{p.w.net.Nostr.URL()}, Network: bitcoin.Regtest, HTTP: via("nostr")})
	if err != nil {
		return nil, err
	}
	config := watchtower.Config{Network: c.Network, Bitcoin: c.Bitcoin, Store: handle{o.disk, p}, AllNodes: c.AllNodes, Sources: []watchtower.Source{heard}, Vaults: true,
		HTTP: c.HTTP, Now: c.Now, Log: c.Logger}
	if p.w.plan.shared {
		config.Store = sharedHandle{handle{o.disk, p}}
	}
	for i, g := range p.w.lands {
		var s devnet.Signer
		switch g.(type) {
		case solanaLand:
			s = devnet.SignSolana(o.Solana)
		case starknetLand:
			s = devnet.SignStarknet(*o.Starknet)
		default:
			s = devnet.SignEVM(o.EVM)
		}
		policy := watchtower.Policy{Allowance: new(big.Int).Rsh(o.coins[g.chain()], 6)}
		config.Chains = append(config.Chains, watchtower.Account{Chain: c.Chains[i], Signer: s, Policy: policy})
	}
	return watchtower.Open(p.ctx, config)
}

// claimer hands over to the process's watchtower, under the eyes of the promises.
type claimer struct {
	watchtower.Claimer
	p *process
}

func (c claimer) Publish(ctx context.Context, m watchtower.Message) error {
	return c.p.publish(ctx, m, "its own watchtower", c.Claimer)
}

// audit compares the watchtower's books with what the chains say of its accounts, once it waits for
// nothing.
func (w *world) audit(ctx context.Context) {
	o := w.operator
	if o == nil {
		return
	}
	var reports []watchtower.Report
	for tries := 0; ; tries++ {
		waiting := 0
		p, err := w.any(0)
		if err == nil {
			reports, err = p.tower.Reports(ctx)
		}
		for _, r := range reports {
			waiting += r.Waiting
		}
		if err == nil && waiting == 0 {
			break
		}
		if tries == 60 {
			w.broken("the watchtower still waits for %d claims: %v", waiting, err)
			return
		}
		sleep(ctx, time.Minute)
	}
	w.earned = reports
	for i, g := range w.lands {
		r, at := reports[i], g.address(&o.Wallet)
		native, err := g.native(at)
		if err != nil {
			w.broken("the watchtower's coins on %s: %v", g.chain(), err)
			continue
		}
		token, err := g.balance(at)
		if err != nil {
			w.broken("the watchtower's tokens on %s: %v", g.chain(), err)
			continue
		}
		coins := new(big.Int).Sub(o.coins[g.chain()], r.Spent)
		coins.Add(coins, bigs.OrZero(r.Earned[r.Info.Native.Address]))
		tokens := new(big.Int).Add(big.NewInt(startTokens), bigs.OrZero(r.Earned[g.token()]))
		if native.Cmp(coins) != 0 || token.Cmp(tokens) != 0 {
			w.broken("the watchtower has %s coins and %s tokens on %s, by its books %s and %s: %+v", native, token, g.chain(), coins, tokens, r.Book)
		}
		w.note("the watchtower's books of %s: %+v", g.chain(), r.Book)
	}
}

// takings are what several worlds' watchtowers have spent and earned, by chain.
type takings map[string]*watchtower.Book

func (all takings) add(reports []watchtower.Report) {
	for _, r := range reports {
		b := all[r.Chain]
		if b == nil {
			b = &watchtower.Book{Chain: r.Chain, Spent: new(big.Int), Earned: map[string]*big.Int{}}
			all[r.Chain] = b
		}
		b.Claims, b.Lost, b.Left = b.Claims+r.Claims, b.Lost+r.Lost, b.Left+r.Left
		b.Spent.Add(b.Spent, r.Spent)
		for token, n := range r.Earned {
			b.Earned[token] = bigs.Add(bigs.OrZero(b.Earned[token]), n)
		}
	}
}

func (all takings) report(t *testing.T) {
	t.Helper()
	for _, on := range slices.Sorted(maps.Keys(all)) {
		b := all[on]
		t.Logf("watchtowers on %s: %d claims, %d lost, %d left to others; spent %s, earned %v", on, b.Claims, b.Lost, b.Left, b.Spent, b.Earned)
	}
}
