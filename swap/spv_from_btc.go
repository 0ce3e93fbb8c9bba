package swap

import (
	"time"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/chains/bitcoin"
)

// States of SPV_VAULT_FROM_BTC (protocol: swap-flows-spv-and-core.md A2).
const (
	spvClosed      = -5
	spvFailed      = -4
	spvDeclined    = -3
	spvExpired     = -2
	spvSoftExpired = -1
	spvCreated     = 0
	spvSigned      = 1
	spvPosted      = 2
	spvBroadcasted = 3
	spvFronted     = 4
	spvConfirmed   = 5
	spvClaimed     = 6
)

var spvStates = []StateRow{
	{Number: spvClosed, Name: "CLOSED", Description: "The vault closed over this withdrawal; the payout is lost.", Finished: true, Failed: true, Watched: true, Every: settleAfter},
	{Number: spvFailed, Name: "FAILED", Description: "An input of the Bitcoin transaction was spent otherwise.", Finished: true, Failed: true, Watched: true, Every: 10 * time.Minute},
	{Number: spvDeclined, Name: "DECLINED", Description: "The provider refused to sign; it may still hold the signed transaction until one of its inputs is spent otherwise.", Finished: true, Failed: true, Pending: true, Watched: true, Every: time.Minute},
	{Number: spvExpired, Name: "QUOTE_EXPIRED", Description: "The quote expired.", Finished: true, Expired: true, Hidden: true, Watched: true, Every: 10 * time.Minute},
	{Number: spvSoftExpired, Name: "QUOTE_SOFT_EXPIRED", Description: "The quote expired; a signed transaction that the provider holds may still be sent.", Pending: true, Watched: true, Every: 30 * time.Second},
	{Number: spvCreated, Name: "CREATED", Description: "The quote is ready; the user signs the Bitcoin transaction.", Pending: true, Watched: true, Every: 30 * time.Second},
	{Number: spvSigned, Name: "SIGNED", Description: "The signed transaction is being handed to the provider.", Pending: true, Watched: true, Every: 10 * time.Second},
	{Number: spvPosted, Name: "POSTED", Description: "The provider has the signed transaction and sends it.", Pending: true, Watched: true, Every: 10 * time.Second},
	{Number: spvBroadcasted, Name: "BROADCASTED", Description: "The Bitcoin transaction is waiting for confirmations.", Pending: true, Watched: true, Every: 30 * time.Second},
	{Number: spvFronted, Name: "FRONTED", Description: "The payout was advanced.", Finished: true, Success: true, Watched: true, Every: time.Minute},
	{Number: spvConfirmed, Name: "BTC_TX_CONFIRMED", Description: "The Bitcoin transaction is confirmed; the vault is to pay.", Pending: true, Watched: true, Every: 10 * time.Second},
	{Number: spvClaimed, Name: "CLAIMED", Description: "The vault paid.", Finished: true, Success: true, Watched: true, Every: settleAfter},
}

// spvRest is how long a signed transaction that never appears is watched. It
// stays valid after that too, so whoever asks for the swap still has it looked for.
const spvRest = 14 * 24 * time.Hour

// spvFinal is how long an input must have been spent otherwise until no
// reorganisation is expected to undo that: some 144 blocks.
const spvFinal = 24 * time.Hour

// NewSPVFromBTC returns the type SPV_VAULT_FROM_BTC: one Bitcoin transaction
// pays the LP and tells a vault on the smart chain to pay the user.
func NewSPVFromBTC() *Flow {
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
	return (r.State == spvCreated || r.State == spvSoftExpired) && !r.posted()
}

func (r *Record) posted() bool { return r.Bitcoin != nil && r.Bitcoin.Posted }

// spvKnown reports whether the backend knows our transaction, and its confirmations.
func spvKnown(in In) (confirmations uint32, known bool) {
	f := in.Obs.Payment
	if !f.Known() || f.Value == nil {
		return 0, false
	}
	return f.Value.Confirmations, true
}

// spvDead reports whether the transaction is not found and an input was spent by
// another one in a block.
func spvDead(in In) bool {
	f := in.Obs.Payment
	return f.Known() && f.Value == nil && in.Obs.Spends.Known() &&
		bitcoin.Conflict(in.R.Bitcoin.TxID, in.Obs.Spends.Value) == bitcoin.ProspectDead
}

