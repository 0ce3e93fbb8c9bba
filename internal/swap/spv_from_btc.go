package swap

import (
	"slices"
	"time"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/fault"
)

var spvStates = []StateRow{
	{Number: SPVClosed, Name: "CLOSED", Description: "The vault closed because of this withdrawal; the payout is lost.", Finished: true, Failed: true, Watched: true, Every: settleAfter},
	{Number: SPVFailed, Name: "FAILED", Description: "An input of the Bitcoin transaction was spent by another transaction.", Finished: true, Failed: true, Watched: true, Every: 10 * time.Minute},
	{Number: SPVDeclined, Name: "DECLINED", Description: "The provider refused to sign; it may still hold the signed transaction until one of its inputs is spent elsewhere.", Finished: true, Failed: true, Pending: true, Watched: true, Every: time.Minute},
	{Number: SPVExpired, Name: "QUOTE_EXPIRED", Description: "The quote expired.", Finished: true, Expired: true, Hidden: true, Watched: true, Every: 10 * time.Minute},
	{Number: SPVSoftExpired, Name: "QUOTE_SOFT_EXPIRED", Description: "The quote expired; the provider may still broadcast a signed transaction that it holds.", Pending: true, Watched: true, Every: 30 * time.Second},
	{Number: SPVCreated, Name: "CREATED", Description: "The quote is ready; the user signs the Bitcoin transaction.", Pending: true, Watched: true, Every: 30 * time.Second},
	{Number: SPVSigned, Name: "SIGNED", Description: "The signed transaction is being sent to the provider.", Pending: true, Watched: true, Every: 10 * time.Second},
	{Number: SPVPosted, Name: "POSTED", Description: "The provider has the signed transaction and is broadcasting it.", Pending: true, Watched: true, Every: 10 * time.Second},
	{Number: SPVBroadcasted, Name: "BROADCASTED", Description: "The Bitcoin transaction is waiting for confirmations.", Pending: true, Watched: true, Every: 30 * time.Second},
	{Number: SPVFronted, Name: "FRONTED", Description: "The payout was advanced.", Finished: true, Success: true, Watched: true, Every: time.Minute},
	{Number: SPVConfirmed, Name: "BTC_TX_CONFIRMED", Description: "The Bitcoin transaction is confirmed; waiting for the vault to pay.", Pending: true, Watched: true, Every: 10 * time.Second},
	{Number: SPVClaimed, Name: "CLAIMED", Description: "The vault paid.", Finished: true, Success: true, Watched: true, Every: settleAfter},
}

// spvRest is how long a signed transaction that never appears is watched. It
// stays valid after that too, so a status request still looks for it.
const spvRest = 14 * 24 * time.Hour

// spvFinal is how long an input must have been spent otherwise until no
// reorganisation is expected to undo that: some 144 blocks.
const spvFinal = 24 * time.Hour

// newSPVFromBTC returns the type SPV_VAULT_FROM_BTC: one Bitcoin transaction
// pays the LP and tells a vault on the smart chain to pay the user.
func newSPVFromBTC() *Flow {
	return &Flow{
		Type:    SPVFromBTC,
		States:  spvStates,
		Moves:   spvMoves(),
		Ask:     spvAsk,
		Fill:    spvFill,
		Effects: spvEffects,
		View:    spvView,
		Unpaid:  spvUnpaid,
	}
}

// spvUnpaid reports whether no transaction was handed to the LP. One that was may be
// sent whenever the LP likes, so that such a swap is not over.
func spvUnpaid(r *Record) bool {
	return (r.State == SPVCreated || r.State == SPVSoftExpired) && !r.Posted() && !r.declined()
}

func (r *Record) Posted() bool { return r.Bitcoin != nil && r.Bitcoin.Posted }

// spvKnown reports whether the backend knows our transaction, and its confirmations.
func spvKnown(in Decision) (confirmations uint32, known bool) {
	f := in.Obs.Payment
	if !f.Known() || f.Value == nil {
		return 0, false
	}
	return f.Value.Confirmations, true
}

