package engine

import (
	"errors"
	"testing"
	"time"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/internal/lp"
	"github.com/swapper-go/swapper/internal/swap"
)

// TestDeletingNeedsAnAnswer deletes an expired quote only if the chains, or who else
// knows, have just said that nobody used it.
func TestDeletingNeedsAnAnswer(t *testing.T) {
	now := time.Unix(1_800_000_000, 0)
	g := &Engine{Flows: map[swap.Type]*swap.Flow{}}
	for _, f := range swap.Flows() {
		g.Flows[f.Type] = f
	}
	var none []*bitcoin.Tx
	coin := func() *Result {
		r := &swap.Record{Head: swap.Head{Type: swap.TrustedFromBTC, State: swap.TrustedBTCExpired}, Gas: &swap.GasPart{}, Bitcoin: &swap.BitcoinPart{}}
		return &Result{Record: r, At: now, Observation: &swap.Observation{Received: swap.Fact[[]*bitcoin.Tx]{Asked: true, Value: none}}}
	}
	escrow := func() *Result {
		r := &swap.Record{Head: swap.Head{Type: swap.ToBTC, State: swap.OutExpired}, Escrow: &swap.EscrowPart{}}
		return &Result{Record: r, At: now, Observation: &swap.Observation{Escrow: swap.Fact[chains.EscrowFact]{Asked: true}}}
	}
	gas := func() *Result {
		r := &swap.Record{Head: swap.Head{Type: swap.TrustedFromBTCLN, State: swap.TrustedLNExpired}, Lightning: &swap.LightningPart{EndsAt: 1}}
		return &Result{Record: r, At: now, Observation: &swap.Observation{LP: swap.Fact[lp.Status]{Asked: true, Value: lp.Status{Code: lp.CodeExpired}}}}
	}
	broken := errors.New("no answer")
	for name, c := range map[string]struct {
		res    func() *Result
		change func(*Result)
		gone   bool
	}{
		"coin":                       {coin, func(*Result) {}, true},
		"coin, paid":                 {coin, func(r *Result) { r.Observation.Received.Value = []*bitcoin.Tx{{}} }, false},
		"coin, no answer":            {coin, func(r *Result) { r.Observation.Received.Err = broken }, false},
		"coin, open":                 {coin, func(r *Result) { r.Record.State = swap.TrustedBTCCreated }, false},
		"coin, submitted":            {coin, func(r *Result) { r.Record.Submission = &swap.Submission{} }, false},
		"escrow":                     {escrow, func(*Result) {}, true},
		"escrow, open":               {escrow, func(r *Result) { r.Observation.Escrow.Value.State = chains.EscrowOpen }, false},
		"escrow, no answer":          {escrow, func(r *Result) { r.Observation.Escrow.Err = broken }, false},
		"gas":                        {gas, func(*Result) {}, true},
		"gas, a payment may hang":    {gas, func(r *Result) { r.Record.Lightning.EndsAt = swap.At(now.Add(time.Hour)) }, false},
		"gas, no answer":             {gas, func(r *Result) { r.Observation.LP.Err = broken }, false},
		"gas, silent for two weeks":  {gas, func(r *Result) { r.Observation.LP.Err, r.Record.Settled = broken, true }, true},
		"gas, paid":                  {gas, func(r *Result) { r.Observation.LP.Value.Code = lp.CodeGasReceived }, false},
		"a type that is not offered": {coin, func(r *Result) { r.Record.Type = 99 }, false},
	} {
		res := c.res()
		c.change(res)
		if gone := g.harmless(res); gone != c.gone {
			t.Errorf("%s: deleted %v", name, gone)
		}
	}
}
