package simulate

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/swapper-go/swapper"
	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/internal/devnet"
	"github.com/swapper-go/swapper/internal/devnet/lp"
	"github.com/swapper-go/swapper/internal/devnet/watchtower"
	"github.com/swapper-go/swapper/internal/swap"
)

// collusion is an episode of a world: for some hours one of two nodes of a chain tells a
// story, which an LP and a watchtower make up with it. The other node tells the chain.
type collusion struct {
	at, lasts time.Duration
	land      int     // of the plan's
	lp        int     // that lives in the story
	liar      int     // the node that tells it, by its place in the client's list
	all       bool    // the client needs all nodes' word, and the wires are in trouble as ever
	fault     int     // how else the LP misbehaves
	phases    []phase // one after the other, again and again
}

// phase is what becomes for a while of the transactions that a client sends to both nodes. What
// they lose, and what nobody claims, is had again in less time than escrows last.
type phase struct {
	lasts time.Duration
	loses int  // the node that loses them; -1: neither does
	alone bool // other watchtowers claim nothing meanwhile
}

// colluding is what an LP is that colludes, beside living in a story. It pays for nothing that may not
// be so: whom it paid for nothing would have gained by it.
var colluding = []lp.Fault{{NeverPay: true}, {NotPayable: true}, {NotPayable: true, NoRefund: true}, {NeverPay: true, FalsePayment: true}, {NeverPay: true, NeverRefund: true}}

// small is what an LP that colludes puts into each contract, in sats: less than some swaps take.
const small = 150_000

// collude adds an episode to a plan, and lets most swaps come while it lasts, and on its chain.
func (p *plan) collude() {
	r := rand.New(rand.NewPCG(p.seed, 3))
	p.calm = max(p.calm, 3*time.Hour)
	c := &collusion{land: r.IntN(len(p.lands)), lp: 1 + r.IntN(lps-1), liar: r.IntN(2), all: r.IntN(2) == 0, fault: r.IntN(len(colluding))}
	if r.IntN(3) > 0 {
		c.liar = 0 // which is asked first
	}
	c.at = (15*time.Minute + rand64(r, 15*time.Minute)).Round(time.Millisecond)
	c.lasts = (2*time.Hour + rand64(r, p.calm-2*time.Hour-c.at)).Round(time.Millisecond)
	between := func(least, most time.Duration) time.Duration {
		return (least + rand64(r, most-least)).Round(time.Millisecond)
	}
	for range 4 {
		c.phases = append(c.phases,
			phase{lasts: between(2*time.Minute, 8*time.Minute), loses: 1 - c.liar},
			phase{lasts: between(10*time.Minute, 30*time.Minute), loses: []int{c.liar, c.liar, -1}[r.IntN(3)]},
			phase{lasts: between(5*time.Minute, 20*time.Minute), loses: -1, alone: true})
	}
	c.phases = c.phases[r.IntN(3):]
	p.twins, p.collusion = true, c
	kinds := kindsOf(p.lands[c.land])
	for i := range p.orders {
		if o := &p.orders[i]; r.IntN(4) > 0 {
			o.land, o.kind = p.lands[c.land], kinds[min(r.IntN(len(kinds)), r.IntN(len(kinds)*2))]
			o.at = c.at - 10*time.Minute + rand64(r, c.lasts).Round(time.Millisecond)
		}
	}
	p.spare()
}

// spare takes out of a plan what cannot be while an episode lasts: a chain of which two stories are
// told is not reorganised, and none of the two nodes, nor the LP, nor a watchtower, is in other trouble.
func (p *plan) spare() {
	c := p.collusion
	p.events = slices.DeleteFunc(p.events, func(e event) bool {
		if e.at > c.at+c.lasts || e.at+e.lasts < c.at {
			return false
		}
		switch e.what {
		case "chain reorganised", "chain drops what waits", "chain node", "unsettled":
			return e.who == c.land
		case "LP":
			return e.who == c.lp
		case "watchtower":
			return true
		}
		return false
	})
}

func (c *collusion) String() string { return fmt.Sprintf("%+v", *c) }

// story is a chain as the node tells it that colludes.
type story struct {
	land                        // the chain in it
	net   *devnet.Net           // with that chain alone
	of    func(*lp.LP) lp.Story // an LP's place in it
	loses func(node int, on bool)
	end   func() error
}