// spvDead reports whether the transaction is not found and an input was spent by
// another one in a block.
func spvDead(in Decision) bool {
	f := in.Obs.Payment
	return f.Known() && f.Value == nil && in.Obs.Spends.Known() &&
		Conflict(in.R.Bitcoin.TxID, in.Obs.Spends.Value) == ProspectDead
}

// spvMoves are the rows of the table. What an LP declined, and what was not handed to it,
// leaves the quote open (spv_declined.go).
func spvMoves() []Move {
	return slices.Concat(spvVaultMoves(), spvPaymentMoves(), spvQuoteMoves(), spvSubmitMoves())
}

// spvVaultMoves follow what the vault did with the withdrawal.
func spvVaultMoves() []Move {
	withdrawal := func(want chains.WithdrawalState) func(Decision) bool {
		return func(in Decision) bool {
			f := in.Obs.Withdrawal
			return f.Known() && f.Value.State == want
		}
	}
	anew := func(want chains.WithdrawalState) func(Decision) bool {
		return func(in Decision) bool {
			return withdrawal(want)(in) && in.R.takesBack(in.Obs.Withdrawal.Value.Head)
		}
	}
	undone := func(in Decision, next *Record) {
		next.Vault.ClaimTx, next.Vault.FrontTx = in.Obs.Withdrawal.Value.ClaimTx, in.Obs.Withdrawal.Value.FrontTx
	}
	after := []int{SPVFailed, SPVExpired, SPVSoftExpired, SPVDeclined, SPVSigned, SPVPosted, SPVBroadcasted, SPVConfirmed}
	return []Move{
		{From: append([]int{SPVFronted}, after...), To: SPVClaimed, Why: "the vault paid", If: withdrawal(chains.WithdrawalClaimed)},
		{From: after, To: SPVFronted, Why: "the payout was advanced", If: withdrawal(chains.WithdrawalFronted)},
		{From: after, To: SPVClosed, Why: "the vault closed", If: withdrawal(chains.WithdrawalClosed)},
		{From: []int{SPVClosed}, To: SPVClaimed, Why: "the vault paid, and did not close", If: anew(chains.WithdrawalClaimed)},
		{From: []int{SPVClaimed, SPVClosed}, To: SPVFronted, Why: "a reorganisation undid the claim, the payout was advanced", If: anew(chains.WithdrawalFronted), Do: undone},
		{From: []int{SPVClaimed}, To: SPVClosed, Why: "the vault closed, and did not pay", If: anew(chains.WithdrawalClosed), Do: undone},
		{From: []int{SPVFronted}, To: SPVClosed, Why: "the vault closed, and the payout was not advanced", If: func(in Decision) bool {
			return anew(chains.WithdrawalClosed)(in) && in.Obs.Withdrawal.Value.FrontTx == ""
		}, Do: undone},
		{From: []int{SPVClaimed, SPVClosed, SPVFronted}, To: SPVConfirmed, Why: "a reorganisation undid what the vault did", Undoes: true, If: anew(chains.WithdrawalNone), Do: undone},
	}
}

