package engine

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"testing"
	"testing/synctest"
	"time"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/internal/flowtest"
	"github.com/swapper-go/swapper/internal/swap"
)

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
		{"secret, in time", false, time.Hour, true, swap.LnCommitted, true},
		{"secret, not final", false, time.Hour, false, swap.LnCommitted, false},
		{"secret, too late", false, 9 * time.Minute, true, swap.LnHTLCExpired, false},
		{"public, not final", true, time.Hour, false, swap.LnCommitted, true},
		{"public, late", true, 9 * time.Minute, true, swap.LnCommitted, true},
		{"public, after the expiry", true, -time.Hour, true, swap.LnCommitted, true},
	} {
		for _, from := range []int{swap.LnPaid, swap.LnCommitted, swap.LnHTLCExpired} {
			f := flowtest.Flow(swap.FromBTCLNAuto)
			r := &swap.Record{Head: swap.Head{Type: swap.FromBTCLNAuto, State: from, CreatedAt: swap.At(now.Add(-time.Hour)), Expiry: swap.At(now.Add(-time.Minute))},
				Escrow:    &swap.EscrowPart{Real: &chains.Escrow{Expiry: now.Add(c.left).Unix()}, OpenedAt: swap.At(now.Add(-30 * time.Minute))},
				Lightning: &swap.LightningPart{Preimage: chains.Preimage{1}, EndsAt: swap.At(now.Add(8 * time.Hour))}}
			if c.revealed {
				r.Lightning.Revealed = swap.At(now.Add(-time.Minute))
			}
			all := &swap.Observation{}
			all.Escrow.Value = chains.EscrowFact{State: chains.EscrowOpen, Final: c.final, Head: chains.Block{Height: 9, Time: now.Unix()}}
			r = flowtest.Settle(t, f, r, all, nil, now)
			obs := &swap.Observation{Escrow: all.Escrow}
			obs.Escrow.Asked = true
			in := swap.Decision{R: r, Obs: obs, Now: now}
			if r.State != c.state || len(f.Effects(in)) > 0 != c.publish {
				t.Errorf("%s, from %d: state %d, effects %v; want %d, published %v", c.name, from, r.State, f.Effects(in), c.state, c.publish)
			}
			if sign, ok := f.View(in).Action.(*swap.Sign); ok != c.publish || ok && sign.Plan.Steps[0].Public != c.revealed {
				t.Errorf("%s, from %d: action %+v", c.name, from, f.View(in).Action)
			}
		}
	}
}

// What makes a preimage public is an attempt to publish it that may have succeeded,
// or the claim that carries it: not that somebody says that there was a claim.
func TestWhatMakesAPreimagePublic(t *testing.T) {
	now := time.Unix(1_700_000_000, 0)
	secret := chains.Preimage{1}
	sum := sha256.Sum256(secret[:])
	for _, c := range []struct {
		name   string
		result []byte
		want   bool
	}{{"the preimage", secret[:], true}, {"nothing", nil, false}, {"another one", make([]byte, 32), false}} {
		r := openAuto("a", now.Add(time.Hour))
		r.Lightning.Hash, r.Lightning.Preimage = hex.EncodeToString(sum[:]), secret
		all := &swap.Observation{}
		all.Escrow.Value = chains.EscrowFact{State: chains.EscrowClaimed, Result: c.result}
		if got := flowtest.Settle(t, flowtest.Flow(swap.FromBTCLNAuto), r, all, nil, now); got.Public() != c.want {
			t.Errorf("a claim that shows %s: public %v", c.name, got.Public())
		}
	}
	for _, c := range []struct {
		name   string
		answer swap.Outcome
		want   bool
	}{{"taken", swap.Outcome{Done: true}, true}, {"no answer", swap.Outcome{}, true}, {"nobody to tell", swap.Outcome{Refused: true}, false}} {
		synctest.Test(t, func(t *testing.T) {
			w := &toyReader{}
			w.set(openFact(), nil)
			g := autoEngine(t, w, executorFunc(func(context.Context, *swap.Record, swap.Effect) swap.Outcome { return c.answer }))
			add(t, g, openAuto("a", time.Now().Add(time.Hour)))
			for range 3 {
				advance(t, g, "a", swap.Look{})
				time.Sleep(10 * time.Second)
			}
			if r, err := g.Load(t.Context(), "a"); err != nil || r.Public() != c.want {
				t.Errorf("%s: public %v, %v", c.name, r.Public(), err)
			}
		})
	}
}

// claiming gives a record what the user signed, if the test is about sending that.
func claiming(r *swap.Record, kind swap.EffectKind) {
	if kind != swap.SendTx {
		return
	}
	r.Submission = &swap.Submission{Action: "claim", Since: swap.At(time.Now()), Txs: []swap.SignedTx{{Signed: chains.Signed{ID: "tx " + r.ID, Reveals: true}}}}
	r.Tried = map[string]swap.Try{string(swap.Publish): {NotBefore: swap.At(time.Now().Add(24 * time.Hour))}}
}
