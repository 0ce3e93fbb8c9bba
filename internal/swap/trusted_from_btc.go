package swap

import (
	"math/big"
	"time"

	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/internal/bigs"
	"github.com/swapper-go/swapper/internal/lp"
	"github.com/swapper-go/swapper/tokens"
)

var trustedBTCStates = []StateRow{
	{Number: TrustedBTCExpired, Name: "EXPIRED", Description: "The quote expired unpaid.", Finished: true, Expired: true, Hidden: true, Watched: true, Every: 10 * time.Minute},
	{Number: TrustedBTCFailed, Name: "FAILED", Description: "The provider gave up after the payment, reported it as double-spent, or stopped giving valid answers.", Finished: true, Failed: true, Watched: true, Every: 10 * time.Minute},
	{Number: TrustedBTCRefunded, Name: "REFUNDED", Description: "The provider sent the payment back.", Finished: true, Watched: true, Every: 10 * time.Minute},
	{Number: TrustedBTCCreated, Name: "PR_CREATED", Description: "Waiting for the bitcoin payment, which may be on its way. The provider is trusted to pay out.", Pending: true, Watched: true, Every: 15 * time.Second},
	{Number: TrustedBTCFinished, Name: "FINISHED", Description: "The tokens were sent.", Finished: true, Success: true, Watched: true, Every: settleAfter},
	{Number: TrustedBTCRefundable, Name: "REFUNDABLE", Description: "The provider cannot use the payment and returns it once it has a refund address.", Pending: true, Watched: true, Every: 10 * time.Second},
}

// trustedBTCRefundFinal is from how many confirmations on a refund is final.
const trustedBTCRefundFinal = 6

// trustedBTCRest is how long a payment is looked for after a swap has failed, and a
// silent LP waited for after a payment.
const trustedBTCRest = 14 * 24 * time.Hour

// trustedBTCSilence is how long after a quote's end its LP is waited for if no payment was seen.
const trustedBTCSilence = 24 * time.Hour

// newTrustedFromBTC returns the type TRUSTED_FROM_BTC: a trusted gas swap,
// a little of the native token for bitcoin. There is no contract: what the LP says decides,
// but the payment, the payout and the refund are what their chains show.
func newTrustedFromBTC() *Flow {
	return &Flow{
		Type:    TrustedFromBTC,
		States:  trustedBTCStates,
		Moves:   trustedBTCMoves(),
		Ask:     trustedBTCAsk,
		Fill:    trustedBTCFill,
		Effects: trustedBTCEffects,
		View:    trustedBTCView,
		Unpaid: func(r *Record) bool {
			return r.State == TrustedBTCCreated && !r.Gas.Paid && isZero(r.Bitcoin.TxID) && !r.Submission.Open()
		},
		NotPaid: trustedBTCUnpaid,
	}
}

// trustedBTCPaid reports whether Bitcoin shows a payment to the swap's address.
func trustedBTCPaid(in Decision) bool {
	return in.Obs.Received.Known() && len(in.Obs.Received.Value) > 0
}

// trustedBTCUnpaid reports whether Bitcoin shows that there is none.
func trustedBTCUnpaid(in Decision) bool {
	return in.Obs.Received.Known() && len(in.Obs.Received.Value) == 0
}

