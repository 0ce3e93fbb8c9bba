package swap

import (
	"time"

	"github.com/swapper-go/swapper/internal/lp"
)

var trustedLNStates = []StateRow{
	{Number: TrustedLNExpired, Name: "EXPIRED", Description: "The invoice expired unpaid.", Finished: true, Expired: true, Hidden: true, Watched: true, Every: time.Hour},
	{Number: TrustedLNFailed, Name: "FAILED", Description: "The provider gave up after the payment, stopped responding, or stopped giving valid answers.", Finished: true, Failed: true, Watched: true, Every: 10 * time.Minute},
	{Number: TrustedLNCreated, Name: "PR_CREATED", Description: "Waiting for the invoice to be paid. The provider is trusted to pay out.", Pending: true, Watched: true, Every: 5 * time.Second},
	{Number: TrustedLNPaid, Name: "PR_PAID", Description: "The provider has the payment and is sending the tokens.", Pending: true, Watched: true, Every: 5 * time.Second},
	{Number: TrustedLNFinished, Name: "FINISHED", Description: "The tokens were sent.", Finished: true, Success: true, Watched: true, Every: settleAfter},
}

// trustedLNRest is how long the LP is still asked about a swap that failed or
// expired, and how long it may be silent about a paid one before that one fails.
const trustedLNRest = 14 * 24 * time.Hour

// TrustedLNOver reports whether the invoice cannot have been paid any more.
func TrustedLNOver(in Decision) bool {
	if ends := in.R.Lightning.EndsAt; ends != 0 {
		return ends.Passed(in.Now)
	}
	return (in.R.Expiry + Millis(trustedBTCSilence/time.Millisecond)).Passed(in.Now)
}

// newTrustedFromBTCLN returns the type TRUSTED_FROM_BTCLN: a trusted gas
// swap, a little of the native token for a Lightning payment. There is no contract: what the LP
// says is all that is known, but for the payout, which the chain must show.
func newTrustedFromBTCLN() *Flow {
	return &Flow{
		Type:    TrustedFromBTCLN,
		States:  trustedLNStates,
		Moves:   trustedLNMoves(),
		Ask:     trustedLNAsk,
		Fill:    trustedLNFill,
		Effects: func(Decision) []Effect { return nil },
		View:    trustedLNView,
		Unpaid:  func(r *Record) bool { return r.State == TrustedLNCreated && r.PayoutTx == "" },
		NotPaid: func(in Decision) bool { return in.R.LP.URL == "" || LPSays(lp.CodeExpired, lp.CodeGasUnpaid)(in) },
	}
}

func trustedLNMoves() []Move {
	known := LPSays(lp.CodeDone, lp.CodeExpired, lp.CodeGasUnpaid, lp.CodeGasReceived, lp.CodeGasSent)
	open := []int{TrustedLNCreated, TrustedLNPaid}
	given := []int{TrustedLNExpired, TrustedLNFailed}
	silent := func(in Decision) bool { return !in.Obs.LP.Known() }
	return []Move{
		{From: append([]int{}, TrustedLNExpired, TrustedLNFailed, TrustedLNCreated, TrustedLNPaid), To: TrustedLNFinished, Why: "the tokens were sent, and the chain shows it", If: func(in Decision) bool {
			return LPSays(lp.CodeDone)(in) && payoutArrived(in)
		}},
		{From: []int{TrustedLNFinished}, To: TrustedLNPaid, Why: "a reorganisation undid the payout", If: payoutUndone},
		{From: []int{TrustedLNCreated}, To: TrustedLNPaid, Why: "the provider has the payment", If: LPSays(lp.CodeGasReceived, lp.CodeGasSent)},
		{From: given, To: TrustedLNPaid, Why: "the provider has the payment after all", If: LPSays(lp.CodeGasReceived, lp.CodeGasSent, lp.CodeDone)},
		{From: []int{TrustedLNFailed}, To: TrustedLNCreated, Why: "the provider still waits for the payment", If: func(in Decision) bool {
			return LPSays(lp.CodeGasUnpaid)(in) && !in.R.Expiry.Passed(in.Now)
		}},
		// Before its expiry the invoice may still be paid, whatever the LP says.
		{From: []int{TrustedLNCreated}, To: TrustedLNExpired, Why: "the invoice expired unpaid", If: func(in Decision) bool {
			return LPSays(lp.CodeExpired)(in) && in.R.Expiry.Passed(in.Now)
		}},
		{From: []int{TrustedLNCreated}, To: TrustedLNExpired, Why: "no payment can arrive any more, and the provider is not responding", If: func(in Decision) bool {
			return silent(in) && TrustedLNOver(in)
		}},
		{From: []int{TrustedLNPaid}, To: TrustedLNFailed, Why: "the provider has the payment and has not responded for two weeks", If: func(in Decision) bool {
			return silent(in) && in.Now.Sub(in.R.CreatedAt.Time()) > trustedLNRest
		}},
		{From: []int{TrustedLNPaid}, To: TrustedLNFailed, Why: "the provider reports the paid swap as expired", If: LPSays(lp.CodeExpired)},
		{From: open, To: TrustedLNFailed, Why: "the provider gave an unknown answer", If: func(in Decision) bool {
			return in.Obs.LP.Known() && !known(in)
		}},
	}
}