// spvPaymentMoves follow the Bitcoin transaction.
func spvPaymentMoves() []Move {
	seen := func(in Decision) bool {
		_, known := spvKnown(in)
		return known
	}
	enough := func(in Decision) bool {
		n, known := spvKnown(in)
		return known && n >= in.R.Bitcoin.Confirmations
	}
	under := []int{SPVSoftExpired, SPVDeclined, SPVSigned, SPVPosted}
	return []Move{
		{From: append([]int{SPVBroadcasted, SPVExpired}, under...), To: SPVConfirmed, Why: "the Bitcoin transaction is confirmed", If: enough, Do: func(in Decision, next *Record) {
			if next.Bitcoin.ConfirmedAt == 0 {
				next.Bitcoin.ConfirmedAt = At(in.Now)
			}
		}},
		{From: append([]int{SPVExpired}, under...), To: SPVBroadcasted, Why: "the Bitcoin transaction was seen", If: seen},
		{From: []int{SPVConfirmed}, To: SPVBroadcasted, Why: "a reorganisation reduced the confirmations", If: func(in Decision) bool { return seen(in) && !enough(in) },
			Do: func(in Decision, next *Record) { next.Bitcoin.ConfirmedAt = 0 }},
		spvSentAfterAll(),
		spvNotHandedOver(),
		spvLeavesOpen(),
		{From: under, To: SPVExpired, Why: "an input was spent by another transaction", If: spvDead},
		{From: []int{SPVBroadcasted, SPVConfirmed}, To: SPVFailed, Why: "an input was spent by another transaction", If: spvDead},
		{From: []int{SPVFailed}, To: SPVBroadcasted, Why: "a reorganisation brought the transaction back", If: seen},
	}
}

// spvQuoteMoves follow the provider's answer to a signed transaction, and the quote's time.
func spvQuoteMoves() []Move {
	return []Move{
		{From: []int{SPVSigned, SPVSoftExpired}, To: SPVPosted, Why: "the provider accepted the transaction", On: OnOutcome, If: func(in Decision) bool {
			o := in.Input.(Outcome)
			return o.Effect == PostPSBT && o.Done
		}},
		{From: []int{SPVSigned, SPVSoftExpired}, To: SPVDeclined, Why: "the provider refused the transaction", On: OnOutcome, If: func(in Decision) bool {
			o := in.Input.(Outcome)
			return o.Effect == PostPSBT && in.R.Tried[string(PostPSBT)].Outcome == Refused
		}, Do: func(in Decision, next *Record) { next.Problem = in.Input.(Outcome).Reason }},
		{From: []int{SPVSigned, SPVPosted}, To: SPVSoftExpired, Why: "the quote expired and the transaction was not seen", If: func(in Decision) bool {
			f := in.Obs.Payment
			unseen := !in.R.Posted() || f.Known() && f.Value == nil
			return unseen && (in.R.Vault.Deadline.Passed(in.Now) || in.R.State == SPVSigned && in.R.Expiry.Passed(in.Now))
		}},
		spvStaysDeclined(),
		{From: []int{SPVCreated}, To: SPVSoftExpired, Why: "the quote expired", If: func(in Decision) bool { return in.R.Expiry.Passed(in.Now) }},
		{From: []int{SPVSoftExpired}, To: SPVExpired, Why: "the quote expired unused", If: func(in Decision) bool {
			return !in.R.Posted() && in.R.Vault.Deadline.Passed(in.Now)
		}},
	}
}

// spvSubmitMoves follow what the user signed.
func spvSubmitMoves() []Move {
	return []Move{
		{From: []int{SPVCreated, SPVSoftExpired}, To: SPVSigned, Why: "the user signed", On: OnSubmit, If: func(in Decision) bool {
			sub := in.Input.(Submit)
			return sub.Action == ActionFund && sub.PSBT != nil && !in.R.Posted() && !in.R.Vault.Deadline.Passed(in.Now) && (sub.ByOwner || !in.R.declined())
		}, Do: spvSigned},
		{From: []int{SPVSigned}, To: stay, Why: "the owner's transaction takes the place of a stranger's", On: OnSubmit, If: func(in Decision) bool {
			sub := in.Input.(Submit)
			return sub.Action == ActionFund && sub.PSBT != nil && sub.ByOwner && spvReplaceable(in.R) && !in.R.Vault.Deadline.Passed(in.Now)
		}, Do: spvSigned},
		{From: []int{SPVConfirmed}, To: stay, Why: "the user signed the claim", On: OnSubmit, If: func(in Decision) bool {
			sub := in.Input.(Submit)
			return sub.Action == actionClaim && in.takes(sub) && !spvUnproven(in)
		}, Do: accept},
	}
}

