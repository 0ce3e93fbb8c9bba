package swap

import (
	"slices"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/internal/bigs"
)

// What both types of trusted gas swaps share. The LP is believed in everything but
// money: a payout or a refund counts when its chain shows it.

// LPSays returns a guard that holds if the LP responded with one of the codes.
func LPSays(codes ...int) func(Decision) bool {
	return func(in Decision) bool {
		return in.Obs.LP.Known() && slices.Contains(codes, in.Obs.LP.Value.Code)
	}
}

// payoutArrived reports whether the chain shows that the user was paid in full.
func payoutArrived(in Decision) bool {
	f := in.Obs.GasTx
	return f.Known() && f.Value.Status.State == chains.TxConfirmed && !payoutShort(in)
}

// payoutShort reports whether the transaction that the LP calls the payout does not
// pay the user what was agreed.
func payoutShort(in Decision) bool {
	paid := in.Obs.GasTx.Value.Paid
	return in.Obs.GasTx.Known() && paid != nil && paid.Cmp(bigs.OrZero(in.R.Terms.Output.Raw)) < 0
}

// payoutUndone reports whether a payout that was seen is not there any more.
func payoutUndone(in Decision) bool {
	f := in.Obs.GasTx
	return f.Known() && f.Value.Status.State != chains.TxConfirmed
}

// payoutDoubt says what is wrong with the payout that the LP names; nil if nothing is.
func payoutDoubt(in Decision) error {
	f := in.Obs.GasTx
	switch {
	case !f.Known():
		return nil
	case f.Value.Status.State == chains.TxReverted:
		return fault.New(fault.Upstream, "the provider's payout was reverted")
	case f.Value.Status.State == chains.TxConfirmed && payoutShort(in):
		return fault.New(fault.Upstream, "the provider's payout transaction does not pay what was agreed")
	}
	return nil
}

// fillGasEnd records that a payout is final, so that nothing checks the swap any more.
func fillGasEnd(in Decision, next *Record, finished int) {
	if f := in.Obs.GasTx; next.State == finished && f.Known() && f.Value.Status.Final && f.Value.Status.State == chains.TxConfirmed {
		in.settle(next)
	}
}
