package swapper

import (
	"encoding/json"
	"time"

	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/swap"
)

// SwapType is the name of a swap type; package swap tells its states.
type SwapType = swap.Type

// The swap types.
const (
	SwapFromBTC         SwapType = "FROM_BTC"           // Bitcoin to smart chain through an escrow (legacy, Solana)
	SwapFromBTCLN       SwapType = "FROM_BTCLN"         // Lightning to smart chain through an escrow that the user opens (legacy, Solana)
	SwapToBTC           SwapType = "TO_BTC"             // smart chain to Bitcoin
	SwapToBTCLN         SwapType = "TO_BTCLN"           // smart chain to Lightning
	SwapTrustedFromBTC  SwapType = "TRUSTED_FROM_BTC"   // Bitcoin to native gas tokens, trusting the liquidity provider
	SwapTrustedFromLN   SwapType = "TRUSTED_FROM_BTCLN" // Lightning to native gas tokens, trusting the liquidity provider
	SwapSPVVaultFromBTC SwapType = "SPV_VAULT_FROM_BTC" // Bitcoin to smart chain through a vault
	SwapFromBTCLNAuto   SwapType = "FROM_BTCLN_AUTO"    // Lightning to smart chain through an escrow that the liquidity provider opens
)

// SwapOutputBase is common to every operation that returns a swap.
type SwapOutputBase struct {
	SwapID    string           `json:"swapId"`
	SwapType  SwapType         `json:"swapType"`
	State     SwapState        `json:"state"`
	Quote     SwapQuote        `json:"quote"`
	CreatedAt Timestamp        `json:"createdAt"`
	Steps     List[Step]       `json:"steps"`
	LNURL     *SwapOutputLNURL `json:"lnurl,omitempty"` // set when the swap has an LNURL link
	Flags     *SwapOutputFlags `json:"flags,omitempty"` // set for smart chain to Lightning
}

// SwapState is the state of a swap; numbers and names depend on the swap type.
type SwapState struct {
	Number      int    `json:"number"`
	Name        string `json:"name"`
	Description string `json:"description"` // human-readable
}

// SwapQuote is what a swap costs and pays out.
type SwapQuote struct {
	InputAmount   Amount        `json:"inputAmount"`   // what the user pays, including fees except those of the source network
	OutputAmount  Amount        `json:"outputAmount"`  // what the recipient receives
	Fees          SwapQuoteFees `json:"fees"`          //
	Expiry        Timestamp     `json:"expiry"`        // the swap must be started before this time
	OutputAddress string        `json:"outputAddress"` // recipient; empty if unknown, for a recovered swap
}

// SwapQuoteFees are the fees in the source token: those within the input amount, and,
// where the source is Bitcoin, what miners get beside it.
type SwapQuoteFees struct {
	Swap          Amount  `json:"swap"`
	NetworkOutput *Amount `json:"networkOutput,omitempty"` // for the destination network

	// NetworkInput is what miners get on Bitcoin beside the input amount, for unconfirmed
	// parents too: of the transaction in the current action or of the submitted one;
	// before there is one, an estimate for a wallet with one coin. It is an addition to
	// the published interface; nil if it is not known, and for other sources.
	NetworkInput *Amount `json:"networkInput,omitempty"`
}

// SwapOutputLNURL is the LNURL link of a swap.
type SwapOutputLNURL struct {
	Withdraw      string         `json:"withdraw,omitempty"`      // LNURL-withdraw link that pays a Lightning source
	Pay           string         `json:"pay,omitempty"`           // LNURL-pay link that a Lightning destination is paid through
	SuccessAction *SuccessAction `json:"successAction,omitempty"` // what the service displays once it was paid
}

// SuccessAction is the message of an LNURL-pay service after the payment
// (LNURLDecodedSuccessAction).
type SuccessAction struct {
	Description string `json:"description"`
	Text        string `json:"text,omitempty"`
	URL         string `json:"url,omitempty"`
}

// SwapOutputFlags warns before a Lightning payment (protocol: swap-flows-escrow.md §5.6).
type SwapOutputFlags struct {
	// The recipient is probably a wallet that must be online to receive.
	LightningRecipientIsNonCustodialWallet bool `json:"lightningRecipientIsNonCustodialWallet"`
	// The liquidity provider found no route to the recipient.
	LightningPaymentWillLikelyFail bool `json:"lightningPaymentWillLikelyFail"`
	// The funds may be locked for longer than usual, because of the invoice's
	// time-outs.
	LightningPaymentWithLongHTLCExpiration bool `json:"lightningPaymentWithLongHTLCExpiration"`
}

// EscrowInfo is the escrow contract's view of a swap.
type EscrowInfo struct {
	Data     json.RawMessage `json:"data"`               // the chain's own form of the escrow, a JSON object
	InitTxID string          `json:"initTxId,omitempty"` // transaction that created the escrow, when known

	// Nonce, as a decimal number, and Confirmations are what the payment that claims the
	// escrow of a swap to Bitcoin carries beside the agreed address and amount. With them
	// anybody can reckon the escrow's claim condition again. They are additions to the
	// published interface, and empty for other types, but for the confirmations of FROM_BTC.
	Nonce         string `json:"nonce,omitempty"`
	Confirmations int    `json:"confirmations,omitempty"`
	// Address is the Bitcoin address whose payment, with Confirmations, claims the escrow
	// of a FROM_BTC. It must not be paid before the action asks for it. It is an addition too.
	Address string `json:"address,omitempty"`
}