// spvUnproven reports whether a claim would fail, and cost its fee: Bitcoin does not show
// the transaction with its confirmations.
func spvUnproven(in Decision) bool {
	n, _ := spvKnown(in)
	return in.Obs.Payment.Known() && n < in.R.Bitcoin.Confirmations
}

func spvAsk(in Decision) Ask {
	r, obs := in.R, in.Obs
	var a Ask
	if r.State == SPVCreated && !obs.Taken.Asked && !r.Expiry.Reached(in.Now) {
		if vault, err := bitcoin.ParseOutPoint(r.Vault.UTXO); err == nil {
			a.Taken = &vault
		}
	}
	if r.declined() && !r.Posted() && !obs.Spends.Asked {
		if vault, err := bitcoin.ParseOutPoint(r.Vault.UTXO); err == nil { // which every transaction of the swap spends
			a.Spends = []bitcoin.OutPoint{vault}
		}
	}
	if resting := r.Settled && r.State != SPVSoftExpired; resting || !r.Posted() {
		return a
	}
	if txs := r.Submission.asked(); len(txs) > 0 && !obs.Txs.Asked {
		a.Txs = txs
	}
	switch r.State {
	case SPVFronted, SPVClaimed, SPVClosed:
		if !obs.Withdrawal.Asked {
			a.Withdrawal = spvWithdrawal(r)
		}
		return a
	}
	if !obs.Payment.Asked {
		id := r.Bitcoin.TxID
		a.Payment = &id
	}
	look := r.State == SPVBroadcasted || r.State == SPVConfirmed
	if look && !obs.Vault.Asked {
		a.Vault = &chains.VaultID{Owner: r.Vault.Owner, ID: r.Vault.VaultID}
	}
	if obs.Payment.Known() {
		switch tx := obs.Payment.Value; {
		case tx == nil && !obs.Spends.Asked:
			a.Spends = inputsOf(r.Bitcoin.Tx)
		case tx != nil && tx.Confirmations < r.Bitcoin.Confirmations && !obs.ETA.Asked:
			a.ETA = &ETAAsk{TxID: r.Bitcoin.TxID, Confirmations: r.Bitcoin.Confirmations}
		}
	} else if r.State == SPVBroadcasted && !obs.Payment.Asked { // it was seen: most likely it still waits
		a.ETA = &ETAAsk{TxID: r.Bitcoin.TxID, Confirmations: r.Bitcoin.Confirmations}
	}
	_, hinted := in.Input.(Look)
	if (hinted || look && obs.Vault.Asked && spvMoved(r, obs.Vault)) && !obs.Withdrawal.Asked {
		a.Withdrawal = spvWithdrawal(r)
	}
	return a
}

// spvMoved reports whether the vault may have processed our withdrawal: it is closed, or
// no longer where it was when we signed, or the nodes do not agree on where it is. Of a
// withdrawal they say in which block it was, so that one that makes it up is found out.
func spvMoved(r *Record, f Fact[chains.VaultFact]) bool {
	return f.Err != nil || !f.Value.Vault.Open || f.Value.Vault.UTXO.String() != r.Vault.UTXO
}

func spvWithdrawal(r *Record) *chains.WithdrawalQuery {
	return &chains.WithdrawalQuery{Vault: chains.VaultID{Owner: r.Vault.Owner, ID: r.Vault.VaultID}, Recipient: r.Terms.Recipient, TxID: r.Bitcoin.TxID, From: r.From}
}

