package engine

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/internal/flowtest"
	"github.com/swapper-go/swapper/internal/swap"
	"github.com/swapper-go/swapper/storage"
)

// stalling is an executor whose effects of some kinds take as long as they may.
type stalling struct {
	mu      sync.Mutex
	stalled map[swap.EffectKind]bool
	done    map[string]time.Time // by swap and kind
}

func (p *stalling) Execute(ctx context.Context, r *swap.Record, e swap.Effect) swap.Outcome {
	p.mu.Lock()
	stall := p.stalled[e.Kind]
	p.mu.Unlock()
	if stall {
		<-ctx.Done()
		return swap.Outcome{Reason: "no answer"}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.done[r.ID+" "+e.Key()] = time.Now()
	return swap.Outcome{Done: true}
}

func (p *stalling) at(id string, e swap.Effect) (time.Time, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	at, ok := p.done[id+" "+e.Key()]
	return at, ok
}

// openAuto is a Lightning swap whose escrow was announced and whose preimage is known.
func openAuto(id string, expiry time.Time) *swap.Record {
	now := time.Now()
	return &swap.Record{Head: swap.Head{ID: id, Type: swap.FromBTCLNAuto, Chain: "CITREA", State: swap.LnCommitted, CreatedAt: swap.At(now), Expiry: swap.At(now.Add(time.Hour)), Seen: swap.Seen{Chain: 1}},
		Escrow:    &swap.EscrowPart{Real: &chains.Escrow{Expiry: expiry.Unix(), Hash: []byte(id)}, OpenedAt: swap.At(now)},
		Lightning: &swap.LightningPart{Hash: fmt.Sprintf("%064s", id), Preimage: chains.Preimage{1}, EndsAt: swap.At(now.Add(8 * time.Hour))}}
}

func openFact() chains.EscrowFact {
	return chains.EscrowFact{State: chains.EscrowOpen, Final: true, Head: chains.Block{Height: 100, Time: time.Now().Unix()}}
}

// autoEngine runs the real table of a Lightning source on a toy reader.
func autoEngine(t *testing.T, w Reader, p Executor) *Engine {
	return toyEngine(t, new(storage.Memory), w, p, flowtest.Flow(swap.FromBTCLNAuto))
}

// What asks an LP, or sends what the user signed, keeps no preimage waiting.
func TestPreimagesWaitForNothingElse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &toyReader{}
		w.set(openFact(), nil)
		kinds := []swap.EffectKind{swap.PostPSBT, swap.CallWithdraw, swap.SetRefund, swap.Broadcast}
		p := &stalling{stalled: map[swap.EffectKind]bool{}, done: map[string]time.Time{}}
		for _, kind := range kinds {
			p.stalled[kind] = true
		}
		g := autoEngine(t, w, p)
		busy := lamp()
		busy.Effects = func(in swap.Decision) (all []swap.Effect) {
			for _, kind := range kinds {
				all = append(all, swap.Effect{Kind: kind})
			}
			return all
		}
		g.Flows[swap.ToBTC] = busy
		for i := range 2 * placesOfAKind {
			create(t, g, fmt.Sprint("busy ", i))
			advance(t, g, fmt.Sprint("busy ", i), nil)
		}
		add(t, g, openAuto("a", time.Now().Add(time.Hour)))
		advance(t, g, "a", nil)
		time.Sleep(time.Second)
		if _, ok := p.at("a", swap.Effect{Kind: swap.Publish}); !ok {
			t.Error("the preimage waits behind other effects")
		}
	})
}

// A pass that runs while an effect ends does not start it a second time.
func TestEffectIsNotRepeatedBeforeItsOutcomeIsKnown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &toyReader{}
		p := &toyExecutor{answer: func(int64) swap.Outcome { time.Sleep(100 * time.Millisecond); return swap.Outcome{Done: true} }}
		g := toyEngine(t, new(storage.Memory), w, p, lamp())
		create(t, g, "a")
		advance(t, g, "a", swap.Reveal{Preimage: chains.Preimage{1}})
		time.Sleep(50 * time.Millisecond)
		w.delay = time.Second
		advance(t, g, "a", swap.Look{})
		time.Sleep(10 * time.Second)
		if n := p.started.Load(); n != 1 {
			t.Errorf("done %d times, want once", n)
		}
	})
}