// VaultInfo names the vault through which a swap from Bitcoin is paid out. With it anybody
// can ask the chain what the vault holds, and whether the output that is to be spent is the
// vault's. It is an addition to the published interface.
type VaultInfo struct {
	Owner   string `json:"owner"`   // canonical address on the destination chain
	VaultID string `json:"vaultId"` // the owner's number of it, decimal
}

// ListSwapOutput is a swap in a list.
type ListSwapOutput struct {
	SwapOutputBase
	IsFinished bool `json:"isFinished"` // in a final state
	IsSuccess  bool `json:"isSuccess"`  // finished, and the recipient received the output
	IsFailed   bool `json:"isFailed"`   // in a failed state
	IsExpired  bool `json:"isExpired"`  // the quote expired before the swap was started
}

// The types of steps, and the sides of a swap that are theirs.
const (
	stepPayment     = "Payment"
	stepRefund      = "Refund"
	sideSource      = "source"
	sideDestination = "destination"
)

// Step is one step of a swap's execution (SwapExecutionStep). All types of steps
// share this structure; the optional members belong to the types named.
type Step struct {
	// Type is Setup (something is prepared on the destination side), Payment (the user pays
	// on the source side), Settlement (the recipient is paid on the destination side) or
	// Refund (the user gets the payment back on the source side).
	Type        string `json:"type"`
	Side        string `json:"side"`  // source for Payment and Refund, destination for Setup and Settlement
	Chain       string `json:"chain"` // chain identifier
	Title       string `json:"title"`
	Description string `json:"description"`
	// Status is one of these, for the types of steps named:
	//
	//	inactive            Payment, Settlement, Refund: not due yet
	//	awaiting            Setup, Payment, Refund: waiting for the user
	//	completed           Setup
	//	received            Payment: seen, not yet confirmed
	//	confirmed           Payment
	//	waiting_lp          Settlement: the liquidity provider has to act
	//	awaiting_automatic  Settlement: a watchtower will settle for the user
	//	awaiting_manual     Settlement: the user can settle
	//	soft_settled        Settlement: the preimage is known, the chain has not confirmed it
	//	settled             Settlement
	//	refunded            Refund
	//	soft_expired        Setup, Payment, Settlement: too late to start, but may still arrive
	//	expired             Setup, Payment, Settlement
	Status string `json:"status"`

	SetupTxID     string         `json:"setupTxId,omitempty"`     // Setup
	Confirmations *Confirmations `json:"confirmations,omitempty"` // Payment on Bitcoin
	InitTxID      string         `json:"initTxId,omitempty"`      // Payment, Settlement
	SettleTxID    string         `json:"settleTxId,omitempty"`    // Payment, Settlement
	RefundTxID    string         `json:"refundTxId,omitempty"`    // Refund
}

// Confirmations is the progress of a Bitcoin payment.
type Confirmations struct {
	Current int
	Target  int
	ETA     time.Duration // until Target is reached, negative when unknown; whole seconds in JSON, -1 for a negative one
}

type confirmationsJSON struct {
	Current int `json:"current"`
	Target  int `json:"target"`
	ETA     int `json:"etaSeconds"`
}

// MarshalJSON implements [json.Marshaler].
func (c Confirmations) MarshalJSON() ([]byte, error) {
	return marshal(confirmationsJSON{c.Current, c.Target, int(seconds(c.ETA))})
}

// UnmarshalJSON implements [json.Unmarshaler].
func (c *Confirmations) UnmarshalJSON(text []byte) error {
	var in confirmationsJSON
	err := json.Unmarshal(text, &in)
	if err != nil {
		return err
	}
	*c = Confirmations{Current: in.Current, Target: in.Target}
	c.ETA, err = duration("etaSeconds", float64(in.ETA))
	return err
}

// ListSwapsInput is the input of listSwaps and listPendingSwaps.
type ListSwapsInput struct {
	Signer  string // smart-chain address, in any form that its chain accepts
	ChainID string // chain identifier; empty: all chains

	// Limit and After read a long list page by page: at most Limit swaps, those that
	// come after the swap with the id After. 0 and "" are the whole list, which package
	// httpapi serves by pages. They are an addition to the published interface.
	Limit int
	After string
}

// Validate checks everything that can be checked without knowing the chains.
// The error is a [*fault.Error] with [fault.InvalidInput] that names the field.
func (in *ListSwapsInput) Validate() error {
	if in.Limit < 0 {
		return fault.Invalid("limit", "must not be negative")
	}
	return first(
		required("signer", in.Signer, maxID),
		optional("chainId", in.ChainID, maxID),
		optional("after", in.After, maxID),
	)
}
