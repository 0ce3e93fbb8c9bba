package swap

import (
	"time"

	"github.com/btcsuite/btcd/chaincfg/chainhash"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/internal/bigs"
	"github.com/swapper-go/swapper/internal/lp"
	"github.com/swapper-go/swapper/tokens"
)

// outgoing is what TO_BTC and TO_BTCLN do differently.
type outgoing struct {
	typ   Type
	chain string // destination
	// id is what the LP knows the swap by.
	id func(r *Record) string
	// proof makes the question whether what the LP presents pays the
	// destination; nil if it presents nothing.
	proof func(in Decision) *PayoutAsk
	// keep stores a proven payout.
	keep func(in Decision, next *Record)
	// fromChain stores what the claim shows of the payout.
	fromChain func(result []byte, next *Record)
	// output names the payout in the steps.
	output func(r *Record) string
}

func outgoingFlow(o outgoing) *Flow {
	return &Flow{
		Type:    o.typ,
		States:  outgoingStates,
		Moves:   o.moves(),
		Ask:     o.ask,
		Fill:    o.fill,
		Effects: func(in Decision) []Effect { return sendNext(in, func(Decision) bool { return false }) },
		View:    o.view,
		Unpaid: func(r *Record) bool {
			return (r.State == OutCreated || r.State == OutSoftExpired) && !r.mayHavePaid()
		},
		NotPaid: notOpened,
	}
}

var outgoingStates = []StateRow{
	{Number: OutRefunded, Name: "REFUNDED", Description: "The provider did not pay; the tokens were refunded.", Finished: true, Failed: true, Watched: true, Every: settleAfter},
	{Number: OutExpired, Name: "QUOTE_EXPIRED", Description: "The quote expired unused.", Finished: true, Expired: true, Hidden: true, Watched: true, Every: time.Hour},
	{Number: OutSoftExpired, Name: "QUOTE_SOFT_EXPIRED", Description: "The quote expired; a transaction already sent may still open the swap.", Pending: true, Watched: true, Every: 10 * time.Second},
	{Number: OutCreated, Name: "CREATED", Description: "The quote is ready; the user's transaction opens the swap.", Pending: true, Watched: true, Every: 10 * time.Second},
	{Number: OutCommitted, Name: "COMMITED", Description: "The swap is open; waiting for the provider to pay.", Pending: true, Watched: true, Every: 5 * time.Second},
	{Number: OutSoftClaimed, Name: "SOFT_CLAIMED", Description: "The provider has proven its payment, and the user has nothing to do: the swap ends once a payment on Bitcoin has its confirmations and the provider has claimed.", Pending: true, Watched: true, Every: 10 * time.Second},
	{Number: OutClaimed, Name: "CLAIMED", Description: "The provider paid and claimed the escrow.", Finished: true, Success: true, Watched: true, Every: settleAfter},
	{Number: OutRefundable, Name: "REFUNDABLE", Description: "The provider did not pay; the user can claim a refund.", Pending: true, Watched: true, Every: 10 * time.Second},
}

func (o outgoing) status(in Decision) chainStatus {
	return escrowStatus(in.Obs.Escrow, in.R.Escrow.Real, true, in.Now)
}

