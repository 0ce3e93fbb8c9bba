package e2e

import (
	"math/big"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/swapper-go/swapper"
	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/internal/devnet/lp"
	"github.com/swapper-go/swapper/internal/devnet/watchtower"
	"github.com/swapper-go/swapper/internal/swap"
	"github.com/swapper-go/swapper/internal/trial"
)

// otherNode is a second node of a world's chain.
type otherNode struct {
	first, url string // of the network's first node, and its own
	split      func() (split, error)
	lose       func(bool) // the transactions that it is sent from now on
	pace       func(time.Duration) (stop func())
}

// split is a chain of which two nodes tell different stories.
type split interface {
	Prevail() error // what the second node tells is the chain
	Rejoin() error  // what the first node tells is
}

// collusion is a world with two nodes of the chain, of which the first in the client's list
// colludes with the LP.
type collusion struct {
	*world
	typ    swapper.SwapType
	other  otherNode
	split  split
	before book
	told   bool   // the user was told that the nodes contradict each other
	end    string // the state in which the swap may be shown as finished, once the user has acted
	acted  bool
}

// lies are what the colluding node says, and the types of swaps of which it makes sense.
// Short of full depth, the first one is tried.
var lies = []struct {
	name  string
	types []swapper.SwapType
	run   func(*collusion)
	omits bool // the liar is the network's second node, which leaves out what is so
}{
	{"an escrow is open", []swapper.SwapType{swapper.SwapFromBTCLNAuto, swapper.SwapFromBTC, swapper.SwapFromBTCLN}, (*collusion).inventedEscrow, false},
	{"a vault is full", []swapper.SwapType{swapper.SwapSPVVaultFromBTC}, (*collusion).inventedFunds, false},
	{"an escrow was given back", []swapper.SwapType{swapper.SwapToBTCLN, swapper.SwapToBTC}, (*collusion).inventedRefund, false},
	{"a swap is settled", []swapper.SwapType{swapper.SwapSPVVaultFromBTC, swapper.SwapFromBTC, swapper.SwapFromBTCLNAuto}, (*collusion).inventedClaim, false},
	{"there is no escrow", []swapper.SwapType{swapper.SwapToBTC, swapper.SwapToBTCLN}, (*collusion).concealedEscrow, true},
}

// An LP that colludes for hours with the first of two nodes, which tells one story by every
// method, gains nothing: what that node makes up draws out no preimage, no bitcoin and no
// PSBT, and ends no swap. The user is told of it, and afterwards the swap ends as it should.
func TestLPsThatColludeWithANode(t *testing.T) {
	t.Parallel()
	colludes(t, options{})
}

func TestLPsThatColludeWithANodeOfSolana(t *testing.T) {
	trial.OnlyFull(t)
	onSolana(t, colludes)
}

func TestLPsThatColludeWithANodeOfStarknet(t *testing.T) {
	trial.OnlyFull(t)
	onStarknet(t, colludes)
}

func colludes(t *testing.T, o options) {
	o.slow = true
	o.net.LP = func(_ int, o *lp.Options) { o.Deposit = 150_000 } // less than a vault swap takes
	for _, lie := range trial.Of(1, lies) {
		var has []swapper.SwapType
		for _, typ := range lie.types {
			incoming := groundOf(o.on, nil).incomingTypes()
			if typ == incoming["LIGHTNING"] || typ == incoming["BITCOIN"] || typ == swapper.SwapToBTC || typ == swapper.SwapToBTCLN {
				has = append(has, typ)
			}
		}
		for _, typ := range trial.Of(1, has) {
			t.Run(lie.name+", "+string(typ), func(t *testing.T) {
				t.Parallel()
				w := start(t, o)
				w.close() // it is opened again, with two nodes
				c := &collusion{world: w, typ: typ, other: w.second()}
				urls := []string{c.other.first, c.other.url}
				if lie.omits {
					slices.Reverse(urls)
				}
				w.config = func(config *swapper.Config) { config.Chains = w.chains(urls...) }
				w.open()
				c.before = w.book()
				lie.run(c)
				// What is left out is not always contradicted: nothing that needs all nodes' word may follow from it.
				if n := c.contradictions(); !lie.omits && (!c.told || n == 0) {
					t.Errorf("the user was told: %t; the metric counts %d contradictions", c.told, n)
				}
			})
		}
	}
}

// part is where the two stories part.
func (c *collusion) part() {
	c.t.Helper()
	var err error
	if c.split, err = c.other.split(); err != nil {
		c.t.Fatal(err)
	}
}