// episode is a collusion under way. Its members are under the world's mutex.
type episode struct {
	*collusion
	story *story // nil before and after it
	hosts []string
	told  map[string]map[int]bool // users by what was told about their swaps that was not so
	heard map[int]bool            // users who heard that nodes contradict each other
	met   map[int]bool            // users whose swap was the LP's
	other map[int]bool            // users whose swap on the chain was another LP's
}

// colludes lets the plan's episode happen.
func (w *world) colludes(ctx context.Context) {
	c := w.plan.collusion
	if c == nil {
		return
	}
	w.busy.Go(func() {
		if sleep(ctx, c.at-w.at()); ctx.Err() != nil {
			return
		}
		if err := w.tell(ctx, c); err != nil {
			w.broken("the collusion: %v", err)
		}
	})
}

// tell is the whole of an episode.
func (w *world) tell(ctx context.Context, c *collusion) error {
	g, l := w.lands[c.land], w.net.LPs[c.lp]
	s, err := g.part(c.liar)
	if err != nil {
		return err
	}
	w.note("the LP %d colludes with node %d of %s: %v", c.lp, c.liar, g.chain(), c)
	l.Misbehave(colluding[c.fault])
	repent, err := l.Collude(s.of(l))
	if err != nil {
		return err
	}
	if err := l.FillVaults(ctx, g.token(), 10*small); err != nil {
		return err
	}
	tower, err := s.net.Watch(ctx, watchtower.Options{Relays: []string{w.net.Nostr.URL()}, Network: w.network, Every: 20 * time.Second}) // claims in it alone
	if err != nil {
		w.note("the watchtower that colludes does not start: %v", err) // no relay is there
	}
	w.mu.Lock()
	w.episode.story = s
	w.mu.Unlock()
	for i, until := 0, c.at+c.lasts; w.at() < until && ctx.Err() == nil; i++ {
		now := c.phases[i%len(c.phases)]
		for node := range 2 {
			s.loses(node, node == now.loses)
		}
		w.net.Tower.Behave(watchtower.Behaviour{NoEscrows: now.alone, NoVaults: now.alone, NoProofs: now.alone})
		sleep(ctx, min(now.lasts, until-w.at()))
	}
	w.mu.Lock()
	w.episode.story = nil
	w.mu.Unlock()
	w.net.Tower.Behave(towerFaults[0])
	if tower != nil {
		w.note("the watchtower that colludes has claimed %d times", len(tower.Claims()))
		_ = tower.Close()
	}
	err = repent(ctx)
	l.Misbehave(lp.Fault{})
	g.heal()
	w.note("the nodes of %s tell the same again", g.chain())
	if endErr := s.end(); endErr != nil {
		return endErr
	}
	return err
}

// under returns the story that is told of a chain now, nil if none is.
func (w *world) under(g land) *story {
	w.mu.Lock()
	defer w.mu.Unlock()
	if s := w.episode.story; s != nil && s.chain() == g.chain() {
		return s
	}
	return nil
}

// spares reports whether the way to a host is in no trouble: that to the nodes of a chain of which
// two stories are told, where one node's word is enough once the other one's does not come.
func (w *world) spares(host string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.episode.story != nil && !w.episode.all && slices.Contains(w.episode.hosts, host)
}

// hosts are those of URLs.
func hosts(urls []string) (all []string) {
	for _, text := range urls {
		if u, err := url.Parse(text); err == nil {
			all = append(all, u.Host)
		}
	}
	return all
}

// hears notes what the user is told, and what the nodes tell about the swap, while two stories are told.
func (w *world) hears(u *user, problem string) {
	s := w.under(u.land)
	if s == nil {
		return
	}
	var lies []string
	r, err := w.record(u.id)
	if err == nil && r.Escrow != nil && r.Escrow.Real != nil {
		is, _, err := u.land.escrow(*r.Escrow.Real)
		told, _, toldErr := s.escrow(*r.Escrow.Real)
		if err == nil && toldErr == nil && is != told {
			lies = append(lies, fmt.Sprintf("an escrow is %v, the chain has %v", told, is))
		}
	}
	if err == nil && r.Vault != nil {
		is, err := u.land.vault(vaultOf(r))
		told, toldErr := s.vault(vaultOf(r))
		switch {
		case err != nil || toldErr != nil:
		case is.UTXO != told.UTXO:
			lies = append(lies, "a withdrawal is claimed, the chain has it not")
		case is.Raw[0] < r.Vault.Raw[0] && told.Raw[0] >= r.Vault.Raw[0]:
			lies = append(lies, "a vault has enough, in the chain it has not")
		}
	}
	kind, _, _ := strings.Cut(u.order.kind, " ")
	w.mu.Lock()
	defer w.mu.Unlock()
	e := &w.episode
	if err == nil {
		if r.LP.URL == w.net.LPs[e.lp].URL() {
			e.met[u.n] = true
		} else {
			e.other[u.n] = true
		}
	}
	if strings.Contains(problem, "contradict") {
		e.heard[u.n] = true
	}
	for _, lie := range lies {
		what := u.order.land + " " + kind + ": " + lie
		if e.told[what] == nil {
			e.told[what] = map[int]bool{}
		}
		e.told[what][u.n] = true
	}
}