func spvFill(in Decision, next *Record) {
	fillSubmission(in, next)
	if f := in.Obs.Withdrawal; f.Known() {
		if f.Value.FrontTx != "" {
			next.Vault.FrontTx = f.Value.FrontTx
		}
		if f.Value.ClaimTx != "" {
			next.Vault.ClaimTx = f.Value.ClaimTx
		}
		if f.Value.Final && (next.State == SPVClaimed && f.Value.State == chains.WithdrawalClaimed || next.State == SPVClosed && f.Value.State == chains.WithdrawalClosed) {
			in.settle(next)
		}
	}
	switch {
	case next.State == SPVFronted: // the user is paid; the vault's claim is the fronter's concern
		f := in.Obs.Withdrawal
		next.Settled = next.Settled || f.Known() && f.Value.Final && next.Ended != 0 && in.Now.Sub(next.Ended.Time()) > spvRest
	case next.State == SPVSoftExpired && next.Posted():
		next.Settled = in.Now.Sub(next.CreatedAt.Time()) > spvRest
	case next.State == SPVExpired && !next.Posted(): // nothing can come of it
		next.Settled = true
	case next.State == SPVExpired || next.State == SPVFailed:
		since := in.Now.Sub(next.Ended.Time())
		next.Settled = next.Settled || next.Ended != 0 && (since > spvRest || since > spvFinal && spvDead(in))
	}
	if f := in.Obs.Payment; f.Known() && f.Value != nil && len(next.Bitcoin.SenderScript) == 0 && len(f.Value.Prevouts) > 1 && f.Value.Prevouts[1] != nil {
		next.Bitcoin.SenderScript = f.Value.Prevouts[1].PkScript
	}
}

func spvEffects(in Decision) []Effect {
	effects := sendNext(in, func(Decision) bool { return true })
	post := in.R.Tried[string(PostPSBT)]
	if handing := in.R.State == SPVSigned || in.R.State == SPVSoftExpired && in.R.Posted(); handing && post.Outcome == "" && !in.R.Vault.Deadline.Passed(in.Now) && spvInputsAreThere(in) {
		effects = append(effects, Effect{Kind: PostPSBT, Mark: true})
	}
	return effects
}

// spvVaultTaken reports whether another transaction spends the vault's output already, which
// that of a quote spends for which nothing was signed.
func spvVaultTaken(in Decision) bool {
	return in.Obs.Taken.Known() && spentElsewhere(in.R.Bitcoin.TxID, []bitcoin.Spend{in.Obs.Taken.Value})
}

// ErrVaultTaken says that a vault swap came second: of several quotes for the same output
// of a vault the first signed one takes it.
var ErrVaultTaken = fault.New(fault.InvalidState, "the output of the vault that this quote is for is already spent, by another swap most likely; create a new swap")

func spvFund() *Fund {
	return &Fund{Name: "Deposit on Bitcoin", Description: "Sign and submit the Bitcoin transaction.", Vault: true}
}