func spvMoves() []Move {
	withdrawal := func(want chains.WithdrawalState) func(In) bool {
		return func(in In) bool {
			f := in.Obs.Withdrawal
			return f.Known() && f.Value.State == want
		}
	}
	anew := func(want chains.WithdrawalState) func(In) bool {
		return func(in In) bool {
			return withdrawal(want)(in) && in.R.takesBack(in.Obs.Withdrawal.Value.Head)
		}
	}
	undone := func(in In, next *Record) {
		next.Vault.ClaimTx, next.Vault.FrontTx = in.Obs.Withdrawal.Value.ClaimTx, in.Obs.Withdrawal.Value.FrontTx
	}
	enough := func(in In) bool {
		n, known := spvKnown(in)
		return known && n >= in.R.Bitcoin.Confirmations
	}
	under := []int{spvSoftExpired, spvDeclined, spvSigned, spvPosted}
	after := []int{spvExpired, spvSoftExpired, spvDeclined, spvSigned, spvPosted, spvBroadcasted, spvConfirmed}
	return []Move{
		{From: append([]int{spvFronted}, after...), To: spvClaimed, Why: "the vault paid", If: withdrawal(chains.WithdrawalClaimed)},
		{From: after, To: spvFronted, Why: "the payout was advanced", If: withdrawal(chains.WithdrawalFronted)},
		{From: after, To: spvClosed, Why: "the vault closed", If: withdrawal(chains.WithdrawalClosed)},
		{From: []int{spvClosed}, To: spvClaimed, Why: "the vault paid, and did not close", If: anew(chains.WithdrawalClaimed)},
		{From: []int{spvClaimed, spvClosed}, To: spvFronted, Why: "a reorganisation undid the claim, the payout was advanced", If: anew(chains.WithdrawalFronted), Do: undone},
		{From: []int{spvClaimed}, To: spvClosed, Why: "the vault closed, and did not pay", If: anew(chains.WithdrawalClosed), Do: undone},
		{From: []int{spvFronted}, To: spvClosed, Why: "the vault closed, and nobody advanced the payout", If: func(in In) bool {
			return anew(chains.WithdrawalClosed)(in) && in.Obs.Withdrawal.Value.FrontTx == ""
		}, Do: undone},
		{From: []int{spvClaimed, spvClosed, spvFronted}, To: spvConfirmed, Why: "a reorganisation undid what the vault did", If: anew(chains.WithdrawalNone), Do: undone},

		{From: append([]int{spvBroadcasted, spvExpired}, under...), To: spvConfirmed, Why: "the Bitcoin transaction is confirmed", If: enough, Do: func(in In, next *Record) {
			if next.Bitcoin.ConfirmedAt == 0 {
				next.Bitcoin.ConfirmedAt = At(in.Now)
			}
		}},
		{From: append([]int{spvExpired}, under...), To: spvBroadcasted, Why: "the Bitcoin transaction was seen", If: func(in In) bool { _, known := spvKnown(in); return known }},
		{From: []int{spvConfirmed}, To: spvBroadcasted, Why: "a reorganisation took confirmations away", If: func(in In) bool {
			_, known := spvKnown(in)
			return known && !enough(in)
		}, Do: func(in In, next *Record) { next.Bitcoin.ConfirmedAt = 0 }},
		{From: under, To: spvExpired, Why: "an input was spent otherwise", If: spvDead},
		{From: []int{spvBroadcasted, spvConfirmed}, To: spvFailed, Why: "an input was spent otherwise", If: spvDead},
		{From: []int{spvFailed}, To: spvBroadcasted, Why: "a reorganisation brought the transaction back", If: func(in In) bool { _, known := spvKnown(in); return known }},

		{From: []int{spvSigned, spvSoftExpired}, To: spvPosted, Why: "the provider took the transaction", On: OnOutcome, If: func(in In) bool {
			o := in.Input.(Outcome)
			return o.Effect == PostPSBT && o.Done
		}},
		{From: []int{spvSigned, spvSoftExpired}, To: spvDeclined, Why: "the provider refused the transaction", On: OnOutcome, If: func(in In) bool {
			o := in.Input.(Outcome)
			return o.Effect == PostPSBT && in.R.Tried[string(PostPSBT)].Outcome == Refused
		}, Do: func(in In, next *Record) { next.Problem = in.Input.(Outcome).Reason }},
		{From: []int{spvSigned, spvPosted}, To: spvSoftExpired, Why: "the quote expired and the transaction was not seen", If: func(in In) bool {
			f := in.Obs.Payment
			unseen := !in.R.posted() || f.Known() && f.Value == nil
			return unseen && (in.R.Vault.Deadline.Passed(in.Now) || in.R.State == spvSigned && in.R.Expiry.Passed(in.Now))
		}},
		{From: []int{spvCreated}, To: spvSoftExpired, Why: "the quote expired", If: func(in In) bool { return in.R.Expiry.Passed(in.Now) }},
		{From: []int{spvSoftExpired}, To: spvExpired, Why: "the quote expired unused", If: func(in In) bool {
			return !in.R.posted() && in.R.Vault.Deadline.Passed(in.Now)
		}},

		{From: []int{spvCreated, spvSoftExpired}, To: spvSigned, Why: "the user signed", On: OnSubmit, If: func(in In) bool {
			sub := in.Input.(Submit)
			return sub.Action == ActionFund && sub.PSBT != nil && !in.R.posted() && !in.R.Vault.Deadline.Passed(in.Now)
		}, Do: func(in In, next *Record) {
			p := in.Input.(Submit).PSBT
			b := dup(next.Bitcoin)
			b.TxID, b.Tx, b.PSBT, b.Posted = p.TxID, p.Tx, p.Posted, true
			next.Bitcoin = b
		}},
		{From: []int{spvConfirmed}, To: Stay, Why: "the user signed the claim", On: OnSubmit, If: func(in In) bool {
			sub := in.Input.(Submit)
			return sub.Action == ActionClaim && in.takes(sub)
		}, Do: accept},
	}
}