func (o outgoing) moves() []Move {
	is, anew := statusGuards(o.status)
	unopened := []int{OutExpired, OutSoftExpired, OutCreated}
	unfinished := append([]int{OutCommitted, OutSoftClaimed, OutRefundable}, unopened...)
	return []Move{
		{From: unfinished, To: OutClaimed, Why: "the escrow was claimed", If: is(statusPaid)},
		{From: unfinished, To: OutRefunded, Why: "the escrow was refunded", If: is(statusTakenBack)},
		{From: []int{OutRefunded}, To: OutClaimed, Why: "the escrow was claimed, not refunded", If: anew(statusPaid), Do: forgetEnd},
		{From: []int{OutClaimed}, To: OutRefunded, Why: "the escrow was refunded, not claimed", If: anew(statusTakenBack), Do: forgetEnd},
		{From: unopened, To: OutRefundable, Why: "the escrow is open and has expired", If: is(statusRefundable)},
		{From: unopened, To: OutCommitted, Why: "the escrow is open", If: is(statusOpen), Do: opens},
		{From: []int{OutClaimed, OutRefunded}, To: OutCommitted, Why: "a reorganisation opened the escrow again", If: anew(statusOpen, statusRefundable), Do: forgetEnd},
		{From: []int{OutClaimed, OutRefunded}, To: OutSoftExpired, Why: "a reorganisation removed the escrow", Undoes: true, If: anew(statusNotOpen, statusExpired), Do: forgetEnd},
		{From: []int{OutCommitted, OutSoftClaimed, OutRefundable}, To: OutSoftExpired, Why: "a reorganisation removed the escrow", Undoes: true, If: anew(statusNotOpen, statusExpired)},
		{From: []int{OutCommitted, OutSoftClaimed, OutRefundable}, To: OutExpired, Why: "the chain has not shown the escrow for long", If: func(in Decision) bool {
			return is(statusExpired)(in) && rested(in)
		}},
		{From: []int{OutCommitted, OutSoftClaimed}, To: OutRefundable, Why: "the escrow has expired", If: func(in Decision) bool {
			s := o.status(in)
			return s == statusRefundable || s == statusUnknown && mayRefund(in.R.Escrow.Real, in.Obs.Escrow, in.Now)
		}},
		{From: []int{OutCommitted, OutSoftClaimed}, To: OutRefundable, Why: "the provider authorized the refund", If: func(in Decision) bool {
			return in.Obs.Refund.Known() && in.Obs.LP.Known() && in.Obs.LP.Value.Auth != nil
		}, Do: func(in Decision, next *Record) { next.Escrow.Refund = in.Obs.LP.Value.Auth }},
		{From: []int{OutCommitted}, To: OutSoftClaimed, Why: "the provider has proven its payment", If: func(in Decision) bool {
			return in.Obs.Payout.Known() && in.Obs.Payout.Value.Proven
		}},
		{From: []int{OutSoftExpired, OutCreated}, To: OutExpired, Why: "the authorization expired and the escrow was never opened", If: neverOpened(o.status), Do: endOpening},
		{From: []int{OutCreated}, To: OutSoftExpired, Why: "the quote expired", If: quoteOver},

		{From: []int{OutCreated, OutSoftExpired}, To: stay, Why: "the user signed", On: OnSubmit, If: mayOpen, Do: accept},
		{From: []int{OutRefundable}, To: stay, Why: "the user signed the refund", On: OnSubmit, If: func(in Decision) bool {
			sub := in.Input.(Submit)
			return sub.Action == ActionRefund && in.takes(sub)
		}, Do: accept},
	}
}

// The values of [Submit.Action].
const (
	ActionInit   = "init"
	ActionRefund = "refund"
	actionClaim  = "claim"
	// actionLastClaim is a claim of which its user was told that it may be lost.
	actionLastClaim = "last claim"
	ActionFund      = "fund"
)

func (o outgoing) ask(in Decision) Ask {
	r, obs := in.R, in.Obs
	var a Ask
	if r.Settled || r.Escrow == nil || r.Escrow.Real == nil {
		return a
	}
	if !obs.Escrow.Asked {
		a.Escrow = openingQuery(r, r.State == OutCreated || r.State == OutSoftExpired)
	}
	if q := payingRival(r); q != nil && !obs.Rival.Asked {
		a.Rival = q
	}
	if txs := r.Submission.asked(); len(txs) > 0 && !obs.Txs.Asked {
		a.Txs = txs
	}
	if o.wantsLP(in) && !obs.LP.Asked {
		a.LP = &lp.StatusQuery{URL: r.LPURL(), Endpoint: lp.GetRefundAuthorization, ID: o.id(r), Sequence: bigs.OrZero(r.Escrow.Real.Sequence)}
	}
	if obs.LP.Known() {
		s := obs.LP.Value
		if s.Code == lp.CodeRefund && s.Auth != nil && !obs.Refund.Asked {
			a.Refund = &RefundAsk{Escrow: *r.Escrow.Real, Auth: *s.Auth}
		}
		if s.Code == lp.CodePaid && !obs.Payout.Asked {
			a.Payout = o.proof(in)
		}
	}
	return a
}

// wantsLP reports whether the LP is asked: while it is to pay, and while a
// refund depends on its word.
func (o outgoing) wantsLP(in Decision) bool {
	if in.R.LP.URL == "" {
		return false
	}
	switch in.R.State {
	case OutCommitted, OutSoftClaimed:
		return !mayRefund(in.R.Escrow.Real, in.Obs.Escrow, in.Now)
	case OutRefundable:
		return !mayRefund(in.R.Escrow.Real, in.Obs.Escrow, in.Now) && !usable(in.R.Escrow.Refund, in.Now)
	}
	return false
}

// usable reports whether a refund authorisation is stored and good for long
// enough to be signed and sent.
func usable(a *chains.Auth, now time.Time) bool {
	return a != nil && a.Timeout-now.Unix() >= int64(chains.AuthGrace/time.Second)
}

func (o outgoing) fill(in Decision, next *Record) {
	if next.Escrow == nil {
		return
	}
	f := in.Obs.Escrow
	fillEscrowTxs(f, next.Escrow)
	fillSubmission(in, next)
	if in.Obs.Payout.Known() && in.Obs.Payout.Value.Proven {
		o.keep(in, next)
	}
	// What the contract has accepted is the payment, whatever else the provider shows.
	if f.Known() && f.Value.State == chains.EscrowClaimed {
		o.fromChain(f.Value.Result, next)
	}
	if next.State == OutRefundable && in.Obs.Refund.Known() && in.Obs.LP.Known() {
		next.Escrow.Refund = in.Obs.LP.Value.Auth
	}
	if f.Known() && f.Value.Final && (next.State == OutClaimed && f.Value.State == chains.EscrowClaimed || next.State == OutRefunded && f.Value.State == chains.EscrowRefunded) {
		in.settle(next)
	}
}

