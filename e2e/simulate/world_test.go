package simulate

import (
	"context"
	"fmt"
	"hash/fnv"
	"math/big"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"github.com/swapper-go/swapper/internal/devnet"
	devbitcoin "github.com/swapper-go/swapper/internal/devnet/bitcoin"
	devevm "github.com/swapper-go/swapper/internal/devnet/evm"
	"github.com/swapper-go/swapper/internal/devnet/loopback"
	"github.com/swapper-go/swapper/internal/devnet/lp"
	devsolana "github.com/swapper-go/swapper/internal/devnet/solana"
	devstarknet "github.com/swapper-go/swapper/internal/devnet/starknet"
	solwire "github.com/swapper-go/swapper/internal/solana/wire"
	"github.com/swapper-go/swapper/price"
	"github.com/swapper-go/swapper/watchtower"
)

// prices are the local network's: the native coin and WBTC are worth a bitcoin.
var prices = price.Fixed{Prices: map[string]*big.Int{
	"CITREA-CBTC": big.NewInt(1e14), "CITREA-WBTC": big.NewInt(1e14), "CITREA-USDC": big.NewInt(1e9),
	"SOLANA-SOL": big.NewInt(16e10), "SOLANA-WBTC": big.NewInt(1e14), "SOLANA-USDC": big.NewInt(1e9),
	"STARKNET-STRK": big.NewInt(13e7), "STARKNET-WBTC": big.NewInt(1e14), "STARKNET-USDC": big.NewInt(1e9),
}, USD: 0.001}

// epoch is when worlds begin: after Bitcoin's first block.
var epoch = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// world is everything in one bubble.
type world struct {
	plan     plan
	network  *loopback.Network
	net      *devnet.Net
	disk     *disk
	lands    []land // in the order of the plan
	bitcoins []*devbitcoin.Server
	tellers  []*devbitcoin.Server
	places   []*place
	users    []*user
	stranger *stranger
	operator *operator           // nil: the service has no watchtower of its own
	wealthy  *big.Int            // what the honest provider had at first, in sats
	earned   []watchtower.Report // of the operator, in the end
	promises *promises
	episode  episode
	began    time.Time // of the plan's time
	tip      uint32    // Bitcoin's then

	unpace  []func()       // ends the chains' pace
	burying sync.WaitGroup // processes that end
	busy    sync.WaitGroup // of everybody else

	mu       sync.Mutex
	happened []string
	faults   []string // what the plan did, with its moments
	failures []string
	nth      map[string]int
	nthAt    time.Duration
}

func newWorld(ctx context.Context, p plan) (*world, error) {
	time.Sleep(time.Until(epoch))
	w := &world{plan: p, network: new(loopback.Network), disk: new(disk), nth: map[string]int{}}
	w.promises = newPromises(w)
	r := rand.New(rand.NewPCG(p.seed, 2))
	slow := func(i int, o *lp.Options) {
		o.Poll = 15 * time.Second
		cheaper := r.Int64N(4)
		if p.collusion != nil && i == p.collusion.lp {
			o.Deposit, cheaper = small, 3
		}
		if i > 0 && cheaper > 0 { // than the honest one: people come
			o.Terms = map[string]lp.Terms{}
			for _, name := range []string{"TO_BTC", "FROM_BTC_SPV", "TO_BTCLN", "FROM_BTCLN_AUTO", "FROM_BTC", "FROM_BTCLN"} {
				o.Terms[name] = lp.Terms{Base: 5, PPM: 3000 - 500*cheaper, Min: 1000, Max: 5_000_000}
			}
		}
	}
	var err error
	solana := ""
	switch {
	case slices.Contains(p.lands, solanaV1):
		solana = solwire.V1
	case slices.Contains(p.lands, solanaV2):
		solana = solwire.V2
	}
	w.net, err = devnet.Start(ctx, devnet.Options{Solana: solana, Starknet: slices.Contains(p.lands, starknet),
		Bitcoin: func(o *devbitcoin.Options) { o.Now = dated(o.Now, p.times["BITCOIN"]) },
		OnSolana: func(o *devsolana.Options) {
			o.Now, o.ConfirmedLag, o.FinalizedLag = dated(o.Now, p.times["SOLANA"]), 2, 31
			o.DataV2 = []solwire.DataLayout{solwire.DataPlain, solwire.DataTagged}[p.seed%2] // which v2 has is not public
		},
		OnStarknet: func(o *devstarknet.Options) { o.Now = dated(o.Now, p.times["STARKNET"]) },

		LPs: lps, Version: p.version, Watchtower: true, TowerEvery: 20 * time.Second, Network: w.network,
		EVM: func(o *devevm.Options) { o.Now, o.SafeDepth, o.FinalDepth = dated(o.Now, p.times["CITREA"]), 3, 6 },
		LP:  slow})
	if err != nil {
		return nil, err
	}
	if w.bitcoins, w.tellers, err = nodes(w.net.Bitcoin.Server(), w.net.Bitcoin.Serve, p); err != nil {
		return nil, err
	}
	for _, name := range p.lands {
		g, err := w.newLand(name)
		if err != nil {
			return nil, err
		}
		w.lands = append(w.lands, g)
	}
	if c := p.collusion; c != nil {
		w.episode = episode{collusion: c, hosts: w.lands[c.land].hosts(), told: map[string]map[int]bool{}, heard: map[int]bool{}, met: map[int]bool{}, other: map[int]bool{}}
	}
	for i := range p.orders {
		u, err := w.newUser(ctx, i)
		if err != nil {
			return nil, err
		}
		w.users = append(w.users, u)
	}
	if w.stranger, err = w.newStranger(ctx); err != nil {
		return nil, err
	}
	if p.tower { // nobody else claims
		if err := w.net.Tower.Close(); err != nil {
			return nil, err
		}
		if w.operator, err = w.newOperator(ctx); err != nil {
			return nil, err
		}
	}
	if w.wealthy, err = w.wealth(); err != nil {
		return nil, err
	}
	for i := range 2 {
		if i == 0 || p.shared {
			at := &place{number: i}
			at.ahead.Store(int64(p.clocks[i]))
			w.places = append(w.places, at)
		}
	}
	return w, nil
}