func trustedBTCMoves() []Move {
	known := LPSays(lp.CodeDone, lp.CodeExpired, lp.CodeGasUnpaid, lp.CodeGasReceived, lp.CodeGasSent, lp.CodeGasPending,
		lp.CodeGasRefunded, lp.CodeGasDoubleSpent, lp.CodeGasRefundable)
	open := []int{TrustedBTCCreated, TrustedBTCRefundable}
	given := []int{TrustedBTCExpired, TrustedBTCFailed} // looked at again when a payment appears
	any := append(append([]int{}, open...), given...)
	late := func(says func(Decision) bool) func(Decision) bool {
		return func(in Decision) bool {
			return says(in) && (in.R.State == TrustedBTCCreated || in.R.State == TrustedBTCRefundable || trustedBTCPaid(in))
		}
	}
	return []Move{
		{From: any, To: TrustedBTCFinished, Why: "the tokens were sent, and the chain shows it", If: late(func(in Decision) bool {
			return LPSays(lp.CodeDone)(in) && payoutArrived(in)
		}), Do: func(in Decision, next *Record) {
			next.PayoutTx = in.Obs.LP.Value.PayoutTxID
		}},
		{From: []int{TrustedBTCFinished}, To: TrustedBTCCreated, Why: "a reorganisation undid the payout", If: payoutUndone},
		{From: any, To: TrustedBTCRefunded, Why: "the payment was sent back, and Bitcoin shows it", If: late(func(in Decision) bool {
			return LPSays(lp.CodeGasRefunded)(in) && trustedBTCRefundSeen(in)
		}), Do: func(in Decision, next *Record) {
			next.Gas.RefundTx = in.Obs.LP.Value.TxID
		}},
		{From: append([]int{TrustedBTCCreated}, given...), To: TrustedBTCRefundable, Why: "the provider cannot use the payment", If: late(LPSays(lp.CodeGasRefundable))},
		{From: []int{TrustedBTCExpired}, To: TrustedBTCCreated, Why: "a payment was seen after all", If: trustedBTCPaid},
		{From: []int{TrustedBTCFailed}, To: TrustedBTCCreated, Why: "the provider has a payment after all", If: late(LPSays(lp.CodeDone, lp.CodeGasReceived, lp.CodeGasSent, lp.CodeGasPending))},
		{From: []int{TrustedBTCRefunded}, To: TrustedBTCRefundable, Why: "a reorganisation undid the refund", If: trustedBTCRefundUndone, Do: func(in Decision, next *Record) {
			next.Gas.RefundTx = ""
		}},

		{From: open, To: TrustedBTCFailed, Why: "the payment was double-spent", If: LPSays(lp.CodeGasDoubleSpent)},
		{From: open, To: TrustedBTCFailed, Why: "the provider reports the paid swap as expired", If: func(in Decision) bool {
			return LPSays(lp.CodeExpired)(in) && trustedBTCPaid(in)
		}},
		// Before its end the address may still be paid to, whatever the LP says.
		{From: []int{TrustedBTCCreated}, To: TrustedBTCExpired, Why: "the quote expired unpaid", If: func(in Decision) bool {
			return LPSays(lp.CodeExpired)(in) && in.R.Expiry.Passed(in.Now) && trustedBTCUnpaid(in) && !in.R.Submission.Open()
		}},
		{From: []int{TrustedBTCCreated}, To: TrustedBTCExpired, Why: "the quote expired long ago without a payment, and the provider is not responding", If: func(in Decision) bool {
			return (in.R.Expiry + Millis(trustedBTCSilence/time.Millisecond)).Passed(in.Now) && !in.Obs.LP.Known() && trustedBTCUnpaid(in) && !in.R.Submission.Open()
		}},
		{From: []int{TrustedBTCRefundable}, To: TrustedBTCExpired, Why: "the provider reports no payment, and none is found", If: func(in Decision) bool {
			return LPSays(lp.CodeExpired)(in) && trustedBTCUnpaid(in)
		}},
		{From: open, To: TrustedBTCFailed, Why: "the provider has the payment and has not responded for two weeks", If: func(in Decision) bool {
			return !in.Obs.LP.Known() && in.Now.Sub(in.R.CreatedAt.Time()) > trustedBTCRest && (trustedBTCPaid(in) || in.R.State == TrustedBTCRefundable)
		}},
		{From: open, To: TrustedBTCFailed, Why: "the provider gave an unknown answer", If: func(in Decision) bool {
			return in.Obs.LP.Known() && !known(in)
		}},

		{From: []int{TrustedBTCCreated}, To: stay, Why: "the user signed the payment", On: OnSubmit, If: func(in Decision) bool {
			sub := in.Input.(Submit)
			return sub.Action == ActionFund && sub.PSBT != nil && trustedBTCPayable(in)
		}, Do: func(in Decision, next *Record) {
			p := in.Input.(Submit).PSBT
			next.Submission = &Submission{Action: ActionFund, PSBT: p.TxID, Since: At(in.Now)}
			next.Bitcoin.Tx, next.Bitcoin.MinerSats = p.Tx, p.Fee
			delete(next.Tried, string(Broadcast))
		}},
		{From: open, To: stay, Why: "the user gave a refund address", On: onRefundTo, If: func(in Decision) bool {
			to := in.Input.(RefundTo).Address
			return in.R.Gas.RefundTo == "" || in.R.Gas.RefundTo == to
		}, Do: func(in Decision, next *Record) { next.Gas.RefundTo = in.Input.(RefundTo).Address }},
	}
}