// agree ends the lie.
func (c *collusion) agree(end func() error) {
	c.t.Helper()
	if err := end(); err != nil {
		c.t.Fatal(err)
	}
	c.advance(2 * time.Minute)
}

// request is a swap of the type.
func (c *collusion) request() swapper.CreateSwapInput {
	if out, ok := c.outgoing()[c.typ]; ok {
		return out()
	}
	return c.incoming()[c.typ]()
}

// hours lets three hours go by, in which the user looks twice every twenty minutes, the
// second time when the node that lies has lost its place, and does what may be done.
func (c *collusion) hours(id string, may func(*swapper.GetSwapStatusOutput) bool) {
	c.t.Helper()
	for range 9 {
		for _, pause := range []time.Duration{2 * time.Second, 20 * time.Minute} {
			c.advance(pause)
			s := c.status(id)
			c.t.Logf("%s, asks for %q, %+v", s.State.Name, nameOf(s.CurrentAction), s.ActionError)
			if s.IsFinished && (!c.acted || s.State.Name != c.end) {
				c.t.Errorf("it is shown as finished, as %s", s.State.Name)
			}
			if e := s.ActionError; e != nil && e.Code == fault.Upstream && strings.Contains(e.Error, "contradict") {
				c.told = true
			}
			a := s.CurrentAction
			if a == nil || asksFor[*swapper.Wait](s) != nil {
				continue
			}
			if !may(s) {
				c.t.Errorf("in %s the user is asked for %q", s.State.Name, nameOf(a))
				continue
			}
			c.try(id, a)
			c.acted = true
		}
	}
}

// try does what is asked for, by which one of the nodes may be disappointed.
func (c *collusion) try(id string, a swapper.Action) {
	c.t.Helper()
	defer c.other.pace(100 * time.Millisecond)()
	if err := c.user.Do(c.within(3*time.Second), id, a); err != nil {
		c.t.Logf("%s: %v", nameOf(a), err)
	}
}

func nothing(*swapper.GetSwapStatusOutput) bool { return false }

// contradictions is what the client's metric says.
func (c *collusion) contradictions() (n uint64) {
	stats, err := c.client.Stats(c.t.Context())
	if err != nil {
		c.t.Fatal(err)
	}
	for _, p := range stats.Parts {
		for _, of := range p.Contradictions {
			n += of
		}
	}
	return n
}

// inventedEscrow lets the LP's node show an escrow that is not in the chain.
func (c *collusion) inventedEscrow() {
	c.net.LPs[0].Misbehave(lp.Fault{NeverRefund: true})
	s := c.create(c.request())
	if c.typ == swapper.SwapFromBTCLN {
		c.act(s.SwapID)
		c.reached(s.SwapID, "PR_PAID")
	}
	c.part()
	c.other.lose(true) // what the user signs to open it
	c.act(s.SwapID)
	c.eventually("shown by the LP's node", func() bool { return c.since(c.before)["escrows WBTC"] == raw(s.Quote.OutputAmount) })
	c.hours(s.SwapID, nothing)
	if n := len(c.relay.Events()); n != 0 {
		c.t.Errorf("%d messages to watchtowers", n)
	}
	out := raw(s.Quote.OutputAmount)
	told := map[string]int64{"LP WBTC": -out, "escrows WBTC": out}
	if c.typ != swapper.SwapFromBTC {
		told["user msat"] = -100_000_000 // held
	}
	c.only(c.since(c.before), told)
	c.other.lose(false)
	c.agree(c.split.Prevail)
	c.advance(30 * 24 * time.Hour)
	c.timeOut()
	c.until(s.SwapID, is("QUOTE_EXPIRED"))
	c.only(c.since(c.before), map[string]int64{})
}

// inventedFunds lets the LP's node show a vault that has more than there is.
func (c *collusion) inventedFunds() {
	early := c.create(c.request()).SwapID
	large := c.request()
	large.Amount = big.NewInt(200_000)
	fill := func() {
		if err := c.net.LPs[0].FillVaults(c.t.Context(), c.tokenAt("WBTC"), 1_000_000); err != nil {
			c.t.Fatal(err)
		}
	}
	c.part()
	fill()
	c.advance(time.Second)
	if err := c.post(early, 30*time.Second); err == nil || !strings.Contains(err.Error(), "contradict") {
		c.t.Errorf("the PSBT of an earlier quote: %v", err)
	}
	for range 9 {
		c.advance(20 * time.Minute)
		s, err := c.client.CreateSwap(c.within(30*time.Second), large)
		if err == nil {
			c.t.Fatalf("offered: %+v", s)
		}
		c.told = c.told || strings.Contains(err.Error(), "contradict")
	}
	c.agree(c.split.Prevail)
	c.only(c.since(c.before), map[string]int64{})
	fill()
	c.before = c.book()
	s := c.create(large)
	c.act(s.SwapID)
	c.mine(2)
	c.ended(s.SwapID, "CLAIMED")
	c.gets(s)
}

