package swap

import (
	"cmp"
	"time"

	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/internal/btc/rawtx"
)

// A plain Bitcoin payment that the user signed and submitted is sent again until
// it is confirmed, which is safe because its id stays the same.

// fillPayment records the outcome of a submitted payment. To prevent a second
// payment, it stays open until it is confirmed or can no longer be.
func fillPayment(in Decision, next *Record) {
	s := next.Submission
	if !s.Open() || isZero(s.PSBT) || !in.Obs.Received.Known() {
		return
	}
	for _, tx := range in.Obs.Received.Value {
		if tx.ID == s.PSBT {
			s.Closed = tx.Confirmed()
			return
		}
	}
	try := next.Tried[string(Broadcast)]
	switch {
	case in.Obs.Spends.Known() && Conflict(s.PSBT, in.Obs.Spends.Value) == ProspectDead:
		s.Closed, s.Reason = true, "an input was spent by another transaction"
	case refusedForGood(in, try, s):
		s.Closed, s.Reason = true, cmp.Or(try.Reason, "the network refused the transaction")
	case next.payEnd().Passed(in.Now) && try.Outcome != Done:
		s.Closed, s.Reason = true, "the time to pay ended before the transaction could be sent"
	case (next.payEnd() + Millis(trustedBTCSilence/time.Millisecond)).Passed(in.Now):
		s.Closed, s.Reason = true, "the network no longer knows the transaction"
	}
}

// payEnd is until when a plain Bitcoin payment may be sent.
func (r *Record) payEnd() Millis {
	if r.Type == FromBTC {
		return Millis(r.payUntil() * 1000)
	}
	return r.Expiry
}

// How often, and for how long, a payment must be refused before the refusal counts.
// A node may refuse what others accept, learn of an input only later, or refuse a
// transaction and relay it all the same. A user who is then asked to pay again
// pays twice.
const (
	refusalsBelieved = 3
	refusalPatience  = 2 * time.Minute
)

// refusedForGood reports whether a payment was refused repeatedly, its inputs
// were checked, and nothing shows that it was relayed.
func refusedForGood(in Decision, try Try, s *Submission) bool {
	return try.Outcome == Refused && try.Attempts >= refusalsBelieved && in.Now.Sub(s.Since.Time()) >= refusalPatience &&
		in.Obs.Spends.Known() && Conflict(s.PSBT, in.Obs.Spends.Value) == ProspectOpen
}

// sendPayment returns the effect that sends a submitted payment.
func sendPayment(in Decision) []Effect {
	if s := in.R.Submission; !s.Open() || isZero(s.PSBT) {
		return nil
	}
	return []Effect{{Kind: Broadcast}}
}

// inputsOf returns what a transaction spends; nil if it cannot be read.
func inputsOf(raw []byte) []bitcoin.OutPoint {
	tx, err := rawtx.Decode(raw)
	if err != nil {
		return nil
	}
	ops := make([]bitcoin.OutPoint, len(tx.TxIn))
	for i, in := range tx.TxIn {
		ops[i] = in.PreviousOutPoint
	}
	return ops
}
