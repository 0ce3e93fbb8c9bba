package swapper

// StepType says what a step of a swap is.
type StepType string

// The types of steps.
const (
	StepSetup      StepType = "Setup"      // something is prepared on the destination side
	StepPayment    StepType = "Payment"    // the user pays on the source side
	StepSettlement StepType = "Settlement" // the recipient is paid on the destination side
	StepRefund     StepType = "Refund"     // the user gets the payment back on the source side
)

// StepSide is the side of the swap that a step happens on; the type of the step decides it.
type StepSide string

// The sides of a swap.
const (
	SideSource      StepSide = "source"      // Payment, Refund
	SideDestination StepSide = "destination" // Setup, Settlement
)

// StepStatus is how far a step is.
type StepStatus string

// The states of a step, and the types of steps that have them.
const (
	StatusInactive          StepStatus = "inactive"           // Payment, Settlement, Refund: its time has not come
	StatusAwaiting          StepStatus = "awaiting"           // Setup, Payment, Refund: waiting for the user
	StatusCompleted         StepStatus = "completed"          // Setup
	StatusReceived          StepStatus = "received"           // Payment: seen, not yet confirmed
	StatusConfirmed         StepStatus = "confirmed"          // Payment
	StatusWaitingLP         StepStatus = "waiting_lp"         // Settlement: the liquidity provider has to act
	StatusAwaitingAutomatic StepStatus = "awaiting_automatic" // Settlement: somebody will settle for the user
	StatusAwaitingManual    StepStatus = "awaiting_manual"    // Settlement: the user can settle
	StatusSoftSettled       StepStatus = "soft_settled"       // Settlement: the preimage is known, the chain has not confirmed
	StatusSettled           StepStatus = "settled"            // Settlement
	StatusRefunded          StepStatus = "refunded"           // Refund
	StatusSoftExpired       StepStatus = "soft_expired"       // Setup, Payment, Settlement: too late to start, may still land
	StatusExpired           StepStatus = "expired"            // Setup, Payment, Settlement
)

// Step is one step of a swap's execution (SwapExecutionStep). All types of steps
// share this structure; the optional members belong to the types named.
type Step struct {
	Type        StepType   `json:"type"`
	Side        StepSide   `json:"side"`
	Chain       string     `json:"chain"` // chain identifier
	Title       string     `json:"title"`
	Description string     `json:"description"`
	Status      StepStatus `json:"status"`

	SetupTxID     string         `json:"setupTxId,omitempty"`     // Setup
	Confirmations *Confirmations `json:"confirmations,omitempty"` // Payment on Bitcoin
	InitTxID      string         `json:"initTxId,omitempty"`      // Payment, Settlement
	SettleTxID    string         `json:"settleTxId,omitempty"`    // Payment, Settlement
	RefundTxID    string         `json:"refundTxId,omitempty"`    // Refund
}

// Confirmations is how far a Bitcoin payment is.
type Confirmations struct {
	Current    int `json:"current"`
	Target     int `json:"target"`
	ETASeconds int `json:"etaSeconds"` // seconds until Target is reached, -1 when unknown
}