// inventedRefund lets the LP's node show that an escrow was given back that is open: who
// believes it never takes it back.
func (c *collusion) inventedRefund() {
	c.net.LPs[0].Misbehave(lp.Fault{NeverPay: true})
	s := c.create(c.request())
	c.act(s.SwapID)
	c.reached(s.SwapID, "COMMITED")
	c.part()
	c.advance(8 * 24 * time.Hour)
	c.giveBack(c.escrow(s.SwapID))
	c.end = "REFUNDED"
	c.hours(s.SwapID, func(s *swapper.GetSwapStatusOutput) bool { return nameOf(s.CurrentAction) == "Refund" })
	if !c.acted {
		c.t.Error("the user is not offered the refund")
	}
	c.agree(c.split.Prevail)
	c.ended(s.SwapID, c.end)
	c.only(c.since(c.before), map[string]int64{})
}

// escrow is what is stored of a swap's.
func (c *collusion) escrow(id string) chains.Escrow {
	c.t.Helper()
	e, err := c.store.Get(c.t.Context(), id)
	if err != nil {
		c.t.Fatal(err)
	}
	r, err := swap.Decode(e.ID, e.Version, e.Body)
	if err != nil {
		c.t.Fatal(err)
	}
	return *r.Escrow.Real
}

// inventedClaim lets the LP's node show that a watchtower has settled for the user.
func (c *collusion) inventedClaim() {
	c.tower.Behave(watchtower.Behaviour{NoEscrows: true, NoVaults: true, NoProofs: true})
	s := c.create(c.request())
	c.end = "CLAIM_CLAIMED"
	c.act(s.SwapID)
	switch c.typ {
	case swapper.SwapSPVVaultFromBTC:
		c.end = "CLAIMED"
		c.mine(2)
		c.reached(s.SwapID, "BTC_TX_CONFIRMED")
	case swapper.SwapFromBTC:
		c.reached(s.SwapID, "CLAIM_COMMITED")
		c.act(s.SwapID)
		c.mine(2)
		c.reached(s.SwapID, "BTC_TX_CONFIRMED")
	default:
		c.reached(s.SwapID, "CLAIM_COMMITED")
	}
	c.part()
	c.tower.Behave(watchtower.Behaviour{})
	c.eventually("settled on the LP's side", func() bool { return c.since(c.before)["user WBTC"] > 0 })
	c.hours(s.SwapID, manually)
	c.tower.Behave(watchtower.Behaviour{NoEscrows: true, NoVaults: true, NoProofs: true})
	c.agree(c.split.Prevail)
	c.ended(s.SwapID, c.end)
	c.gets(s)
}

// gets checks that the user has what was agreed on.
func (c *collusion) gets(s *swapper.CreateSwapOutput) {
	c.t.Helper()
	if got, want := c.since(c.before)["user WBTC"], raw(s.Quote.OutputAmount); got < want { // who settles for a vault earns a little
		c.t.Errorf("the user got %d, agreed on %d", got, want)
	}
}

// concealedEscrow lets the LP's node leave out that the user has opened an escrow: who
// believes it never takes it back.
func (c *collusion) concealedEscrow() {
	c.net.LPs[0].Misbehave(lp.Fault{NeverPay: true})
	in := c.request()
	pays := c.native() // which nothing has to be allowed for first
	if pays == "SOL" {
		pays = "WBTC" // of which nothing has to be wrapped first
	}
	in.SrcToken = c.token(pays)
	s := c.create(in)
	had := c.holds(c.address(), pays)
	c.part()
	c.other.lose(true)
	c.try(s.SwapID, c.status(s.SwapID).CurrentAction)
	c.eventually("opened", func() bool {
		return new(big.Int).Sub(had, c.holds(c.address(), pays)).Cmp(s.Quote.InputAmount.RawAmount) >= 0
	})
	c.advance(time.Hour) // the quote has expired
	c.hours(s.SwapID, nothing)
	c.other.lose(false)
	c.agree(c.split.Rejoin)
	c.reached(s.SwapID, "COMMITED")
	c.advance(8 * 24 * time.Hour)
	c.ended(s.SwapID, "REFUNDED")
	c.only(c.since(c.before), map[string]int64{})
}