func (o outgoing) view(in Decision) View {
	r := in.R
	row, _ := rowOf(outgoingStates, r.State)
	v := View{Row: row}
	valid := openable(in)
	payment, settlement, refund := shownConfirmed, shownInactive, shownInactive
	switch r.State {
	case OutCreated:
		payment = shownSoftExpired
		if valid {
			payment = shownAwaiting
			switch {
			case in.rivalled():
				v.Blocked = ErrPaidElsewhere
			case !in.busy():
				v.Action = in.again(openAction(r))
			}
		}
	case OutSoftExpired:
		payment = shownSoftExpired
		if valid && in.Obs.Escrow.Known() && !in.busy() && !in.rivalled() {
			v.Late = in.again(openAction(r))
		}
	case OutExpired:
		payment = shownExpired
	case OutCommitted:
		settlement = shownWaitingLP
		v.Action = &Wait{Name: "Awaiting LP payout", Description: "The provider is paying the destination.", ExpectedSeconds: 10, PollSeconds: 5}
		v.Blocked = r.paidTwice()
	case OutSoftClaimed:
		settlement = shownSoftSettled
	case OutClaimed:
		settlement = shownSettled
	case OutRefundable:
		settlement, refund = shownExpired, shownAwaiting
		switch v.Action = o.refundAction(in); {
		case in.blind():
			v.Blocked = errBlind
		case in.Obs.Escrow.Known() && in.Obs.Escrow.Value.State == chains.EscrowNone:
			v.Blocked = errNotShown
		case v.Action == nil && !in.busy():
			v.Blocked = fault.New(fault.Upstream, "the provider has not authorized an early refund; without it, the refund is possible from %s",
				time.Unix(r.Escrow.Real.Expiry, 0).Add(chains.RefundGrace).UTC().Format(time.RFC3339))
		}
		if v.Blocked != nil {
			v.Action = (&Sign{For: ActionRefund}).Delayed()
		}
	case OutRefunded:
		settlement, refund = shownExpired, shownRefunded
	}
	var e EscrowPart
	if r.Escrow != nil {
		e = *r.Escrow
	}
	pay := Step{Type: stepPayment, Chain: r.Chain, Title: "Source payment", Description: "The tokens are locked in the swap's escrow.", Status: payment, InitTx: e.InitTx, SettleTx: e.ClaimTx}
	settle := Step{Type: stepSettlement, Chain: o.chain, Title: "Destination payout", Description: "The provider pays the destination.", Status: settlement}
	if settlement == shownSoftSettled || settlement == shownSettled {
		settle.InitTx = o.output(r)
	}
	if settlement == shownSettled {
		settle.SettleTx = o.output(r)
	}
	back := Step{Type: stepRefund, Chain: r.Chain, Title: "Source refund", Description: "If the provider does not pay, the tokens are refunded.", Status: refund, RefundTx: e.RefundTx}
	v.Steps = []Step{pay, settle, back}
	return v
}

// refundAction offers the refund that is possible now: after the timeout the user
// can take it without the LP, before that only with the LP's authorisation.
func (o outgoing) refundAction(in Decision) Action {
	r := in.R
	if in.busy() {
		return nil
	}
	kind := chains.StepRefundAuth
	switch {
	case mayRefund(r.Escrow.Real, in.Obs.Escrow, in.Now):
		kind = chains.StepRefund
	case !usable(r.Escrow.Refund, in.Now):
		return nil // wantsLP asks for a new one
	}
	return in.again(&Sign{Name: "Refund", Description: "Sign and submit the transactions that refund the tokens.", For: ActionRefund, Plan: refundPlan(r, kind), AnySigner: true})
}

// refundPlan takes the escrow back.
func refundPlan(r *Record, kind chains.StepKind) chains.Plan {
	step := chains.Step{Kind: kind, Escrow: *r.Escrow.Real}
	if kind == chains.StepRefundAuth {
		step.Auth = *r.Escrow.Refund
	}
	return chains.Plan{SwapID: r.ID, Seed: r.Seed, Signer: r.Signer, Steps: []chains.Step{step}}
}

func rowOf(rows []StateRow, number int) (StateRow, bool) {
	return (&Flow{States: rows}).State(number)
}

// hashFromClaim reads a Bitcoin transaction id, in internal order, from a claim's result.
func hashFromClaim(result []byte) (bitcoin.Hash, bool) {
	if len(result) != chainhash.HashSize {
		return bitcoin.Hash{}, false
	}
	return bitcoin.Hash(result), true
}

const (
	onBitcoin   = tokens.Bitcoin
	onLightning = tokens.Lightning
)