func spvAsk(in In) Ask {
	r, obs := in.R, in.Obs
	var a Ask
	if resting := r.Settled && r.State != spvSoftExpired; resting || !r.posted() {
		return a
	}
	if txs := r.Submission.asked(); len(txs) > 0 && !obs.Txs.Asked {
		a.Txs = txs
	}
	switch r.State {
	case spvFronted, spvClaimed, spvClosed:
		if !obs.Withdrawal.Asked {
			a.Withdrawal = spvWithdrawal(r)
		}
		return a
	}
	if !obs.Payment.Asked {
		id := r.Bitcoin.TxID
		a.Payment = &id
	}
	look := r.State == spvBroadcasted || r.State == spvConfirmed
	if look && !obs.Vault.Asked {
		a.Vault = &chains.VaultID{Owner: r.Vault.Owner, ID: r.Vault.VaultID}
	}
	if obs.Payment.Known() {
		switch tx := obs.Payment.Value; {
		case tx == nil && !obs.Spends.Asked:
			a.Spends = inputsOf(r.Bitcoin.Tx)
		case tx != nil && tx.Confirmations < r.Bitcoin.Confirmations && !obs.Wait.Asked:
			a.Wait = &WaitAsk{TxID: r.Bitcoin.TxID, Confirmations: r.Bitcoin.Confirmations}
		}
	} else if r.State == spvBroadcasted && !obs.Payment.Asked { // it was seen: most likely it still waits
		a.Wait = &WaitAsk{TxID: r.Bitcoin.TxID, Confirmations: r.Bitcoin.Confirmations}
	}
	_, hinted := in.Input.(Look)
	if (hinted || look && obs.Vault.Known() && spvMoved(r, obs.Vault.Value.Vault)) && !obs.Withdrawal.Asked {
		a.Withdrawal = spvWithdrawal(r)
	}
	return a
}

// spvMoved reports whether the vault may have processed our withdrawal: it is
// closed, or no longer where it was when we signed.
func spvMoved(r *Record, v chains.Vault) bool {
	return !v.Open || v.UTXO.String() != r.Vault.UTXO
}

func spvWithdrawal(r *Record) *chains.WithdrawalQuery {
	return &chains.WithdrawalQuery{Vault: chains.VaultID{Owner: r.Vault.Owner, ID: r.Vault.VaultID}, Recipient: r.Terms.Recipient, TxID: r.Bitcoin.TxID, From: r.From}
}

func spvFill(in In, next *Record) {
	fillSubmission(in, next)
	if f := in.Obs.Withdrawal; f.Known() {
		if f.Value.FrontTx != "" {
			next.Vault.FrontTx = f.Value.FrontTx
		}
		if f.Value.ClaimTx != "" {
			next.Vault.ClaimTx = f.Value.ClaimTx
		}
		if f.Value.Final && (next.State == spvClaimed && f.Value.State == chains.WithdrawalClaimed || next.State == spvClosed && f.Value.State == chains.WithdrawalClosed) {
			in.settle(next)
		}
	}
	switch {
	case next.State == spvFronted: // the user is paid; the vault's claim is the fronter's concern
		f := in.Obs.Withdrawal
		next.Settled = next.Settled || f.Known() && f.Value.Final && next.Ended != 0 && in.Now.Sub(next.Ended.Time()) > spvRest
	case next.State == spvSoftExpired && next.posted():
		next.Settled = in.Now.Sub(next.CreatedAt.Time()) > spvRest
	case next.State == spvExpired && !next.posted(): // nothing can come of it
		next.Settled = true
	case next.State == spvExpired || next.State == spvFailed:
		since := in.Now.Sub(next.Ended.Time())
		next.Settled = next.Settled || next.Ended != 0 && (since > spvRest || since > spvFinal && spvDead(in))
	}
	if f := in.Obs.Payment; f.Known() && f.Value != nil && len(next.Bitcoin.SenderScript) == 0 && len(f.Value.Prevouts) > 1 && f.Value.Prevouts[1] != nil {
		next.Bitcoin.SenderScript = f.Value.Prevouts[1].PkScript
	}
}

