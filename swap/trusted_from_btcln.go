package swap

import (
	"strings"
	"time"

	"github.com/swapper-go/swapper/internal/lp"
)

// States of TRUSTED_FROM_BTCLN (protocol: swap-flows-spv-and-core.md B1).
const (
	GasExpired  = -2
	GasFailed   = -1
	GasCreated  = 0
	GasPaid     = 1
	GasFinished = 2
)

var GasStates = []StateRow{
	{Number: GasExpired, Name: "EXPIRED", Description: "The invoice expired unpaid.", Finished: true, Expired: true, Hidden: true, Watched: true, Every: time.Hour},
	{Number: GasFailed, Name: "FAILED", Description: "The provider gave up after the payment, stopped responding, or stopped giving valid answers.", Finished: true, Failed: true, Watched: true, Every: 10 * time.Minute},
	{Number: GasCreated, Name: "PR_CREATED", Description: "Waiting for the invoice to be paid. The provider is trusted to pay out.", Pending: true, Watched: true, Every: 5 * time.Second},
	{Number: GasPaid, Name: "PR_PAID", Description: "The provider has the payment and is sending the tokens.", Pending: true, Watched: true, Every: 5 * time.Second},
	{Number: GasFinished, Name: "FINISHED", Description: "The tokens were sent.", Finished: true, Success: true, Watched: true, Every: settleAfter},
}

// gasRest is how long the provider of a swap that has failed, or of a payment that
// nobody has heard of, is asked again.
const gasRest = 14 * 24 * time.Hour

// GasOver reports whether the invoice cannot have been paid any more.
func GasOver(in In) bool {
	if ends := in.R.Lightning.EndsAt; ends != 0 {
		return ends.Passed(in.Now)
	}
	return (in.R.Expiry + Millis(CoinSilence/time.Millisecond)).Passed(in.Now)
}

// NewTrustedFromBTCLN returns the type TRUSTED_FROM_BTCLN: a little of the native
// token for a Lightning payment, on trust. There is no contract: what the LP
// says is all that is known, but for the payout, which the chain must show.
func NewTrustedFromBTCLN() *Flow {
	return &Flow{
		Type:    TrustedFromBTCLN,
		States:  GasStates,
		Moves:   gasMoves(),
		Ask:     gasAsk,
		Fill:    gasFill,
		Effects: func(In) []Effect { return nil },
		View:    gasView,
		Unpaid:  func(r *Record) bool { return r.State == GasCreated && r.PayoutTx == "" },
	}
}

func gasMoves() []Move {
	known := LPSays(lp.CodeDone, lp.CodeExpired, lp.CodeGasUnpaid, lp.CodeGasReceived, lp.CodeGasSent)
	open := []int{GasCreated, GasPaid}
	given := []int{GasExpired, GasFailed}
	silent := func(in In) bool { return !in.Obs.LP.Known() }
	return []Move{
		{From: append([]int{}, GasExpired, GasFailed, GasCreated, GasPaid), To: GasFinished, Why: "the tokens were sent, and the chain shows it", If: func(in In) bool {
			return LPSays(lp.CodeDone)(in) && gasArrived(in)
		}},
		{From: []int{GasFinished}, To: GasPaid, Why: "a reorganisation undid the payout", If: gasUndone},
		{From: []int{GasCreated}, To: GasPaid, Why: "the provider has the payment", If: LPSays(lp.CodeGasReceived, lp.CodeGasSent)},
		{From: given, To: GasPaid, Why: "the provider has the payment after all", If: LPSays(lp.CodeGasReceived, lp.CodeGasSent, lp.CodeDone)},
		{From: []int{GasFailed}, To: GasCreated, Why: "the provider still waits for the payment", If: func(in In) bool {
			return LPSays(lp.CodeGasUnpaid)(in) && !in.R.Expiry.Passed(in.Now)
		}},
		// Before its expiry the invoice may still be paid, whatever the LP says.
		{From: []int{GasCreated}, To: GasExpired, Why: "the invoice expired unpaid", If: func(in In) bool {
			return LPSays(lp.CodeExpired)(in) && in.R.Expiry.Passed(in.Now)
		}},
		{From: []int{GasCreated}, To: GasExpired, Why: "no payment can arrive any more, and the provider is not responding", If: func(in In) bool {
			return silent(in) && GasOver(in)
		}},
		{From: []int{GasPaid}, To: GasFailed, Why: "the provider has the payment and has not responded for two weeks", If: func(in In) bool {
			return silent(in) && in.Now.Sub(in.R.CreatedAt.Time()) > gasRest
		}},
		{From: []int{GasPaid}, To: GasFailed, Why: "the provider reports the paid swap as expired", If: LPSays(lp.CodeExpired)},
		{From: open, To: GasFailed, Why: "the provider gave an unknown answer", If: func(in In) bool {
			return in.Obs.LP.Known() && !known(in)
		}},
	}
}

