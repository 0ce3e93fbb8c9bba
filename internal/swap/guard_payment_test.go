package swap

import (
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/swapper-go/swapper/chains/bitcoin"
)

// TestPaymentIsGivenUp names what ends a payment that was submitted, and what must
// not: whoever is asked to pay anew may pay twice.
func TestPaymentIsGivenUp(t *testing.T) {
	f := newTrustedFromBTC()
	pass := passOf(trustedBTCPass(TrustedBTCCreated), func(in *Decision) {
		in.R.Submission = &Submission{Action: ActionFund, PSBT: bitcoin.Hash{9}, Since: ago(refusalPatience)}
		in.Obs.Received = known[[]*bitcoin.Tx](nil)
		in.Obs.Spends = known([]bitcoin.Spend{{State: bitcoin.Unspent}})
		in.R.Tried = map[string]Try{string(Broadcast): {Attempts: refusalsBelieved, Outcome: Refused, Reason: "no"}}
	})
	ends := func(why string) func(Decision) bool {
		return func(in Decision) bool {
			next, _ := f.Step(in)
			return next.Submission.Closed && strings.Contains(next.Submission.Reason, why) && (why == "" || next.Submission.Reason != "")
		}
	}
	silent := changes{"Bitcoin does not answer": func(in *Decision) { in.Obs.Received = failed[[]*bitcoin.Tx](nil) }}
	with := func(more changes) changes {
		maps.Copy(more, silent)
		return more
	}
	t.Run("refused", func(t *testing.T) {
		needs(t, pass, ends(""), with(changes{
			"one refusal is missing": func(in *Decision) {
				in.R.Tried[string(Broadcast)] = Try{Attempts: refusalsBelieved - 1, Outcome: Refused}
			},
			"it was not refused":       func(in *Decision) { in.R.Tried[string(Broadcast)] = Try{Attempts: refusalsBelieved} },
			"the patience is not over": func(in *Decision) { in.R.Submission.Since = ago(refusalPatience - time.Millisecond) },
			"its inputs are not known": func(in *Decision) { in.Obs.Spends = failed(in.Obs.Spends.Value) },
			"its inputs are spent by it": func(in *Decision) {
				in.Obs.Spends.Value[0] = bitcoin.Spend{State: bitcoin.SpentConfirmed, TxID: bitcoin.Hash{9}}
			},
			"its inputs are contested": func(in *Decision) {
				in.Obs.Spends.Value[0] = bitcoin.Spend{State: bitcoin.SpentInMempool, TxID: bitcoin.Hash{8}}
			},
			"Bitcoin shows the payment": func(in *Decision) { in.Obs.Received = known([]*bitcoin.Tx{{ID: bitcoin.Hash{9}}}) },
			"there is no payment":       func(in *Decision) { in.R.Submission.PSBT = bitcoin.Hash{} },
		}))
	})
	t.Run("spent otherwise", func(t *testing.T) {
		needs(t, passOf(pass, func(in *Decision) { in.R.Tried = nil; spentOtherwise(in) }), ends("spent by another"), with(changes{
			"that is not known":         func(in *Decision) { in.Obs.Spends = failed(in.Obs.Spends.Value) },
			"Bitcoin shows the payment": func(in *Decision) { in.Obs.Received = known([]*bitcoin.Tx{{ID: bitcoin.Hash{9}}}) },
		}))
	})
	t.Run("too late to send", func(t *testing.T) {
		needs(t, passOf(pass, func(in *Decision) { in.R.Tried = nil; in.Now = in.R.Expiry.Time().Add(time.Millisecond) }), ends("time to pay ended"), with(changes{
			"it is the last moment":    func(in *Decision) { in.Now = in.R.Expiry.Time() },
			"the network has taken it": func(in *Decision) { in.R.Tried = map[string]Try{string(Broadcast): {Outcome: Done}} },
		}))
	})
	t.Run("forgotten", func(t *testing.T) {
		needs(t, passOf(pass, func(in *Decision) {
			in.R.Tried = map[string]Try{string(Broadcast): {Outcome: Done}}
			in.Now = in.R.Expiry.Time().Add(trustedBTCSilence + time.Millisecond)
		}), ends("no longer"), with(changes{"it is the last moment": func(in *Decision) { in.Now = in.R.Expiry.Time().Add(trustedBTCSilence) }}))
	})
	t.Run("confirmed", func(t *testing.T) {
		paid := func(id byte, confirmations uint32) func(*Decision) {
			return func(in *Decision) {
				in.Obs.Received = known([]*bitcoin.Tx{{ID: bitcoin.Hash{id}, Confirmations: confirmations}})
			}
		}
		in := passOf(pass, func(in *Decision) { paid(9, 1)(in); in.R.Tried = nil })
		needs(t, in, ends(""), changes{"it waits": paid(9, 0), "another one is": paid(8, 1)})
	})
	t.Run("sent", func(t *testing.T) {
		needs(t, pass, func(in Decision) bool { return len(f.Effects(in)) == 1 }, changes{
			"it has ended":        func(in *Decision) { in.R.Submission.Closed = true },
			"there is no payment": func(in *Decision) { in.R.Submission.PSBT = bitcoin.Hash{} },
			"nothing was signed":  func(in *Decision) { in.R.Submission = nil },
		})
	})
}