func spvEffects(in In) []Effect {
	effects := sendNext(in, func(In) bool { return true })
	post := in.R.Tried[string(PostPSBT)]
	if handing := in.R.State == spvSigned || in.R.State == spvSoftExpired && in.R.posted(); handing && post.Outcome == "" && !in.R.Vault.Deadline.Passed(in.Now) {
		effects = append(effects, Effect{Kind: PostPSBT, Mark: true})
	}
	return effects
}

func spvFund() Action {
	return &Fund{Name: "Deposit on Bitcoin", Description: "Sign and submit the Bitcoin transaction.", Vault: true}
}

func spvView(in In) View {
	r := in.R
	row, _ := stateRow(spvStates, r.State)
	v := View{Row: row}
	pay := Step{Type: Payment, Chain: onBitcoin, Title: "Bitcoin payment", Description: "The user's Bitcoin transaction pays the provider and instructs the vault."}
	settle := Step{Type: Settlement, Chain: r.Chain, Title: "Destination settlement", Description: "The vault pays out the tokens.", Status: Inactive}
	if r.posted() {
		pay.InitTx = r.Bitcoin.TxID.String()
	}
	settle.InitTx = r.Vault.FrontTx
	if settle.InitTx == "" {
		settle.InitTx = r.Vault.ClaimTx
	}
	settle.SettleTx = settle.InitTx
	target := int(r.Bitcoin.Confirmations)

	seen := func(otherwise StepStatus) {
		pay.Status = otherwise
		n, known := spvKnown(in)
		switch {
		case known && n >= r.Bitcoin.Confirmations:
			pay.Status = Confirmed
		case known:
			pay.Status = Received
			pay.Confirmations = &Confirmations{Current: int(n), Target: target, ETASeconds: -1}
			if in.Obs.Wait.Known() {
				pay.Confirmations.ETASeconds = in.Obs.Wait.Value
			}
		}
	}
	waiting := func() Action {
		w := &Wait{Name: "Bitcoin confirmations", Description: "The Bitcoin transaction needs confirmations.", ExpectedSeconds: -1, PollSeconds: 10}
		if pay.Status == Received && in.Obs.Wait.Known() {
			w.ExpectedSeconds = in.Obs.Wait.Value
		}
		return w
	}
	switch r.State {
	case spvCreated:
		pay.Status = Awaiting
		if r.Expiry.Reached(in.Now) {
			pay.Status = SoftExpired
		} else {
			v.Action = spvFund()
		}
	case spvSoftExpired:
		seen(SoftExpired)
		if !r.posted() && !r.Vault.Deadline.Passed(in.Now) {
			v.Late = spvFund()
		}
	case spvSigned, spvPosted:
		seen(Awaiting)
		v.Action = waiting()
	case spvBroadcasted:
		seen(Received)
		v.Action = waiting()
	case spvFronted:
		seen(Received)
		settle.Status = Settled
	case spvConfirmed:
		pay.Status = Confirmed
		settle.Status = AwaitingManual
		if at := r.Bitcoin.ConfirmedAt; at != 0 && in.Now.Sub(at.Time()) <= automaticWindow {
			settle.Status = AwaitingAutomatic
			v.Action = &Wait{Name: "Automatic settlement", Description: "A watchtower settles the swap.", ExpectedSeconds: 10, PollSeconds: 5}
		} else if in.blind() {
			v.Action, v.Blocked = (&Sign{For: ActionClaim}).Delayed(), errBlind
		} else if !in.busy() {
			v.Action = in.again(&Sign{Name: "Settle manually", Description: "Sign and submit the transactions that make the vault pay.", For: ActionClaim, AnySigner: true,
				Plan: chains.Plan{SwapID: r.ID, Seed: r.Seed, Signer: r.Signer, Steps: []chains.Step{{Kind: chains.StepVaultClaim, Vault: &chains.VaultPayment{Owner: r.Vault.Owner, ID: r.Vault.VaultID, TxID: r.Bitcoin.TxID}}}}})
		}
	case spvClaimed:
		pay.Status, settle.Status = Confirmed, Settled
	case spvClosed:
		pay.Status, settle.Status = Confirmed, ExpiredStatus
	default:
		pay.Status = ExpiredStatus
	}
	if pay.Status == Confirmed {
		pay.Confirmations = &Confirmations{Current: target, Target: target}
		pay.SettleTx = pay.InitTx
	}
	v.Steps = []Step{pay, settle}
	return v
}
