package engine

import (
	"context"
	"testing"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/internal/btc/psbt"
	"github.com/swapper-go/swapper/internal/swap"
)

// toyBuilder builds for whoever a plan names, and remembers that it was asked.
type toyBuilder struct {
	Checker
	asked chan swap.Action
}

func (b toyBuilder) BuildAction(_ context.Context, _ *swap.Record, a swap.Action, _ swap.Caller) (swap.BuiltAction, error) {
	b.asked <- a
	if s, ok := a.(*swap.Sign); ok {
		return swap.BuiltAction{Action: s, Signer: s.Plan.Signer}, nil
	}
	return swap.BuiltAction{}, nil
}

// What was prebuilt is shown if the record and the action are the same still, and
// a claim with a preimage is not built before the pass has decided.
func TestPrebuiltActions(t *testing.T) {
	sign := func(who string) *swap.Sign { return &swap.Sign{Plan: chains.Plan{Signer: who}} }
	for name, c := range map[string]struct {
		after   *swap.Sign
		version uint64
		built   bool // one build is enough
	}{
		"same":           {sign("owner"), 0, true},
		"record changed": {sign("owner"), 1, false},
		"action changed": {sign("other"), 0, false},
	} {
		b := toyBuilder{asked: make(chan swap.Action, 2)}
		r := newToy("x")
		p := prebuild(t.Context(), b, r, sign("owner"), swap.Caller{})
		<-b.asked
		now := *r
		now.Version += c.version
		todo, err := p.BuildAction(t.Context(), &now, c.after)
		if err != nil || todo.Signer != c.after.Plan.Signer || (len(b.asked) == 0) != c.built {
			t.Errorf("%s: %+v, %v; asked %d times more", name, todo, err, len(b.asked))
		}
		p.drop()
	}
	b := toyBuilder{asked: make(chan swap.Action, 1)} // what is not prebuilt is built when it is wanted
	if p := prebuild(t.Context(), b, newToy("x"), &swap.Wait{}, swap.Caller{}); p.done != nil {
		t.Error("waiting is prebuilt")
	} else if _, err := p.BuildAction(t.Context(), p.record, p.action); err != nil || len(b.asked) != 1 {
		t.Errorf("%v, asked %d times", err, len(b.asked))
	}
	w := swap.Caller{Wallet: &psbt.Wallet{}}
	reveal := &swap.Sign{Plan: chains.Plan{Steps: []chains.Step{{Kind: chains.StepClaimSecret}}}}
	for name, c := range map[string]struct {
		a      swap.Action
		caller swap.Caller
		want   bool
	}{
		"transactions":          {sign("owner"), swap.Caller{}, true},
		"a preimage":            {reveal, swap.Caller{}, false},
		"a PSBT, wallet":        {&swap.Fund{}, w, true},
		"a PSBT, no wallet":     {&swap.Fund{}, swap.Caller{}, false},
		"a payment, wallet":     {&swap.Pay{Fund: &swap.Fund{}}, w, true},
		"a payment, no wallet":  {&swap.Pay{Fund: &swap.Fund{}}, swap.Caller{}, false},
		"a payment, not funded": {&swap.Pay{}, w, false},
		"patience":              {&swap.Wait{}, w, false},
	} {
		b := toyBuilder{asked: make(chan swap.Action, 1)}
		p := prebuild(t.Context(), b, newToy("x"), c.a, c.caller)
		if p.done != nil {
			<-p.done
		}
		if (len(b.asked) == 1) != c.want {
			t.Errorf("%s: prebuilt %v, want %v", name, len(b.asked) == 1, c.want)
		}
		p.drop()
	}
}
