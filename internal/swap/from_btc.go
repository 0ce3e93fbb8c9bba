package swap

import (
	"math/big"
	"time"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/internal/lp"
	"github.com/swapper-go/swapper/tokens"
)

var fromBTCStates = []StateRow{
	{Number: InFailed, Name: "FAILED", Description: "The escrow was refunded to the provider.", Finished: true, Failed: true, Watched: true, Every: settleAfter},
	{Number: InExpired, Name: "EXPIRED", Description: "It is too late to pay; a payment already on its way may still settle the swap.", Failed: true, Pending: true, Watched: true, Every: time.Minute},
	{Number: InQuoteOver, Name: "QUOTE_EXPIRED", Description: "The quote expired unused.", Finished: true, Expired: true, Hidden: true, Watched: true, Every: time.Hour},
	{Number: InSoftExpired, Name: "QUOTE_SOFT_EXPIRED", Description: "The quote expired; a transaction already sent may still open the swap.", Pending: true, Watched: true, Every: 10 * time.Second},
	{Number: InCreated, Name: "PR_CREATED", Description: "The quote is ready; the user's transaction opens the swap, and only then is there an address to pay to.", Pending: true, Watched: true, Every: 10 * time.Second},
	{Number: InCommitted, Name: "CLAIM_COMMITED", Description: "The escrow is open; waiting for the bitcoin payment and its confirmations.", Pending: true, Watched: true, Every: 30 * time.Second},
	{Number: InConfirmed, Name: "BTC_TX_CONFIRMED", Description: "The bitcoin payment is confirmed; the escrow can be claimed by its proof.", Pending: true, Watched: true, Every: 10 * time.Second},
	{Number: InClaimed, Name: "CLAIM_CLAIMED", Description: "The tokens were paid out.", Finished: true, Success: true, Watched: true, Every: settleAfter},
}

// newFromBTC returns the type FROM_BTC: the user opens an escrow of the LP's tokens
// with the LP's authorisation, pays bitcoin to the LP's address, and anybody claims
// the escrow for the user by the proof of that payment.
func newFromBTC() *Flow {
	return &Flow{
		Type:    FromBTC,
		States:  fromBTCStates,
		Moves:   fromBTCMoves(),
		Ask:     fromBTCAsk,
		Fill:    fromBTCFill,
		Effects: fromBTCEffects,
		View:    fromBTCView,
		Unpaid: func(r *Record) bool {
			return (r.State == InCreated || r.State == InSoftExpired) && !r.mayHavePaid()
		},
		NotPaid: notOpened,
	}
}

func fromBTCStatus(in Decision) chainStatus {
	return escrowStatus(in.Obs.Escrow, in.R.Escrow.Real, false, in.Now)
}

