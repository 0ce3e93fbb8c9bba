package swap

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/storage/storagetest"
)

// stalling is a performer whose effects of some kinds take as long as they may.
type stalling struct {
	mu      sync.Mutex
	stalled map[EffectKind]bool
	done    map[string]time.Time // by swap and kind
}

func (p *stalling) Perform(ctx context.Context, r *Record, e Effect) Outcome {
	p.mu.Lock()
	stall := p.stalled[e.Kind]
	p.mu.Unlock()
	if stall {
		<-ctx.Done()
		return Outcome{Reason: "no answer"}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.done[r.ID+" "+e.key()] = time.Now()
	return Outcome{Done: true}
}

func (p *stalling) at(id string, e Effect) (time.Time, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	at, ok := p.done[id+" "+e.key()]
	return at, ok
}

// openAuto is a Lightning swap whose escrow was announced and whose preimage is known.
func openAuto(id string, expiry time.Time) *Record {
	now := time.Now()
	return &Record{Head: Head{ID: id, Type: FromBTCLNAuto, Chain: "CITREA", State: lnCommitted, CreatedAt: At(now), Expiry: At(now.Add(time.Hour)), Seen: Seen{Chain: 1}},
		Escrow:    &EscrowPart{Real: &chains.Escrow{Expiry: expiry.Unix(), Hash: []byte(id)}, OpenedAt: At(now)},
		Lightning: &LightningPart{Hash: fmt.Sprintf("%064s", id), Preimage: Secret{1}, EndsAt: At(now.Add(8 * time.Hour))}}
}

func openFact() chains.EscrowFact {
	return chains.EscrowFact{State: chains.EscrowOpen, Final: true, Head: chains.Block{Height: 100, Time: time.Now().Unix()}}
}

// autoEngine runs the real table of a Lightning source on a toy world.
func autoEngine(t *testing.T, w World, p Performer) *Engine {
	return toyEngine(t, new(storagetest.Memory), w, p, NewFromBTCLNAuto())
}

// What asks an LP, or sends what the user signed, keeps no preimage waiting.
func TestPreimagesWaitForNothingElse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &toyWorld{}
		w.set(openFact(), nil)
		kinds := []EffectKind{PostPSBT, CallWithdraw, SetRefund, Broadcast}
		p := &stalling{stalled: map[EffectKind]bool{}, done: map[string]time.Time{}}
		for _, kind := range kinds {
			p.stalled[kind] = true
		}
		g := autoEngine(t, w, p)
		busy := lamp()
		busy.Effects = func(in In) (all []Effect) {
			for _, kind := range kinds {
				all = append(all, Effect{Kind: kind})
			}
			return all
		}
		g.flows[ToBTC] = busy
		for i := range 2 * placesOfAKind {
			create(t, g, fmt.Sprint("busy ", i))
			if _, err := g.Advance(t.Context(), fmt.Sprint("busy ", i), nil); err != nil {
				t.Fatal(err)
			}
		}
		if err := g.Create(t.Context(), openAuto("a", time.Now().Add(time.Hour))); err != nil {
			t.Fatal(err)
		}
		if _, err := g.Advance(t.Context(), "a", nil); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Second)
		if _, ok := p.at("a", Effect{Kind: Publish}); !ok {
			t.Error("the preimage waits behind other effects")
		}
		g.Close()
	})
}

// A pass that runs while an effect ends does not start it a second time.
func TestEffectIsNotRepeatedBeforeItsOutcomeIsKnown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &toyWorld{}
		p := &toyPerformer{answer: func(int64) Outcome { time.Sleep(100 * time.Millisecond); return Outcome{Done: true} }}
		g := toyEngine(t, new(storagetest.Memory), w, p, lamp())
		create(t, g, "a")
		if _, err := g.Advance(t.Context(), "a", Reveal{Secret{1}}); err != nil {
			t.Fatal(err)
		}
		time.Sleep(50 * time.Millisecond)
		w.delay = time.Second
		if _, err := g.Advance(t.Context(), "a", Look{}); err != nil {
			t.Fatal(err)
		}
		time.Sleep(10 * time.Second)
		if n := p.started.Load(); n != 1 {
			t.Errorf("done %d times, want once", n)
		}
		g.Close()
	})
}