// trustedBTCPayable reports whether the user is to pay now: nothing is on its way, as
// far as anybody knows, and there is time.
func trustedBTCPayable(in Decision) bool {
	return !trustedBTCPaid(in) && isZero(in.R.Bitcoin.TxID) && !in.R.Submission.Open() && !in.R.Expiry.Reached(in.Now) && !trustedBTCSpoken(in)
}

// trustedBTCSpoken reports whether the LP speaks of a payment, or was the last to speak of
// one while neither it nor Bitcoin answers: it may have seen a payment that our node has
// not, and a user who is asked to pay then would pay twice.
func trustedBTCSpoken(in Decision) bool {
	return LPSays(lp.CodeGasReceived, lp.CodeGasPending, lp.CodeGasSent, lp.CodeDone)(in) ||
		in.R.Gas.Paid && !in.Obs.LP.Known() && !in.Obs.Received.Known()
}

// trustedBTCRefundSeen reports whether Bitcoin shows what the LP calls the refund.
func trustedBTCRefundSeen(in Decision) bool {
	f := in.Obs.Refunded
	return f.Known() && f.Value.Confirmations > 0 && f.Value.Sats > 0
}

// trustedBTCRefundUndone reports whether Bitcoin does not show a refund any more.
func trustedBTCRefundUndone(in Decision) bool {
	f := in.Obs.Refunded
	return f.Known() && (f.Value.Confirmations == 0 || f.Value.Sats == 0)
}

func trustedBTCAsk(in Decision) Ask {
	r, obs := in.R, in.Obs
	var a Ask
	switch r.State {
	case TrustedBTCFinished:
		if !r.Settled && !obs.GasTx.Asked && r.PayoutTx != "" {
			a.GasTx = &GasAsk{TxID: r.PayoutTx, To: r.Terms.Recipient}
		}
		return a
	case TrustedBTCRefunded:
		if id, err := bitcoin.ParseHash(r.Gas.RefundTx); err == nil && !r.Settled && !obs.Refunded.Asked {
			a.Refunded = &RefundedAsk{TxID: id, To: r.Gas.RefundTo}
		}
		return a
	}
	if r.Settled {
		return a
	}
	if !obs.Received.Asked {
		a.Received = &ReceivedAsk{Address: r.Bitcoin.Address}
	}
	// A swap that was given up is the LP's again when there is a payment.
	if open := r.State == TrustedBTCCreated || r.State == TrustedBTCRefundable; (open || trustedBTCPaid(in)) && !obs.LP.Asked && r.LP.URL != "" {
		a.LP = &lp.StatusQuery{URL: r.LPURL(), Endpoint: lp.GetAddressStatus, ID: r.Gas.Hash, Sequence: r.Gas.Sequence}
	}
	if trustedBTCUnpaid(in) && r.Submission.Open() && !obs.Spends.Asked {
		a.Spends = inputsOf(r.Bitcoin.Tx)
	}
	if tx := trustedBTCPayment(in, r); tx != nil && !tx.Confirmed() && !obs.ETA.Asked {
		a.ETA = &ETAAsk{TxID: tx.ID, Confirmations: r.Bitcoin.Confirmations}
	}
	if LPSays(lp.CodeDone)(in) && obs.LP.Value.PayoutTxID != "" && !obs.GasTx.Asked {
		a.GasTx = &GasAsk{TxID: obs.LP.Value.PayoutTxID, To: r.Terms.Recipient}
	}
	if LPSays(lp.CodeGasRefunded)(in) && !obs.Refunded.Asked {
		if id, err := bitcoin.ParseHash(obs.LP.Value.TxID); err == nil {
			a.Refunded = &RefundedAsk{TxID: id, To: r.Gas.RefundTo}
		}
	}
	return a
}

// trustedBTCPayment returns the payment that the swap is about, of those that Bitcoin
// shows: the one that the LP names, else the one that the user submitted, else
// the first confirmed one, else any.
func trustedBTCPayment(in Decision, r *Record) *bitcoin.Tx {
	if !trustedBTCPaid(in) {
		return nil
	}
	var wanted []bitcoin.Hash
	if id, err := bitcoin.ParseHash(in.Obs.LP.Value.TxID); err == nil {
		wanted = append(wanted, id)
	}
	if r.Submission != nil {
		wanted = append(wanted, r.Submission.PSBT)
	}
	all := in.Obs.Received.Value
	for _, id := range wanted {
		for _, tx := range all {
			if tx.ID == id {
				return tx
			}
		}
	}
	for _, tx := range all {
		if tx.Confirmed() {
			return tx
		}
	}
	return all[0]
}

