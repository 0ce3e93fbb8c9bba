package simulate

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/internal/swap"
	"github.com/swapper-go/swapper/storage"
)

// promises are looked after while the world goes on.
type promises struct {
	w  *world
	mu sync.Mutex

	quotes  map[string]*swap.Record // of vaults, by their identifiers
	posts   map[string]string       // PSBTs by their quotes
	posted  map[string]int          // how often
	calls   map[string]int          // of what must be called once, by what it is about
	asked   map[string]int          // how often users asked for them, by the service's host
	secrets map[string]*swap.Record // by preimages, as hexadecimal digits, that are to be kept until the escrow is open
	leaked  map[string]bool         // in time, so that it may be seen from then on
}

func newPromises(w *world) *promises {
	return &promises{w: w, quotes: map[string]*swap.Record{}, posts: map[string]string{}, posted: map[string]int{}, calls: map[string]int{}, asked: map[string]int{}, secrets: map[string]*swap.Record{}, leaked: map[string]bool{}}
}

// stored sees each record before it is written.
func (p *promises) stored(e storage.Entry) {
	r, err := swap.Decode(e.ID, e.Version, e.Body)
	if err == nil && r.Vault != nil {
		p.mu.Lock()
		p.quotes[r.Vault.QuoteID] = r
		p.mu.Unlock()
	}
	if err != nil || r.Type != swap.FromBTCLNAuto && r.Type != swap.FromBTCLN || r.Lightning == nil || r.Lightning.Preimage == (chains.Preimage{}) {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.secrets[hex.EncodeToString(r.Lightning.Preimage[:])] = r
}

// told sees everything that a process tells somebody. A preimage may be among it once its
// escrow is open and can still be claimed, later if the user chose so, and to the LP never.
func (p *promises) told(to string, what []byte) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for secret, r := range p.secrets {
		if !bytes.Contains(what, []byte(secret)) {
			continue
		}
		if to == "LP" {
			p.w.broken("the preimage of %.8s is told to the LP", r.ID)
		}
		if p.leaked[secret] {
			continue
		}
		p.leaked[secret] = true
		if state, left, err := p.w.escrow(r); err != nil || state == chains.EscrowNone || state == chains.EscrowOpen && left < 10*time.Minute && !(r.Submission.Open() && r.Submission.Action == "last claim") {
			p.w.broken("the preimage of %.8s is told to %s while its escrow is in state %v, %v before its expiry (%v)", r.ID, to, state, left, err)
		}
	}
}

// escrow returns how the chain has a swap's escrow, and how long until it expires.
func (w *world) escrow(r *swap.Record) (chains.EscrowState, time.Duration, error) {
	if r.Escrow == nil || r.Escrow.Real == nil {
		return chains.EscrowNone, 0, errors.New("there is no escrow")
	}
	for _, g := range w.lands {
		if g.chain() == r.Chain {
			return g.escrow(*r.Escrow.Real)
		}
	}
	return chains.EscrowNone, 0, errors.New("there is no such chain")
}