// After the wait for a place the rules are asked again, of what is the case then.
func TestPreimageIsHeldBackWhenItsTimeIsOver(t *testing.T) {
	for _, c := range []struct {
		name string
		kind EffectKind
		left time.Duration // of the escrow, beyond the grace
		then func(w *toyWorld)
		want bool
	}{
		{"published in time", Publish, time.Hour, nil, true},
		{"published too late", Publish, 30 * time.Second, nil, false},
		{"published after a reorganisation", Publish, time.Hour, func(w *toyWorld) {
			w.set(chains.EscrowFact{State: chains.EscrowNone, Head: chains.Block{Height: 200, Time: time.Now().Unix()}}, nil)
		}, false},
		{"published while not final", Publish, time.Hour, func(w *toyWorld) {
			f := openFact()
			f.Final, f.Head.Height = false, 200
			w.set(f, nil)
		}, false},
		{"published while the chain is silent", Publish, time.Hour, func(w *toyWorld) { w.set(chains.EscrowFact{}, errLagging) }, false},
		{"claim in time", SendTx, time.Hour, nil, true},
		{"claim too late", SendTx, 30 * time.Second, nil, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := &txWorld{}
				w.set(openFact(), nil)
				p := &stalling{stalled: map[EffectKind]bool{Publish: true, SendTx: true}, done: map[string]time.Time{}}
				g := autoEngine(t, w, p)
				for i := range placesOfAKind {
					id := fmt.Sprint("other ", i)
					r := openAuto(id, time.Now().Add(24*time.Hour))
					claiming(r, c.kind)
					if err := g.Create(t.Context(), r); err != nil {
						t.Fatal(err)
					}
					if _, err := g.Advance(t.Context(), id, nil); err != nil {
						t.Fatal(err)
					}
				}
				synctest.Wait()
				r := openAuto("a", time.Now().Add(chains.ClaimGrace+c.left))
				claiming(r, c.kind)
				if err := g.Create(t.Context(), r); err != nil {
					t.Fatal(err)
				}
				if _, err := g.Advance(t.Context(), "a", nil); err != nil {
					t.Fatal(err)
				}
				synctest.Wait()
				p.mu.Lock()
				p.stalled = nil
				p.mu.Unlock()
				if c.then != nil {
					c.then(&w.toyWorld)
				}
				time.Sleep(effectTimeout + 5*time.Second)
				if _, ok := p.at("a", Effect{Kind: c.kind}); ok != c.want {
					t.Errorf("left: %v, want %v", ok, c.want)
				}
				g.Close()
			})
		})
	}
}

// claiming gives a record what the user signed, if the test is about sending that.
func claiming(r *Record, kind EffectKind) {
	if kind != SendTx {
		return
	}
	r.Submission = &Submission{Action: ActionClaim, Since: At(time.Now()), Txs: []SignedTx{{Signed: chains.Signed{ID: "tx " + r.ID, Reveals: true}}}}
	r.Tried = map[string]Try{string(Publish): {NotBefore: At(time.Now().Add(24 * time.Hour))}}
}

// txWorld knows no transaction.
type txWorld struct{ toyWorld }

func (w *txWorld) Txs(_ context.Context, _ string, txs []chains.Signed) ([]chains.TxStatus, error) {
	return make([]chains.TxStatus, len(txs)), nil
}

// An attempt to publish that begins in time ends before it would be too late.
func TestPublishingEndsInTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &toyWorld{}
		w.set(openFact(), nil)
		var ended time.Time
		g := autoEngine(t, w, performerFunc(func(ctx context.Context, r *Record, e Effect) Outcome {
			<-ctx.Done()
			ended = time.Now()
			return Outcome{}
		}))
		over := time.Now().Add(20 * time.Second)
		if err := g.Create(t.Context(), openAuto("a", over.Add(chains.ClaimGrace))); err != nil {
			t.Fatal(err)
		}
		if _, err := g.Advance(t.Context(), "a", nil); err != nil {
			t.Fatal(err)
		}
		time.Sleep(2 * time.Minute)
		if ended.IsZero() || ended.After(over.Add(time.Second)) {
			t.Errorf("the attempt ended at %v, want before %v", ended, over)
		}
		g.Close()
	})
}