func gasAsk(in In) Ask {
	r, obs := in.R, in.Obs
	var a Ask
	switch {
	case r.Settled:
	case r.State == GasFinished && !obs.GasTx.Asked && r.PayoutTx != "":
		a.GasTx = &GasAsk{TxID: r.PayoutTx, To: r.Terms.Recipient}
	case r.State == GasFinished || r.LP.URL == "":
	case !obs.LP.Asked:
		a.LP = &lp.StatusQuery{URL: r.LPURL(), Endpoint: lp.GetInvoiceStatus, ID: r.Lightning.Hash}
	case LPSays(lp.CodeDone)(in) && obs.LP.Value.TxID != "" && !obs.GasTx.Asked:
		a.GasTx = &GasAsk{TxID: obs.LP.Value.TxID, To: r.Terms.Recipient}
	}
	return a
}

func gasFill(in In, next *Record) {
	fillGasEnd(in, next, GasFinished)
	if next.State == GasFinished {
		return
	}
	if given := next.State == GasFailed || next.State == GasExpired; given && next.Ended != 0 && in.Now.Sub(next.Ended.Time()) > gasRest {
		next.Settled = true
	}
	if !in.Obs.LP.Known() {
		return
	}
	if s := in.Obs.LP.Value; s.TxID != "" && (s.Code == lp.CodeDone || s.Code == lp.CodeGasSent) {
		next.PayoutTx = s.TxID
	}
}

func gasView(in In) View {
	r := in.R
	row, _ := RowOf(GasStates, r.State)
	v := View{Row: row}
	pay := Step{Type: Payment, Chain: onLightning, Title: "Lightning payment", Description: "The invoice is paid."}
	settle := Step{Type: Settlement, Chain: r.Chain, Title: "Destination payout", Description: "The provider sends the tokens.", Status: Inactive}
	switch r.State {
	case GasCreated:
		pay.Status = SoftExpired
		if !r.Expiry.Reached(in.Now) {
			pay.Status = Awaiting
			v.Action = &Pay{Name: "Deposit on Lightning", Description: "Pay the Lightning invoice.", Chain: onLightning, Invoice: true,
				To: r.Lightning.Invoice, Link: "lightning:" + strings.ToUpper(r.Lightning.Invoice), Amount: r.Terms.Input}
		}
		v.Blocked = gasDoubt(in)
	case GasPaid:
		v.Blocked = gasDoubt(in)
		pay.Status, settle.Status = Received, WaitingLP
		v.Action = &Wait{Name: "Awaiting LP payout", Description: "The provider sends the tokens.", ExpectedSeconds: 10, PollSeconds: 5}
	case GasFinished:
		pay.Status, settle.Status = Confirmed, Settled
	case GasFailed:
		pay.Status, settle.Status = ExpiredStatus, ExpiredStatus
	case GasExpired:
		pay.Status = ExpiredStatus
	}
	v.Steps = []Step{pay, settle}
	return v
}