func fromBTCMoves() []Move {
	is, anew := statusGuards(fromBTCStatus)
	unopened := []int{InQuoteOver, InSoftExpired, InCreated}
	opened := []int{InExpired, InCommitted, InConfirmed}
	unfinished := append(append([]int{}, opened...), unopened...)
	final := []int{InFailed, InClaimed}
	return []Move{
		{From: unfinished, To: InClaimed, Why: "the escrow was claimed", If: is(statusPaid)},
		{From: unfinished, To: InFailed, Why: "the escrow was refunded", If: is(statusTakenBack)},
		{From: []int{InFailed}, To: InClaimed, Why: "the escrow was claimed, not refunded", If: anew(statusPaid), Do: forgetEnd},
		{From: []int{InClaimed}, To: InFailed, Why: "the escrow was refunded, not claimed", If: anew(statusTakenBack), Do: forgetEnd},
		{From: final, To: InCommitted, Why: "a reorganisation opened the escrow again", If: anew(statusOpen), Do: forgetEnd},
		{From: final, To: InSoftExpired, Why: "a reorganisation removed the escrow", Undoes: true, If: anew(statusNotOpen, statusExpired), Do: forgetEnd},
		{From: opened, To: InSoftExpired, Why: "a reorganisation removed the escrow", Undoes: true, If: anew(statusNotOpen, statusExpired)},
		{From: unopened, To: InCommitted, Why: "the escrow is open", If: is(statusOpen), Do: opens},

		{From: []int{InExpired, InCommitted}, To: InConfirmed, Why: "the bitcoin payment is confirmed", If: deposited, Do: func(in Decision, next *Record) {
			if next.Bitcoin.ConfirmedAt == 0 {
				next.Bitcoin.ConfirmedAt = At(in.Now)
			}
		}},
		{From: []int{InConfirmed}, To: InCommitted, Why: "a reorganisation reduced the confirmations", If: func(in Decision) bool {
			return is(statusOpen)(in) && in.Obs.Received.Known() && !deposited(in)
		}, Do: func(in Decision, next *Record) { next.Bitcoin.ConfirmedAt = 0 }},
		{From: []int{InCommitted}, To: InExpired, Why: "the time to pay has ended", If: func(in Decision) bool {
			return is(statusOpen, statusUnknown)(in) && tooLateToPay(in)
		}},
		{From: []int{InExpired}, To: InCommitted, Why: "there is still time to pay", If: func(in Decision) bool {
			return is(statusOpen)(in) && !tooLateToPay(in)
		}},

		{From: []int{InSoftExpired, InCreated}, To: InQuoteOver, Why: "the authorization expired and the escrow was never opened", If: neverOpened(fromBTCStatus), Do: endOpening},
		{From: opened, To: InQuoteOver, Why: "the chain has not shown the escrow for long", If: func(in Decision) bool {
			return is(statusExpired)(in) && rested(in)
		}},
		{From: []int{InCreated}, To: InSoftExpired, Why: "the quote expired", If: quoteOver},

		{From: []int{InCreated, InSoftExpired}, To: stay, Why: "the user signed", On: OnSubmit, If: func(in Decision) bool {
			return mayOpen(in) && timeToOpen(in)
		}, Do: accept},
		{From: []int{InCommitted}, To: stay, Why: "the user signed the payment", On: OnSubmit, If: func(in Decision) bool {
			sub := in.Input.(Submit)
			return sub.Action == ActionFund && sub.PSBT != nil && payable(in)
		}, Do: func(in Decision, next *Record) {
			p := in.Input.(Submit).PSBT
			next.Submission = &Submission{Action: ActionFund, PSBT: p.TxID, Since: At(in.Now)}
			next.Bitcoin.Tx, next.Bitcoin.TxID, next.Bitcoin.Vout = p.Tx, p.TxID, 0
			next.Bitcoin.MinerSats = p.Fee
			delete(next.Tried, string(Broadcast))
		}},
		{From: []int{InConfirmed}, To: stay, Why: "the user signed the claim", On: OnSubmit, If: func(in Decision) bool {
			sub := in.Input.(Submit)
			return sub.Action == actionClaim && in.takes(sub)
		}, Do: accept},
	}
}

// payUntil is until when, in Unix seconds, the bitcoin may be paid so that it
// confirms before the LP can take the escrow back.
func (r *Record) payUntil() int64 {
	return lp.SendTimeout(r.Escrow.Real.Expiry, int64(r.Bitcoin.required()))
}

// tooLateToPay reports whether that time has ended: a duty, so by the later of the clocks.
func tooLateToPay(in Decision) bool {
	return dutyTime(in.Obs.Escrow, in.Now).UnixMilli() > in.R.payUntil()*1000
}

// timeToOpen reports whether enough time would be left to pay. How many
// confirmations the escrow demands must be known for that.
func timeToOpen(in Decision) bool {
	return in.R.Bitcoin.Confirmations != 0 && !lp.DutySignToPay.TooLate(in.R.payUntil(), headOf(in.Obs.Escrow), in.Now)
}

// payable reports whether the user is to pay now: the escrow is open for good, Bitcoin shows
// no payment, none is under way, and there is time. A second payment would be lost, and
// so would one for an escrow that a reorganisation removes.
func payable(in Decision) bool {
	b := in.R.Bitcoin
	return fromBTCStatus(in) == statusOpen && in.Obs.Escrow.Value.Final && in.Obs.Received.Known() && isZero(b.TxID) && !in.R.Submission.pays() &&
		b.Address != "" && b.Sats != 0 && !tooLateToPay(in)
}