func trustedBTCFill(in Decision, next *Record) {
	fillGasEnd(in, next, TrustedBTCFinished)
	if f := in.Obs.Refunded; next.State == TrustedBTCRefunded && f.Known() && f.Value.Confirmations >= trustedBTCRefundFinal {
		in.settle(next)
	}
	if next.Settled || next.State == TrustedBTCFinished || next.State == TrustedBTCRefunded {
		return
	}
	if in.Obs.Received.Known() {
		next.Bitcoin.TxID, next.Bitcoin.ConfirmedAt = bitcoin.Hash{}, confirmedAt(in, next)
		if tx := trustedBTCPayment(in, next); tx != nil {
			next.Bitcoin.TxID, next.Gas.Paid = tx.ID, true
		}
	}
	fillPayment(in, next)
	if given := next.State == TrustedBTCFailed || next.State == TrustedBTCExpired && !next.MayPurge(); given && in.Now.Sub(max(next.CreatedAt, next.Ended).Time()) > trustedBTCRest {
		next.Settled = true
	}
	if !in.Obs.LP.Known() {
		return
	}
	switch s := in.Obs.LP.Value; s.Code {
	case lp.CodeGasReceived, lp.CodeGasSent, lp.CodeGasPending, lp.CodeDone:
		next.Gas.Paid = true
		if s.AdjustedAmount != nil && s.AdjustedTotal != nil {
			trustedBTCAdjust(next, s)
		}
	case lp.CodeGasRefundable, lp.CodeGasRefunded, lp.CodeGasDoubleSpent:
		next.Gas.Paid = true
	}
}

// confirmedAt is when the payment was first seen confirmed, 0 while it is not.
func confirmedAt(in Decision, next *Record) Millis {
	tx := trustedBTCPayment(in, next)
	switch {
	case tx == nil || !tx.Confirmed():
		return 0
	case next.Bitcoin.ConfirmedAt != 0:
		return next.Bitcoin.ConfirmedAt
	}
	return At(in.Now)
}

// trustedBTCAdjust takes over what the LP makes of another amount than the agreed one.
// Less for each sat than was agreed is taken over too, since more will not come,
// and is said.
func trustedBTCAdjust(next *Record, s lp.Status) {
	next.Terms.Input.Raw, next.Terms.Output.Raw = s.AdjustedAmount, s.AdjustedTotal
	if s.AdjustedSats != nil {
		next.Terms.SwapFee.Raw, next.Terms.FeeSats = s.AdjustedSats, s.AdjustedSats
	}
	next.Problem = ""
	if sats := new(big.Int).SetUint64(next.Bitcoin.Sats); sats.Sign() > 0 && s.AdjustedTotal.Cmp(bigs.MulDiv(bigs.OrZero(next.Gas.Total), s.AdjustedAmount, sats)) < 0 {
		next.Problem = "the provider pays out less for the payment than was agreed"
	}
}

func trustedBTCEffects(in Decision) []Effect {
	effects := sendPayment(in)
	if r := in.R; r.State == TrustedBTCRefundable && r.Gas.RefundTo != "" && r.Tried[string(SetRefund)].Outcome != Done {
		effects = append(effects, Effect{Kind: SetRefund})
	}
	return effects
}

