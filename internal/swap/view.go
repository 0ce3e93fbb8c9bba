package swap

import (
	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/internal/btc/psbt"
	"github.com/swapper-go/swapper/tokens"
)

// View is how a swap is displayed, as far as that is possible without building
// transactions: the state's row, the steps, and the plan of what the user has
// to do.
type View struct {
	Row     StateRow
	Expired bool // soft or hard, for the step statuses; the flags of the API come from Row
	Steps   []Step
	Action  Action // nil: nothing to do, or Blocked says why it is not possible now
	// Late is an action that is not offered, because it is too late to start it or
	// another party acts, but whose transactions are still accepted; nil for none.
	Late    Action
	Blocked error // why the user cannot act now; nil if nothing prevents it
	// Reveal says that the caller has to reveal the preimage; nil for types
	// without one.
	Reveal *bool
}

// End shows a quote that has expired unused: there is nothing left for the user
// to do.
func (v *View) End() {
	v.Row.Finished, v.Row.Expired, v.Row.Pending = true, true, false
	switch v.Action.(type) {
	case *Sign, *Fund:
		v.Late = v.Action
	}
	v.Action, v.Blocked = nil, nil
	for i := range v.Steps {
		if s := &v.Steps[i]; (s.Type == stepSetup || s.Type == stepPayment) && s.Status == shownAwaiting {
			s.Status = shownSoftExpired
		}
	}
}

// Signable returns the action whose transactions may be submitted.
func (v View) Signable() Action {
	if _, waits := v.Action.(*Wait); v.Action == nil || waits && v.Late != nil {
		return v.Late
	}
	if p, ok := v.Action.(*Pay); ok && p.Fund != nil {
		return p.Fund
	}
	return v.Action
}

// StepType, StepStatus and the names of actions are those of the REST API
// (docs/api.md).
type (
	StepType   string
	StepStatus string
)

const (
	stepSetup      StepType = "Setup"
	stepPayment    StepType = "Payment"
	stepSettlement StepType = "Settlement"
	stepRefund     StepType = "Refund"
)

const (
	shownInactive          StepStatus = "inactive"
	shownAwaiting          StepStatus = "awaiting"
	shownCompleted         StepStatus = "completed"
	shownReceived          StepStatus = "received"
	shownConfirmed         StepStatus = "confirmed"
	shownWaitingLP         StepStatus = "waiting_lp"
	shownAwaitingAutomatic StepStatus = "awaiting_automatic"
	shownAwaitingManual    StepStatus = "awaiting_manual"
	shownSoftSettled       StepStatus = "soft_settled"
	shownSettled           StepStatus = "settled"
	shownRefunded          StepStatus = "refunded"
	shownSoftExpired       StepStatus = "soft_expired"
	shownExpired           StepStatus = "expired"
)

// Step is one step of the execution.
type Step struct {
	Type          StepType
	Chain         string
	Title         string
	Description   string
	Status        StepStatus
	SetupTx       string
	InitTx        string
	SettleTx      string
	RefundTx      string
	Confirmations *Confirmations
}

// Confirmations is the progress of a Bitcoin payment. ETASeconds is -1 if
// unknown.
type Confirmations struct{ Current, Target, ETASeconds int }

// Action is the plan of what the user has to do: one of [*Pay], [*Fund],
// [*Sign], [*Wait].
type Action interface{ action() }

// Pay asks for a payment to an invoice or an address.
type Pay struct {
	Name, Description string
	Chain             string
	Invoice           bool // a BOLT11 invoice, else a Bitcoin address
	To, Link          string
	Amount            tokens.Amount
	Fund              *Fund // the same payment for a caller with a Bitcoin wallet that signs; nil: none
}

// Fund asks for the signature of a Bitcoin transaction, from which a PSBT is made.
type Fund struct {
	Name, Description string
	Vault             bool // of a vault swap, else a plain payment to an address
}

// Sign asks for the signature of smart-chain transactions.
type Sign struct {
	Name, Description string
	Chain             string
	For               string // what a Submit of the signed transactions is for
	Plan              chains.Plan
	AnySigner         bool   // anyone may sign and pay; otherwise only Plan.Signer
	Waiting           string // signer of an open submission, who waits for it instead of signing again, unless it is Plan.Signer; "" if none
}

// Delayed returns the Wait to show while the action cannot be built.
func (a *Sign) Delayed() *Wait {
	if a.For == actionClaim || a.For == actionLastClaim {
		return &Wait{Name: "Automatic settlement", Description: "The user can settle as soon as that is possible, unless a watchtower does so first.", ExpectedSeconds: -1, PollSeconds: 5}
	}
	return &Wait{Name: "Awaiting LP payout", Description: "The provider has not paid; the tokens can be refunded as soon as that is possible.", ExpectedSeconds: -1, PollSeconds: 5}
}

// Wait says that the user has to wait. ExpectedSeconds is -1 if unknown.
type Wait struct {
	Name, Description            string
	ExpectedSeconds, PollSeconds int
}

func (*Pay) action()  {}
func (*Fund) action() {}
func (*Sign) action() {}
func (*Wait) action() {}

// PlanFor returns the plan of a Sign for the given caller.
func (a *Sign) PlanFor(c Caller) chains.Plan {
	p := a.Plan
	if a.AnySigner && c.Signer != "" {
		p.Signer = c.Signer
	}
	return p
}

// Caller is what a status request says about the caller's wallet. It affects
// the action and is never stored.
type Caller struct {
	Discreet bool         // does not own the swap, and is shown [View.Discreet]
	Signer   string       // canonical; "": the swap's own
	Wallet   *psbt.Wallet // nil for a raw PSBT
	FeeRate  float64      // sat/vB; 0: the current rate
}