func trustedLNAsk(in Decision) Ask {
	r, obs := in.R, in.Obs
	var a Ask
	switch {
	case r.Settled:
	case r.State == TrustedLNFinished && !obs.GasTx.Asked && r.PayoutTx != "":
		a.GasTx = &GasAsk{TxID: r.PayoutTx, To: r.Terms.Recipient}
	case r.State == TrustedLNFinished || r.LP.URL == "":
	case !obs.LP.Asked:
		a.LP = &lp.StatusQuery{URL: r.LPURL(), Endpoint: lp.GetInvoiceStatus, ID: r.Lightning.Hash}
	case LPSays(lp.CodeDone)(in) && obs.LP.Value.TxID != "" && !obs.GasTx.Asked:
		a.GasTx = &GasAsk{TxID: obs.LP.Value.TxID, To: r.Terms.Recipient}
	}
	return a
}

func trustedLNFill(in Decision, next *Record) {
	fillGasEnd(in, next, TrustedLNFinished)
	if next.State == TrustedLNFinished {
		return
	}
	if given := next.State == TrustedLNFailed || next.State == TrustedLNExpired; given && next.Ended != 0 && in.Now.Sub(next.Ended.Time()) > trustedLNRest {
		next.Settled = true
	}
	if !in.Obs.LP.Known() {
		return
	}
	if s := in.Obs.LP.Value; s.TxID != "" && (s.Code == lp.CodeDone || s.Code == lp.CodeGasSent) {
		next.PayoutTx = s.TxID
	}
}

func trustedLNView(in Decision) View {
	r := in.R
	row, _ := rowOf(trustedLNStates, r.State)
	v := View{Row: row}
	pay := Step{Type: stepPayment, Chain: onLightning, Title: "Lightning payment", Description: "The invoice is paid."}
	settle := Step{Type: stepSettlement, Chain: r.Chain, Title: "Destination payout", Description: "The provider sends the tokens.", Status: shownInactive}
	switch r.State {
	case TrustedLNCreated:
		pay.Status = shownSoftExpired
		if !r.Expiry.Reached(in.Now) {
			pay.Status = shownAwaiting
			v.Action = &Pay{Name: "Deposit on Lightning", Description: "Pay the Lightning invoice.", Chain: onLightning, Invoice: true,
				To: r.Lightning.Invoice, Link: lightningLink(r.Lightning.Invoice), Amount: r.Terms.Input}
		}
		v.Blocked = payoutDoubt(in)
		withholdCancelled(in, &v)
	case TrustedLNPaid:
		v.Blocked = payoutDoubt(in)
		pay.Status, settle.Status = shownReceived, shownWaitingLP
		v.Action = &Wait{Name: "Awaiting LP payout", Description: "The provider sends the tokens.", ExpectedSeconds: 10, PollSeconds: 5}
	case TrustedLNFinished:
		pay.Status, settle.Status = shownConfirmed, shownSettled
	case TrustedLNFailed:
		pay.Status, settle.Status = shownExpired, shownExpired
	case TrustedLNExpired:
		pay.Status = shownExpired
	}
	v.Steps = []Step{pay, settle}
	return v
}