// After the wait for a place the rules are asked again, of what is the case then.
func TestPreimageIsHeldBackWhenItsTimeIsOver(t *testing.T) {
	for _, c := range []struct {
		name string
		kind swap.EffectKind
		left time.Duration // of the escrow, beyond the grace
		then func(w *toyReader)
		want bool
	}{
		{"published in time", swap.Publish, time.Hour, nil, true},
		{"published too late", swap.Publish, 30 * time.Second, nil, false},
		{"published after a reorganisation", swap.Publish, time.Hour, func(w *toyReader) {
			w.set(chains.EscrowFact{State: chains.EscrowNone, Head: chains.Block{Height: 200, Time: time.Now().Unix()}}, nil)
		}, false},
		{"published while not final", swap.Publish, time.Hour, func(w *toyReader) {
			f := openFact()
			f.Final, f.Head.Height = false, 200
			w.set(f, nil)
		}, false},
		{"published while the chain is silent", swap.Publish, time.Hour, func(w *toyReader) { w.set(chains.EscrowFact{}, errLagging) }, false},
		{"claim in time", swap.SendTx, time.Hour, nil, true},
		{"claim too late", swap.SendTx, 30 * time.Second, nil, false},
	} {
		inBubble(t, c.name, func(t *testing.T) {
			w := &txWorld{}
			w.set(openFact(), nil)
			p := &stalling{stalled: map[swap.EffectKind]bool{swap.Publish: true, swap.SendTx: true}, done: map[string]time.Time{}}
			g := autoEngine(t, w, p)
			for i := range placesOfAKind {
				id := fmt.Sprint("other ", i)
				r := openAuto(id, time.Now().Add(24*time.Hour))
				claiming(r, c.kind)
				add(t, g, r)
				advance(t, g, id, nil)
			}
			synctest.Wait()
			r := openAuto("a", time.Now().Add(chains.ClaimGrace+c.left))
			claiming(r, c.kind)
			add(t, g, r)
			advance(t, g, "a", nil)
			synctest.Wait()
			p.mu.Lock()
			p.stalled = nil
			p.mu.Unlock()
			if c.then != nil {
				c.then(&w.toyReader)
			}
			time.Sleep(effectTimeout + 5*time.Second)
			if _, ok := p.at("a", swap.Effect{Kind: c.kind}); ok != c.want {
				t.Errorf("left: %v, want %v", ok, c.want)
			}
		})
	}
}

// txWorld knows no transaction.
type txWorld struct{ toyReader }

func (w *txWorld) Txs(_ context.Context, _ string, txs []chains.Signed) ([]chains.TxStatus, error) {
	return make([]chains.TxStatus, len(txs)), nil
}

// An attempt to publish that begins in time ends before it would be too late.
func TestPublishingEndsInTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &toyReader{}
		w.set(openFact(), nil)
		var ended atomic.Pointer[time.Time] // effects run beside the test
		g := autoEngine(t, w, executorFunc(func(ctx context.Context, r *swap.Record, e swap.Effect) swap.Outcome {
			<-ctx.Done()
			now := time.Now()
			ended.Store(&now)
			return swap.Outcome{}
		}))
		over := time.Now().Add(20 * time.Second)
		add(t, g, openAuto("a", over.Add(chains.ClaimGrace)))
		advance(t, g, "a", nil)
		time.Sleep(2 * time.Minute)
		if at := ended.Load(); at == nil || at.After(over.Add(time.Second)) {
			t.Errorf("the attempt ended at %v, want before %v", at, over)
		}
	})
}
