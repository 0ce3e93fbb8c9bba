package flowtest

import (
	"testing"
	"time"

	"github.com/swapper-go/swapper/internal/swap"
)

// Flow is the flow of a type; nil if the type has none.
func Flow(t swap.Type) *swap.Flow {
	for _, f := range swap.Flows() {
		if f.Type == t {
			return f
		}
	}
	return nil
}

// answerFrom gives the answers of all to what is asked, and reports whether anything was.
func answerFrom(all *swap.Observation, ask swap.Ask, obs *swap.Observation) (asked bool) {
	take(ask.Escrow != nil, &asked, all.Escrow, &obs.Escrow)
	take(ask.Found != nil, &asked, all.Found, &obs.Found)
	take(ask.LP != nil, &asked, all.LP, &obs.LP)
	take(ask.Delivered != nil, &asked, all.Delivered, &obs.Delivered)
	take(ask.Refund != nil, &asked, all.Refund, &obs.Refund)
	take(ask.ETA != nil, &asked, all.ETA, &obs.ETA)
	take(ask.Payment != nil, &asked, all.Payment, &obs.Payment)
	take(ask.Payout != nil, &asked, all.Payout, &obs.Payout)
	take(ask.Spends != nil, &asked, all.Spends, &obs.Spends)
	take(ask.Vault != nil, &asked, all.Vault, &obs.Vault)
	take(ask.Withdrawal != nil, &asked, all.Withdrawal, &obs.Withdrawal)
	take(ask.Received != nil, &asked, all.Received, &obs.Received)
	take(ask.Init != nil, &asked, all.Init, &obs.Init)
	take(ask.Txs != nil, &asked, all.Txs, &obs.Txs)
	return asked
}

func take[T any](wanted bool, asked *bool, from swap.Fact[T], to *swap.Fact[T]) {
	if !wanted {
		return
	}
	*asked = true
	*to = from
	to.Asked = true
}

// Settle runs a whole pass over a record without a store.
func Settle(t *testing.T, f *swap.Flow, r *swap.Record, all *swap.Observation, input swap.Input, now time.Time) *swap.Record {
	t.Helper()
	obs := &swap.Observation{}
	for range 16 {
		in := swap.Decision{R: r, Obs: obs, Input: input, Now: now}
		for range 4 {
			if !answerFrom(all, f.Ask(in), obs) {
				break
			}
		}
		next, move := f.Step(in)
		before, _ := r.Encode()
		after, _ := next.Encode()
		if move != nil && input != nil && move.On == input.Kind() {
			input = nil
		}
		r = next
		if string(before) == string(after) {
			return r
		}
	}
	t.Fatal("the pass does not come to rest")
	return nil
}