func trustedBTCView(in Decision) View {
	r := in.R
	row, _ := rowOf(trustedBTCStates, r.State)
	v := View{Row: row}
	pay := Step{Type: stepPayment, Chain: onBitcoin, Title: "Bitcoin payment", Description: "The bitcoin is paid to the provider's address."}
	settle := Step{Type: stepSettlement, Chain: r.Chain, Title: "Destination payout", Description: "The provider sends the tokens.", Status: shownInactive, SettleTx: r.PayoutTx}
	refund := Step{Type: stepRefund, Chain: onBitcoin, Title: "Bitcoin refund", Description: "The provider returns the payment.", RefundTx: r.Gas.RefundTx}
	if !isZero(r.Bitcoin.TxID) {
		pay.InitTx = r.Bitcoin.TxID.String()
	}
	switch r.State {
	case TrustedBTCCreated:
		trustedBTCViewOpen(in, &v, &pay, &settle)
	case TrustedBTCFinished:
		pay.Status, settle.Status = shownConfirmed, shownSettled
	case TrustedBTCRefundable:
		pay.Status, settle.Status, refund.Status = shownReceived, shownExpired, shownAwaiting
		switch try := r.Tried[string(SetRefund)]; {
		case r.Gas.RefundTo == "":
			v.Blocked = fault.New(fault.InvalidState, "the provider cannot use the payment and needs a refund address: call SetGasRefundAddress")
		case try.Outcome == Refused:
			v.Blocked = fault.New(fault.Upstream, "the provider rejected the refund address: %s", try.Reason)
		default:
			v.Action = &Wait{Name: "Awaiting LP payout", Description: "The provider returns the payment.", ExpectedSeconds: -1, PollSeconds: 10}
		}
	case TrustedBTCRefunded:
		pay.Status, settle.Status, refund.Status = shownReceived, shownExpired, shownRefunded
	case TrustedBTCFailed:
		pay.Status, settle.Status = shownExpired, shownExpired
	case TrustedBTCExpired:
		pay.Status = shownExpired
	}
	if pay.Status == shownConfirmed {
		pay.SettleTx = pay.InitTx
		pay.Confirmations = &Confirmations{Current: int(r.Bitcoin.Confirmations), Target: int(r.Bitcoin.Confirmations)}
	}
	v.Steps = []Step{pay, settle}
	if refund.Status != "" {
		v.Steps = append(v.Steps, refund)
	}
	return v
}

// trustedBTCViewOpen shows a swap that waits for its payment, or has it: by Bitcoin's
// answer, or by the LP's word if Bitcoin was not asked.
func trustedBTCViewOpen(in Decision, v *View, pay, settle *Step) {
	r := in.R
	v.Blocked = payoutDoubt(in)
	if v.Blocked == nil && r.Problem != "" {
		v.Blocked = fault.New(fault.Upstream, "%s", r.Problem)
	}
	switch {
	case r.Bitcoin.ConfirmedAt != 0 || LPSays(lp.CodeGasPending, lp.CodeGasSent, lp.CodeDone)(in):
		pay.Status, settle.Status = shownConfirmed, shownWaitingLP
		v.Action = &Wait{Name: "Awaiting LP payout", Description: "The provider sends the tokens.", ExpectedSeconds: 10, PollSeconds: 5}
	case !isZero(r.Bitcoin.TxID) || r.Submission.Open() || trustedBTCSpoken(in):
		pay.Status = shownReceived
		pay.Confirmations = &Confirmations{Target: int(r.Bitcoin.Confirmations), ETASeconds: -1}
		if in.Obs.ETA.Known() {
			pay.Confirmations.ETASeconds = in.Obs.ETA.Value
		}
		if isZero(r.Bitcoin.TxID) && r.Submission.Open() {
			pay.Status, pay.InitTx = shownAwaiting, r.Submission.PSBT.String()
			if try := r.Tried[string(Broadcast)]; v.Blocked == nil && try.Outcome == Refused {
				v.Blocked = fault.New(fault.Upstream, "the payment was refused and will be sent again: %s", try.Reason)
			}
		}
		v.Action = &Wait{Name: "Bitcoin confirmations", Description: "The Bitcoin transaction needs a confirmation.", ExpectedSeconds: pay.Confirmations.ETASeconds, PollSeconds: 10}
	case r.Expiry.Reached(in.Now):
		pay.Status = shownSoftExpired
	default:
		pay.Status = shownAwaiting
		amount := tokens.NewAmount(new(big.Int).SetUint64(r.Bitcoin.Sats), tokens.BTC())
		v.Action = &Pay{Name: "Deposit on Bitcoin", Description: "Pay the bitcoin to the address.", Chain: onBitcoin, To: r.Bitcoin.Address,
			Link: BitcoinLink(r.Bitcoin.Address, int64(r.Bitcoin.Sats)), Amount: amount,
			Fund: &Fund{Name: "Deposit on Bitcoin", Description: "Sign and submit the Bitcoin transaction."}}
		withholdCancelled(in, v)
	}
}
