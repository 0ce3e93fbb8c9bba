package simulate

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/swapper-go/swapper/internal/devnet"
)

// plan is all that a seed decides before anything runs: who wants what, and what
// happens to whom at which moment.
type plan struct {
	seed      uint64
	version   devnet.Version           // of the LPs
	lands     []string                 // the smart chains
	shared    bool                     // two processes on the store, else one
	clocks    [2]time.Duration         // how far those of the processes are ahead
	told      bool                     // a node of each chain tells of events
	twins     bool                     // two nodes of each chain, of which one at a time is in trouble; else one
	times     map[string]time.Duration // and those by which blocks are dated, by chain
	tower     bool                     // the service's own watchtower is the only one
	meddling  time.Duration            // between two deeds of the stranger in the mean; 0: there are none
	orders    []order
	events    []event
	collusion *collusion    // nil: there is none
	calm      time.Duration // from then on the world is fair
}

// order is one user with one swap.
type order struct {
	at      time.Duration
	land    string
	kind    string
	amount  int64
	hasty   bool            // signs and hands in everything twice
	stays   bool            // looks at the swap all the time
	pauses  []time.Duration // how long the user is away after each thing done, one after the other
	forgets bool            // never pays
}

// event is something that happens, for a while or at once.
type event struct {
	at, lasts time.Duration
	what      string
	who       int // process, LP or chain
	n         int // depth, number, strength
}

func (e event) String() string {
	return fmt.Sprintf("%v %s who=%d n=%d for %v", e.at, e.what, e.who, e.n, e.lasts)
}

// What happens. The ones that last have an end.
var troubles = map[string]int{ // with their weights
	"bitcoin reorganised": 3, "chain reorganised": 4, "chain drops what waits": 2,
	"clock": 6, "bitcoin node": 6, "chain node": 8, "nostr relay": 4, "watchtower": 4,
	"wire": 10, "disk": 5, "killed": 10, "killed at": 14, "stopped": 4,
	"LP": 14, "lightning": 2,
}

const lps = 3 // the first is honest