// Once others may know the preimage, neither the time nor a chain that is not final
// yet stops the claim: the open escrow alone counts.
func TestPublicPreimageIsClaimedWhateverTheTime(t *testing.T) {
	now := time.Unix(1_700_000_000, 0)
	for _, c := range []struct {
		name     string
		revealed bool
		left     time.Duration
		final    bool
		state    int
		publish  bool
	}{
		{"secret, in time", false, time.Hour, true, lnCommitted, true},
		{"secret, not final", false, time.Hour, false, lnCommitted, false},
		{"secret, too late", false, 9 * time.Minute, true, lnHTLCExpired, false},
		{"public, not final", true, time.Hour, false, lnCommitted, true},
		{"public, late", true, 9 * time.Minute, true, lnCommitted, true},
		{"public, after the expiry", true, -time.Hour, true, lnCommitted, true},
	} {
		for _, from := range []int{lnPaid, lnCommitted, lnHTLCExpired} {
			f := NewFromBTCLNAuto()
			r := &Record{Head: Head{Type: FromBTCLNAuto, State: from, CreatedAt: At(now.Add(-time.Hour)), Expiry: At(now.Add(-time.Minute))},
				Escrow:    &EscrowPart{Real: &chains.Escrow{Expiry: now.Add(c.left).Unix()}, OpenedAt: At(now.Add(-30 * time.Minute))},
				Lightning: &LightningPart{Preimage: Secret{1}, EndsAt: At(now.Add(8 * time.Hour))}}
			if c.revealed {
				r.Lightning.Revealed = At(now.Add(-time.Minute))
			}
			all := &Observation{}
			all.Escrow.Value = chains.EscrowFact{State: chains.EscrowOpen, Final: c.final, Head: chains.Block{Height: 9, Time: now.Unix()}}
			r = settle(t, f, r, all, nil, now)
			obs := &Observation{Escrow: all.Escrow}
			obs.Escrow.Asked = true
			in := In{R: r, Obs: obs, Now: now}
			if r.State != c.state || len(f.Effects(in)) > 0 != c.publish {
				t.Errorf("%s, from %d: state %d, effects %v; want %d, published %v", c.name, from, r.State, f.Effects(in), c.state, c.publish)
			}
			if sign, ok := f.View(in).Action.(*Sign); ok != c.publish || ok && sign.Plan.Steps[0].Public != c.revealed {
				t.Errorf("%s, from %d: action %+v", c.name, from, f.View(in).Action)
			}
		}
	}
}

// What makes a preimage public is an attempt to publish it that may have succeeded,
// or the claim that carries it: not that somebody says that there was a claim.
func TestWhatMakesAPreimagePublic(t *testing.T) {
	now := time.Unix(1_700_000_000, 0)
	secret := Secret{1}
	sum := sha256.Sum256(secret[:])
	for _, c := range []struct {
		name   string
		result []byte
		want   bool
	}{{"the preimage", secret[:], true}, {"nothing", nil, false}, {"another one", make([]byte, 32), false}} {
		r := openAuto("a", now.Add(time.Hour))
		r.Lightning.Hash, r.Lightning.Preimage = hex.EncodeToString(sum[:]), secret
		all := &Observation{}
		all.Escrow.Value = chains.EscrowFact{State: chains.EscrowClaimed, Result: c.result}
		if got := settle(t, NewFromBTCLNAuto(), r, all, nil, now); got.public() != c.want {
			t.Errorf("a claim that shows %s: public %v", c.name, got.public())
		}
	}
	for _, c := range []struct {
		name   string
		answer Outcome
		want   bool
	}{{"taken", Outcome{Done: true}, true}, {"no answer", Outcome{}, true}, {"nobody to tell", Outcome{Refused: true}, false}} {
		synctest.Test(t, func(t *testing.T) {
			w := &toyWorld{}
			w.set(openFact(), nil)
			g := autoEngine(t, w, performerFunc(func(context.Context, *Record, Effect) Outcome { return c.answer }))
			if err := g.Create(t.Context(), openAuto("a", time.Now().Add(time.Hour))); err != nil {
				t.Fatal(err)
			}
			for range 3 {
				if _, err := g.Advance(t.Context(), "a", Look{}); err != nil {
					t.Fatal(err)
				}
				time.Sleep(10 * time.Second)
			}
			if r, err := g.Load(t.Context(), "a"); err != nil || r.public() != c.want {
				t.Errorf("%s: public %v, %v", c.name, r.public(), err)
			}
			g.Close()
		})
	}
}

type performerFunc func(ctx context.Context, r *Record, e Effect) Outcome

func (f performerFunc) Perform(ctx context.Context, r *Record, e Effect) Outcome { return f(ctx, r, e) }