// called sees each request of a process before anything happens to it.
func (p *promises) called(by *process, to string, req *http.Request) {
	if by.dead() {
		return
	}
	var body []byte
	if req.GetBody != nil { // what is not streamed
		if copied, err := req.GetBody(); err == nil {
			body, _ = io.ReadAll(copied)
		}
	}
	if to == "chain" {
		for _, g := range by.w.lands {
			body = g.tells(body)
		}
	}
	p.told(to, append([]byte(req.URL.String()), body...))
	if strings.HasSuffix(req.URL.Path, "/frombtc_spv/postQuote") {
		p.post(body)
	}
	what, is := once(req)
	if !is {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.calls[what]++
	if asked := p.asked[req.URL.Host]; p.calls[what] > max(asked, 1) {
		p.w.broken("%.200s is called %d times, and was asked for %d times", what, p.calls[what], asked)
	}
}

// mostPosts is how often one PSBT may be posted: with pauses that grow up to a minute, for the ten minutes
// or so of a quote, by two processes that die now and then.
const mostPosts = 40

// post sees a PSBT on its way to an LP: the same one may be handed in again when it is not known
// what became of it, another one for the same quote never.
func (p *promises) post(body []byte) {
	var post struct{ QuoteID, PSBTHex string }
	if err := json.Unmarshal(body, &post); err != nil || post.QuoteID == "" || post.PSBTHex == "" {
		p.w.broken("a post is not understood: %v", err)
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if other, ok := p.posts[post.QuoteID]; ok && other != post.PSBTHex {
		p.w.broken("two PSBTs are posted for the quote %.8s", post.QuoteID)
	}
	if r := p.quotes[post.QuoteID]; r != nil && p.posted[post.QuoteID] == 0 {
		p.fills(r)
	}
	p.posts[post.QuoteID] = post.PSBTHex
	if p.posted[post.QuoteID]++; p.posted[post.QuoteID] > mostPosts {
		p.w.broken("the PSBT for the quote %.8s is posted more than %d times", post.QuoteID, mostPosts)
	}
}

// settle compares what everybody has at the end with what was agreed.
func (p *promises) settle() {
	w := p.w
	for _, u := range w.users {
		p.account(u)
	}
	for _, g := range w.lands {
		w.books(g)
	}
	p.ledger()
}

// wants notes that a user asks for a withdrawal.
func (p *promises) wants(host string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.asked[host]++
}

// account compares what a user paid and got with what was agreed on.
func (p *promises) account(u *user) {
	w := p.w
	has, err := u.land.balance(u.land.address(&u.Wallet))
	if err != nil {
		w.broken("user %d: balance: %v", u.n, err)
		return
	}
	token := has.Int64() - startTokens
	msat := u.Lightning.BalanceMsat() - startSats*1000
	sats := u.Bitcoin.Balance() - startSats
	shop, payee := u.shop.BalanceMsat(), u.payee.Balance()
	success := u.last != nil && u.last.IsSuccess
	w.note("user %d %s on %s ends as %s: tokens %+d, msat %+d, sats %+d; the shop %d msat, the payee %d sats", u.n, u.order.kind, u.order.land, u.state(), token, msat, sats, shop, payee)
	const fees = 10_000 // sats for the user's own Bitcoin transactions
	in, out := int64(0), int64(0)
	if u.id != "" {
		in, out = u.quote.InputAmount.RawAmount.Int64(), u.quote.OutputAmount.RawAmount.Int64()
	}
	fail := func(text string) {
		w.broken("user %d, %s on %s, %.8s, ended as %s (%v): %s: agreed on %d for %d; tokens %+d, msat %+d, sats %+d, shop %d msat, payee %d sats", u.n, u.order.kind, u.order.land, u.id, u.state(), u.states, text, in, out, token, msat, sats, shop, payee)
	}
	switch kind := u.order.kind; {
	case u.gas():
		p.gas(u, msat, sats)
	case kind == "TO_BTC" || strings.HasPrefix(kind, "TO_BTCLN"):
		got := payee
		if kind != "TO_BTC" {
			got = (shop - u.gift) / 1000
		}
		switch {
		case token != 0 && token != -in:
			fail("another amount was paid")
		case token == -in && in != 0 && got < out:
			fail("paid, and not received")
		case success != (got >= out && out > 0):
			fail("the outcome is not what is told")
		}
	case strings.HasPrefix(kind, "FROM_BTCLN"):
		switch {
		case msat != 0 && msat != -in*1000 && msat != -in*1000-routeMsat: // the user's wallet pays for the route
			fail("another amount was paid")
		case msat != 0 && token < out:
			fail("paid, and not received")
		case success != (token >= out && out > 0):
			fail("the outcome is not what is told")
		}
	case kind == "SPV_VAULT_FROM_BTC", kind == "FROM_BTC":
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