func spvView(in Decision) View {
	r := in.R
	row, _ := rowOf(spvStates, r.State)
	v := View{Row: row}
	pay := Step{Type: stepPayment, Chain: onBitcoin, Title: "Bitcoin payment", Description: "The user's Bitcoin transaction pays the provider and tells the vault where to pay out."}
	settle := Step{Type: stepSettlement, Chain: r.Chain, Title: "Destination settlement", Description: "The vault pays out the tokens.", Status: shownInactive}
	if r.Posted() {
		pay.InitTx = r.Bitcoin.TxID.String()
	}
	settle.InitTx = r.Vault.FrontTx
	if settle.InitTx == "" {
		settle.InitTx = r.Vault.ClaimTx
	}
	settle.SettleTx = settle.InitTx
	switch r.State {
	case SPVCreated:
		pay.Status = shownAwaiting
		if r.Expiry.Reached(in.Now) {
			pay.Status = shownSoftExpired
		} else {
			fund := spvFund()
			if r.Problem != "" {
				fund.Description = "The last transaction was not taken. Sign and submit another one."
			}
			v.Action = fund
			if spvVaultTaken(in) {
				v.Action, v.Blocked = nil, ErrVaultTaken
			}
		}
	case SPVSoftExpired:
		pay.Status, pay.Confirmations = spvShown(in, shownSoftExpired)
		if !r.Posted() && !r.Vault.Deadline.Passed(in.Now) {
			v.Late = spvFund()
		}
	case SPVSigned, SPVPosted:
		pay.Status, pay.Confirmations = spvShown(in, shownAwaiting)
		v.Action = spvWait(in, pay)
		if spvReplaceable(r) {
			v.Late = spvFund()
		}
	case SPVBroadcasted:
		pay.Status, pay.Confirmations = spvShown(in, shownReceived)
		v.Action = spvWait(in, pay)
	case SPVFronted:
		pay.Status, pay.Confirmations = spvShown(in, shownReceived)
		settle.Status = shownSettled
	case SPVConfirmed:
		pay.Status = shownConfirmed
		spvViewConfirmed(in, &v, &settle)
	case SPVClaimed:
		pay.Status, settle.Status = shownConfirmed, shownSettled
	case SPVClosed:
		pay.Status, settle.Status = shownConfirmed, shownExpired
	default:
		pay.Status = shownExpired
	}
	if pay.Status == shownConfirmed {
		target := int(r.Bitcoin.Confirmations)
		pay.Confirmations = &Confirmations{Current: target, Target: target}
		pay.SettleTx = pay.InitTx
	}
	v.Steps = []Step{pay, settle}
	return v
}

// spvShown is the status of the payment: what Bitcoin shows of it, and otherwise if Bitcoin
// shows nothing.
func spvShown(in Decision, otherwise StepStatus) (StepStatus, *Confirmations) {
	n, known := spvKnown(in)
	switch {
	case !known:
		return otherwise, nil
	case n >= in.R.Bitcoin.Confirmations:
		return shownConfirmed, nil
	}
	c := &Confirmations{Current: int(n), Target: int(in.R.Bitcoin.Confirmations), ETASeconds: -1}
	if in.Obs.ETA.Known() {
		c.ETASeconds = in.Obs.ETA.Value
	}
	return shownReceived, c
}

func spvWait(in Decision, pay Step) Action {
	w := &Wait{Name: "Bitcoin confirmations", Description: "The Bitcoin transaction needs confirmations.", ExpectedSeconds: -1, PollSeconds: 10}
	if pay.Status == shownReceived && in.Obs.ETA.Known() {
		w.ExpectedSeconds = in.Obs.ETA.Value
	}
	return w
}

// spvViewConfirmed leaves the claim to watchtowers for a while, then to the user too.
func spvViewConfirmed(in Decision, v *View, settle *Step) {
	r := in.R
	settle.Status = shownAwaitingManual
	if at := r.Bitcoin.ConfirmedAt; at != 0 && in.Now.Sub(at.Time()) <= automaticWindow {
		settle.Status = shownAwaitingAutomatic
		v.Action = &Wait{Name: "Automatic settlement", Description: "A watchtower settles the swap.", ExpectedSeconds: 10, PollSeconds: 5}
	} else if in.blind() {
		v.Action, v.Blocked = (&Sign{For: actionClaim}).Delayed(), errBlind
	} else if spvUnproven(in) {
		v.Action = (&Sign{For: actionClaim}).Delayed()
		v.Blocked = fault.New(fault.Upstream, "the Bitcoin backend does not show the transaction with its confirmations at the moment")
	} else if !in.busy() {
		v.Action = in.again(&Sign{Name: "Settle manually", Description: "Sign and submit the transactions that make the vault pay.", For: actionClaim, AnySigner: true,
			Plan: chains.Plan{SwapID: r.ID, Seed: r.Seed, Signer: r.Signer, Steps: []chains.Step{{Kind: chains.StepVaultClaim, Vault: &chains.VaultPayment{Owner: r.Vault.Owner, ID: r.Vault.VaultID, TxID: r.Bitcoin.TxID}}}}})
	}
}