func newPlan(seed uint64) plan {
	r := rand.New(rand.NewPCG(seed, 0))
	between := func(least, most time.Duration) time.Duration {
		return (least + rand64(r, most-least)).Round(time.Millisecond)
	}
	p := plan{seed: seed, version: devnet.Versions[r.IntN(2)], shared: r.IntN(3) == 0, calm: between(90*time.Minute, 4*time.Hour)}
	p.lands = [][]string{{citrea}, {citrea, solanaV1}, {citrea, solanaV2}, {citrea, starknet}, {citrea, solanaV1, starknet}, {citrea, solanaV2, starknet}}[r.IntN(6)]
	for i := range p.clocks {
		off := []time.Duration{2 * time.Second, 2 * time.Second, 2 * time.Second, 2 * time.Second, time.Minute, time.Minute, 10 * time.Minute, 3 * time.Hour}[r.IntN(8)]
		p.clocks[i] = between(-off, off)
	}
	p.twins = r.IntN(3) == 0
	p.meddling = []time.Duration{0, 0, 3 * time.Second, 15 * time.Second, time.Minute}[r.IntN(5)]
	p.times = map[string]time.Duration{"BITCOIN": between(-30*time.Minute, 30*time.Minute), "CITREA": between(-time.Minute, 15*time.Second), "SOLANA": between(-time.Minute, 15*time.Second), "STARKNET": between(-time.Minute, 15*time.Second)}
	for range 6 + r.IntN(8) {
		on := p.lands[r.IntN(len(p.lands))]
		kinds := kindsOf(on)
		o := order{at: between(0, p.calm*2/3), land: on, kind: kinds[min(r.IntN(len(kinds)*2), r.IntN(len(kinds)))], amount: 20_000 + r.Int64N(60_000), hasty: r.IntN(5) == 0, stays: r.IntN(2) == 0, forgets: r.IntN(10) == 0}
		for range 6 {
			pause := between(5*time.Second, 40*time.Second)
			if r.IntN(5) == 0 {
				pause = between(time.Minute, 40*time.Minute)
			}
			o.pauses = append(o.pauses, pause)
		}
		p.orders = append(p.orders, o)
	}
	var names []string
	for name, weight := range troubles {
		for range weight {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	for range 15 + r.IntN(40) {
		e := event{at: between(0, p.calm), what: names[r.IntN(len(names))], n: r.IntN(1 << 20)}
		if r.IntN(3) > 0 { // most happens where somebody is to be hit
			e.at = min(p.orders[r.IntN(len(p.orders))].at+between(0, 3*time.Minute), p.calm-time.Second)
		}
		switch e.what {
		case "LP":
			e.who, e.lasts = 1+r.IntN(lps-1), between(5*time.Minute, 3*time.Hour)
		case "wire", "disk", "killed", "killed at", "stopped", "clock":
			if p.shared {
				e.who = r.IntN(2)
			}
			e.lasts = between(time.Second, 15*time.Minute)
		case "chain reorganised", "chain drops what waits", "chain node":
			e.who, e.lasts = r.IntN(len(p.lands)), between(10*time.Second, 20*time.Minute)
		default:
			e.lasts = between(10*time.Second, 20*time.Minute)
		}
		e.lasts = min(e.lasts, p.calm-e.at)
		p.events = append(p.events, e)
	}
	if *deep {
		for range 1 + r.IntN(4) {
			p.events = append(p.events, event{at: max(min(p.orders[r.IntN(len(p.orders))].at+between(0, 15*time.Minute), p.calm-time.Second), 10*time.Minute), what: "unsettled", who: r.IntN(len(p.lands)+1) - 1, n: r.IntN(1 << 20)})
		}
	}
	p.tell()
	p.tower = p.seed/2%2 == 1
	slices.SortFunc(p.events, func(a, b event) int { return int(a.at - b.at) })
	if *collude {
		p.collude()
	}
	return p
}

// tell lets nodes tell of events in every other world, some of the time falsely or not at all. It
// is decided by dice of its own: the rest of a plan is as without it.
func (p *plan) tell() {
	if p.told = p.seed%2 == 0; !p.told {
		return
	}
	r := rand.New(rand.NewPCG(p.seed, 3))
	for range 10 + r.IntN(10) {
		at := rand64(r, p.calm).Round(time.Millisecond)
		lasts := (10*time.Second + rand64(r, 20*time.Minute)).Round(time.Millisecond)
		p.events = append(p.events, event{at: at, lasts: min(lasts, p.calm-at), what: "teller", who: r.IntN(len(p.lands)+1) - 1, n: 1 + r.IntN(1<<20)})
	}
}

// only takes all of a plan to one chain.
func (p plan) only(land string) plan {
	p.lands = []string{land}
	kinds := kindsOf(land)
	for i := range p.orders {
		p.orders[i].land, p.orders[i].kind = land, kinds[i%len(kinds)]
	}
	for i := range p.events {
		if e := &p.events[i]; strings.HasPrefix(e.what, "chain") || (e.what == "unsettled" || e.what == "teller") && e.who > 0 {
			e.who = 0
		}
	}
	return p
}

// quiet is a plan of which nothing goes wrong, with each kind of swap once on each chain.
func quiet(lands ...string) plan {
	p := plan{lands: lands}
	for _, on := range lands {
		for _, kind := range kindsOf(on) {
			p.orders = append(p.orders, order{at: p.calm, land: on, kind: kind, amount: 50_000, stays: true})
			p.calm += time.Minute
		}
	}
	return p
}

// brief is the beginning of a plan.
func (p plan) brief(calm time.Duration, orders int) plan {
	p.calm, p.orders = calm, p.orders[:orders]
	for i := range p.orders {
		p.orders[i].at = time.Duration(i) * time.Minute
	}
	for i := range p.events {
		e := &p.events[i]
		e.at %= calm
		e.lasts = min(e.lasts, calm-e.at)
	}
	if p.collusion != nil {
		p.collusion.at, p.collusion.lasts = calm/10, calm*8/10
		p.spare()
	}
	return p
}

func rand64(r *rand.Rand, n time.Duration) time.Duration { return time.Duration(r.Int64N(int64(n))) }

// String is the whole plan, one thing a line.
func (p plan) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "seed %d: %v, LPs of the %s version, shared store %v, fair from %v\n", p.seed, p.lands, p.version, p.shared, p.calm)
	fmt.Fprintf(&b, "clocks %v, block times %v, a stranger every %v, two nodes each %v, told %v, an own watchtower %v\n", p.clocks, p.times, p.meddling, p.twins, p.told, p.tower)
	if p.collusion != nil {
		fmt.Fprintln(&b, "collusion", p.collusion)
	}
	for i, o := range p.orders {
		fmt.Fprintf(&b, "swap %d: %+v\n", i, o)
	}
	for _, e := range p.events {
		fmt.Fprintln(&b, e)
	}
	return b.String()
}