func fromBTCAsk(in Decision) Ask {
	r, obs := in.R, in.Obs
	var a Ask
	if r.Settled || r.Escrow == nil || r.Escrow.Real == nil || r.Bitcoin == nil {
		return a
	}
	if !obs.Escrow.Asked {
		a.Escrow = openingQuery(r, r.State == InCreated || r.State == InSoftExpired)
	}
	if txs := r.Submission.asked(); len(txs) > 0 && !obs.Txs.Asked {
		a.Txs = txs
	}
	b := r.Bitcoin
	if f := obs.Escrow; f.Known() && f.Value.State == chains.EscrowClaimed && b.Address == "" && !obs.Payout.Asked { // a recovered swap
		if id, ok := hashFromClaim(f.Value.Result); ok {
			a.Payout = &PayoutAsk{Escrow: *r.Escrow.Real, TxID: id, Confirmations: b.Confirmations}
		}
	}
	switch r.State {
	case InExpired, InCommitted, InConfirmed, InFailed:
	default:
		return a
	}
	if !obs.Received.Asked && b.Address != "" && b.Sats != 0 {
		a.Received = &ReceivedAsk{Address: b.Address, Sats: b.Sats}
	}
	tx, _ := deposit(in, b)
	waits := r.State == InExpired || r.State == InCommitted
	switch {
	case obs.Received.Known() && tx == nil && len(b.Tx) > 0 && !obs.Spends.Asked:
		a.Spends = inputsOf(b.Tx)
	case obs.Received.Known() && tx == nil && isZero(b.TxID) && len(b.Void) > 0 && !obs.Spends.Asked:
		a.Spends = inputsOf(b.Void)
	case obs.ETA.Asked || !waits:
	case tx != nil && tx.Confirmations < b.required():
		a.ETA = &ETAAsk{TxID: tx.ID, Confirmations: b.required()}
	case !obs.Received.Asked && !isZero(b.TxID): // most likely it still waits
		a.ETA = &ETAAsk{TxID: b.TxID, Confirmations: b.required()}
	}
	return a
}

func fromBTCFill(in Decision, next *Record) {
	if next.Escrow == nil || next.Bitcoin == nil {
		return
	}
	f := in.Obs.Escrow
	fillEscrowTxs(f, next.Escrow)
	fillSubmission(in, next)
	fillPayment(in, next)
	fillDeposit(in, next)
	// What the contract has accepted is the payment, whichever was seen.
	if f.Known() && f.Value.State == chains.EscrowClaimed {
		if id, ok := hashFromClaim(f.Value.Result); ok && next.Bitcoin.TxID != id {
			next.Bitcoin.TxID, next.Bitcoin.Vout = id, 0
		}
	}
	if in.Obs.Payout.Known() && in.Obs.Payout.Value.Proven {
		keepPayout(in, next)
		if !next.Terms.Input.Known() {
			next.Terms.Input.Raw = new(big.Int).SetUint64(next.Bitcoin.Sats)
		}
	}
	if f.Known() && f.Value.Final && (next.State == InClaimed && f.Value.State == chains.EscrowClaimed || next.State == InFailed && f.Value.State == chains.EscrowRefunded) {
		in.settle(next)
	}
}

// fromBTCEffects sends what the user signed: the opening, which stakes the deposit,
// only while the bitcoin can be paid after it. A payment that is not in the network yet is
// not sent if it would come too late: the LP would keep it.
func fromBTCEffects(in Decision) []Effect {
	var effects []Effect
	if !in.opens() || !lp.DutyOpenToPay.TooLate(in.R.payUntil(), headOf(in.Obs.Escrow), in.Now) {
		effects = sendNext(in, func(Decision) bool { return true })
	}
	if in.R.State == InCommitted && !tooLateToPay(in) && len(in.R.Bitcoin.Tx) > 0 {
		effects = append(effects, sendPayment(in)...)
	}
	return effects
}

func fromBTCView(in Decision) View {
	r := in.R
	row, _ := rowOf(fromBTCStates, r.State)
	v := View{Row: row}
	var e EscrowPart
	if r.Escrow != nil {
		e = *r.Escrow
	}
	setup := Step{Type: stepSetup, Chain: r.Chain, Title: "Open Bitcoin swap address", Description: "The user's transaction opens the escrow; then the address can be paid to.", Status: shownCompleted, SetupTx: e.InitTx}
	pay := Step{Type: stepPayment, Chain: onBitcoin, Title: "Bitcoin payment", Description: "The bitcoin is paid to the provider's address.", Status: shownInactive}
	settle := Step{Type: stepSettlement, Chain: r.Chain, Title: "Destination settlement", Description: "The tokens are paid out.", Status: shownInactive, InitTx: e.InitTx, SettleTx: e.ClaimTx}
	if r.Escrow == nil || r.Escrow.Real == nil || r.Bitcoin == nil {
		v.Steps = []Step{setup, pay, settle}
		return v
	}
	id := r.Bitcoin.TxID
	if !isZero(id) {
		pay.InitTx = id.String()
	}
	switch r.State {
	case InCreated:
		setup.Status = shownSoftExpired
		switch {
		case !openable(in):
		case !timeToOpen(in):
			v.Blocked = fault.New(fault.InvalidState, "too little time would be left to pay the bitcoin; create a new swap")
		default:
			setup.Status = shownAwaiting
			if !in.busy() {
				v.Action = in.again(openAction(r))
			}
		}
	case InSoftExpired:
		setup.Status = shownSoftExpired
		if in.Obs.Escrow.Known() && openable(in) && timeToOpen(in) && !in.busy() {
			v.Late = in.again(openAction(r))
		}
	case InQuoteOver:
		setup.Status = shownExpired
	case InCommitted, InExpired:
		fromBTCViewDeposit(in, &v, &pay)
	case InConfirmed:
		pay.Status = shownConfirmed
		fromBTCViewConfirmed(in, &v, &settle)
	case InClaimed:
		pay.Status, settle.Status = shownConfirmed, shownSettled
	case InFailed:
		if pay.Status, pay.Confirmations = depositShown(in); !in.Obs.Received.Known() || pay.Status == shownInactive || pay.Confirmations == nil {
			pay.Status, pay.Confirmations = shownExpired, nil
		}
		settle.Status = shownExpired
		if pay.Status != shownExpired {
			v.Blocked = fault.New(fault.InvalidState, "the provider took the escrow back before the payment was proven; only the provider can return the payment")
		}
	}
	if pay.Status == shownConfirmed {
		pay.Confirmations = &Confirmations{Current: int(r.Bitcoin.required()), Target: int(r.Bitcoin.required())}
		pay.SettleTx = pay.InitTx
	}
	if v.Blocked == nil && r.Problem != "" {
		v.Blocked = fault.New(fault.InvalidState, "%s", r.Problem)
	}
	v.Steps = []Step{setup, pay, settle}
	return v
}