// dated is a clock by which blocks are dated.
func dated(now func() time.Time, ahead time.Duration) func() time.Time {
	return func() time.Time { return now().Add(ahead) }
}

// at is the plan's time.
func (w *world) at() time.Duration { return time.Since(w.began) }

// note says what happened, for the story of a failure.
func (w *world) note(format string, args ...any) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.happened = append(w.happened, fmt.Sprintf("%v %s", w.at().Round(time.Millisecond), fmt.Sprintf(format, args...)))
}

// broken says that a promise was broken.
func (w *world) broken(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	w.mu.Lock()
	known := slices.Contains(w.failures, text)
	if !known {
		w.failures = append(w.failures, text)
	}
	w.mu.Unlock()
	if !known {
		w.note("BROKEN: %s", text)
	}
}

// dice decides what happens to one message or write: the same thing at the same moment
// of the same seed has the same fate.
func (w *world) dice(parts ...string) *rand.Rand {
	key := fmt.Sprint(parts)
	w.mu.Lock()
	if at := w.at().Truncate(time.Millisecond); at != w.nthAt {
		w.nthAt = at
		clear(w.nth)
	}
	w.nth[key]++
	h := fnv.New64a()
	fmt.Fprint(h, key, w.nthAt, w.nth[key])
	w.mu.Unlock()
	return rand.New(rand.NewPCG(w.plan.seed, h.Sum64()))
}

// mine finds Bitcoin blocks at random moments, ten minutes apart in the mean, and the
// chain's every few seconds, which take what waits.
func (w *world) mine(ctx context.Context) {
	w.busy.Go(func() {
		r := rand.New(rand.NewPCG(w.plan.seed, 1))
		for ctx.Err() == nil {
			sleep(ctx, max(time.Duration(r.ExpFloat64()*float64(10*time.Minute)), time.Second).Round(time.Millisecond))
			if err := w.net.Mine(1); err != nil {
				w.broken("Bitcoin: %v", err)
			}
		}
	})
	w.pace(land.pace)
	w.busy.Go(func() { <-ctx.Done(); w.pace(nil) })
}

// pace says when the chains have blocks; nil: when there is something for them.
func (w *world) pace(how func(land) (stop func())) {
	for _, stop := range w.unpace {
		stop()
	}
	w.unpace = nil
	if how != nil {
		for _, g := range w.lands {
			w.unpace = append(w.unpace, how(g))
		}
	}
}

// fate carries the plan's events out.
func (w *world) fate(ctx context.Context) {
	for _, e := range w.plan.events {
		w.busy.Go(func() {
			sleep(ctx, e.at-w.at())
			end := w.do(e)
			w.mu.Lock()
			w.faults = append(w.faults, fmt.Sprintf("%v: %v", w.at(), e))
			w.mu.Unlock()
			w.note("%v", e)
			if end != nil {
				sleep(ctx, e.lasts)
				end()
			}
		})
	}
}