// record is what is stored of a swap.
func (w *world) record(id string) (*swap.Record, error) {
	e, err := w.disk.Get(context.Background(), id)
	if err != nil {
		return nil, err
	}
	return swap.Decode(e.ID, e.Version, e.Body)
}

func vaultOf(r *swap.Record) chains.VaultID {
	return chains.VaultID{Owner: r.Vault.Owner, ID: r.Vault.VaultID}
}

// pays checks before a user pays bitcoin for an escrow that the chain has it open.
func (p *promises) pays(u *user, a swapper.Action) {
	_, signs := a.(*swapper.SignSmartChainTransaction)
	if u.order.kind != "FROM_BTC" || signs {
		return
	}
	r, err := p.w.record(u.id)
	if err != nil {
		p.w.broken("user %d is asked to pay for %.8s: %v", u.n, u.id, err)
		return
	}
	if state, left, err := p.w.escrow(r); err != nil || state != chains.EscrowOpen {
		p.w.broken("user %d is asked to pay for %.8s while its escrow is in state %v, %v before its expiry (%v)", u.n, u.id, state, left, err)
	}
}

// fills checks before a PSBT leaves for an LP that the chain's vault has what it withdraws. The LP may
// have other withdrawals under way, which are not reckoned here.
func (p *promises) fills(r *swap.Record) {
	for _, g := range p.w.lands {
		if g.chain() != r.Chain {
			continue
		}
		v, err := g.vault(vaultOf(r))
		if err != nil || !v.Open || v.Raw[0] < r.Vault.Raw[0] || v.Raw[1] < r.Vault.Raw[1] {
			p.w.broken("the PSBT of %.8s leaves for a vault that has %v of %v (%v)", r.ID, v.Raw, r.Vault.Raw, err)
		}
	}
}

// finished checks when a swap is first shown as finished that what the user has agrees with it.
func (p *promises) finished(u *user, s *swapper.GetSwapStatusOutput) {
	if u.gas() || *deep {
		return
	}
	has, err := u.land.balance(u.land.address(&u.Wallet))
	if err != nil {
		p.w.broken("user %d: balance: %v", u.n, err)
		return
	}
	token := has.Int64() - startTokens
	switch out := u.quote.OutputAmount.RawAmount.Int64(); {
	case strings.HasPrefix(u.order.kind, "FROM_") || u.order.kind == "SPV_VAULT_FROM_BTC":
		if s.IsSuccess && token < out {
			p.w.broken("user %d, %s on %s, %.8s is shown as %s, and has %d of %d tokens", u.n, u.order.kind, u.order.land, u.id, s.State.Name, token, out)
		}
	case !s.IsSuccess && token < 0:
		p.w.broken("user %d, %s on %s, %.8s is shown as %s, and %d tokens are in its escrow", u.n, u.order.kind, u.order.land, u.id, s.State.Name, -token)
	}
}

// collusions are what several worlds' episodes came to.
type collusions struct {
	episodes, heard, met, others int
	lasted                       time.Duration
	told                         map[string]int // swaps, by what was told about them that was not so
}

func (all *collusions) add(e episode) {
	if e.collusion == nil {
		return
	}
	if all.told == nil {
		all.told = map[string]int{}
	}
	all.episodes++
	all.lasted += e.lasts
	all.heard += len(e.heard)
	all.met += len(e.met)
	all.others += len(e.other)
	for what, users := range e.told {
		all.told[what] += len(users)
	}
}

func (all *collusions) report(t *testing.T) {
	t.Helper()
	t.Logf("%d episodes of collusion, %.0f hours, with %d swaps of the LPs that colluded and %d of others; %d users heard of contradictions", all.episodes, all.lasted.Hours(), all.met, all.others, all.heard)
	for _, what := range slices.Sorted(maps.Keys(all.told)) {
		t.Logf("%4d %s", all.told[what], what)
	}
}