// fromBTCViewDeposit shows the payment, or asks for it while it can still be made.
func fromBTCViewDeposit(in Decision, v *View, pay *Step) {
	r := in.R
	if pay.Status, pay.Confirmations = depositShown(in); pay.Status != shownInactive {
		v.Action = depositWait(in, *pay)
		return
	}
	pay.Status = shownAwaiting
	if r.State == InExpired {
		pay.Status = shownSoftExpired
	}
	switch {
	case payable(in):
		v.Action = &Pay{Name: "Deposit on Bitcoin", Description: "Pay exactly this amount to the address, in one output.", Chain: onBitcoin, To: r.Bitcoin.Address,
			Link: BitcoinLink(r.Bitcoin.Address, int64(r.Bitcoin.Sats)), Amount: tokens.NewAmount(new(big.Int).SetUint64(r.Bitcoin.Sats), tokens.BTC()),
			Fund: &Fund{Name: "Deposit on Bitcoin", Description: "Sign and submit the Bitcoin transaction."}}
	case fromBTCStatus(in) == statusOpen && !in.Obs.Escrow.Value.Final && !tooLateToPay(in):
		v.Action = &Wait{Name: "Bitcoin confirmations", Description: "Do not pay yet: the escrow is open, but a reorganisation could still remove it; the bitcoin can be paid once it is final.", ExpectedSeconds: 15, PollSeconds: 5}
	case in.Obs.Escrow.Known() && in.Obs.Escrow.Value.State == chains.EscrowNone:
		v.Blocked = errNotShown
	case pay.Status == shownAwaiting && !tooLateToPay(in) && r.Bitcoin.Address != "":
		v.Blocked = fault.New(fault.Upstream, "the chain or the Bitcoin backend is not responding; do not pay until it is known that the escrow is open and was not paid yet")
	}
}

// fromBTCViewConfirmed leaves the claim to others for a while, then to the user too.
func fromBTCViewConfirmed(in Decision, v *View, settle *Step) {
	r := in.R
	settle.Status = shownAwaitingManual
	if at := r.Bitcoin.ConfirmedAt; at != 0 && in.Now.Sub(at.Time()) <= automaticWindow {
		settle.Status = shownAwaitingAutomatic
		v.Action = &Wait{Name: "Automatic settlement", Description: "A watchtower settles the swap.", ExpectedSeconds: 10, PollSeconds: 5}
		return
	}
	tx, vout := deposit(in, r.Bitcoin)
	switch {
	case in.blind():
		v.Action, v.Blocked = (&Sign{For: actionClaim}).Delayed(), errBlind
	case in.busy():
	case !deposited(in):
		v.Action = (&Sign{For: actionClaim}).Delayed()
		v.Blocked = fault.New(fault.Upstream, "the Bitcoin backend does not show the payment with its confirmations at the moment")
	default:
		v.Action = in.again(&Sign{Name: "Settle manually", Description: "Sign and submit the transactions that claim the tokens.", For: actionClaim, AnySigner: true,
			Plan: chains.Plan{SwapID: r.ID, Seed: r.Seed, Signer: r.Signer, Steps: []chains.Step{{Kind: chains.StepClaimBitcoin, Escrow: *r.Escrow.Real,
				Payment: &chains.Payment{TxID: tx.ID, Vout: vout, Confirmations: uint16(r.Bitcoin.required()), Condition: r.Bitcoin.Condition()}}}}})
	}
}