// do carries an event out. What it returns ends it.
func (w *world) do(e event) (end func()) {
	pick := func(n int) int { return e.n % n }
	strength := int64(e.n%30 + 2)
	switch e.what {
	case "bitcoin reorganised":
		if err := w.net.Bitcoin.Reorg(1 + pick(2)); err != nil {
			w.broken("Bitcoin's reorganisation: %v", err)
		}
	case "chain reorganised":
		if err := w.lands[e.who].undo(1 + pick(2)); err != nil {
			w.broken("the chain's reorganisation: %v", err)
		}
	case "unsettled":
		depth, lost := 1+pick(12), e.n>>10%2 == 0
		if e.who < 0 {
			tip, _ := w.net.Bitcoin.Tip()
			if depth = min(depth+2, int(tip-w.tip)); depth > 0 { // not below where the relays begin
				if err := w.net.Bitcoin.Reorg(depth); err != nil {
					w.broken("Bitcoin's reorganisation: %v", err)
				}
			}
		} else if err := w.lands[e.who].unsettle(depth, lost); err != nil {
			w.broken("the chain's reorganisation: %v", err)
		}
	case "chain drops what waits":
		w.lands[e.who].dropWaiting()
	case "bitcoin node":
		node(w.bitcoins, e.n).Misbehave([]devbitcoin.Fault{{Down: true}, {Status: 502}, {Status: 429, RetryAfter: "7"}, {Delay: 4 * time.Second}, {Delay: 40 * time.Second}, {Garbage: true},
			{Behind: 1}, {Behind: 2}, {LyingHeaders: true}, {LyingTxs: true}, {LyingProofs: true}, {LoseAnswer: true}, {Plain: true}}[pick(13)])
		return func() { node(w.bitcoins, e.n).Misbehave(devbitcoin.Fault{}) }
	case "teller":
		if e.who >= 0 {
			w.lands[e.who].hints(e.n)
			return func() { w.lands[e.who].hints(0) }
		}
		for _, s := range w.tellers {
			s.Misbehave([]devbitcoin.Fault{{Down: true}, {NoSockets: true}, {Silent: true}, {Mute: true}, {Flood: true}, {Behind: 2}, {WrongNetwork: true}}[pick(7)])
		}
		return func() {
			for _, s := range w.tellers {
				s.Misbehave(devbitcoin.Fault{})
			}
		}
	case "chain node":
		w.lands[e.who].fault(e.n)
		return w.lands[e.who].heal
	case "nostr relay":
		w.net.Nostr.Misbehave(relayFaults[pick(len(relayFaults))])
		return func() { w.net.Nostr.Misbehave(relayFaults[0]) }
	case "watchtower":
		w.net.Tower.Behave(towerFaults[pick(len(towerFaults))])
		return func() { w.net.Tower.Behave(towerFaults[0]) }
	case "wire":
		w.places[e.who].wire.Store(strength)
		return func() { w.places[e.who].wire.Store(0) }
	case "disk":
		w.places[e.who].disk.Store(strength)
		return func() { w.places[e.who].disk.Store(0) }
	case "killed":
		at := w.places[e.who]
		at.down.Store(true)
		if p := at.now.Load(); p != nil {
			p.die("killed")
		}
		return func() { at.down.Store(false) }
	case "clock":
		at := w.places[e.who]
		off := int64([]time.Duration{-12 * time.Hour, -3 * time.Hour, -time.Hour, -5 * time.Minute, -20 * time.Second, 20 * time.Second, 5 * time.Minute, time.Hour, 3 * time.Hour, 12 * time.Hour}[pick(10)])
		at.leap.Add(off)
		return func() { at.leap.Add(-off) }
	case "killed at":
		w.places[e.who].deadly.Store(int64(1 + pick(60)))
	case "stopped":
		at := w.places[e.who]
		at.down.Store(true)
		w.stop(at)
		return func() { at.down.Store(false) }
	case "LP":
		l := w.net.LPs[e.who]
		l.Misbehave(lpFaults[pick(len(lpFaults))])
		return func() { l.Misbehave(lp.Fault{}) }
	case "lightning":
		nodes := []int{0, 1, 2}
		node := w.net.LPs[nodes[pick(3)]].Node()
		node.SetBehaviour(lightningFaults[pick(len(lightningFaults))])
		return func() { node.SetBehaviour(lightningFaults[0]) }
	}
	return nil
}

// close ends everything.
func (w *world) close() error {
	for _, at := range w.places {
		at.down.Store(true)
		w.stop(at)
	}
	w.burying.Wait()
	for _, u := range w.users {
		u.close()
	}
	err := w.net.Close()
	time.Sleep(time.Minute) // until the databases have let go
	return err
}
