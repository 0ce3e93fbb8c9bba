package swapper

import (
	"math/big"
	"time"

	"github.com/swapper-go/swapper/fault"
)

// AmountType says which side of a swap the amount fixes (ExactAmountType).
type AmountType string

// The amount types.
const (
	ExactIn  AmountType = "EXACT_IN"  // the amount is what the user pays
	ExactOut AmountType = "EXACT_OUT" // the amount is what the recipient receives
)

// CreateSwapInput is the input of createSwap. Which optional fields apply
// depends on the two tokens; a field that does not apply is refused.
type CreateSwapInput struct {
	SrcToken   string     // token that the user pays, `<chain>-<ticker>`
	DstToken   string     // token that the recipient gets
	Amount     *big.Int   // base units (sats, wei, lamports, fri) of the token that AmountType selects; above 0
	AmountType AmountType // ExactIn: Amount is of SrcToken; ExactOut: of DstToken, as for every invoice
	SrcAddress string     // payer: smart-chain address for a smart-chain source, for Lightning nothing or an LNURL-withdraw link, which pays once SettleWithLnurl is called
	DstAddress string     // recipient: address, invoice, LNURL-pay link or lightning address; a URI scheme and its query are dropped

	GasAmount                       *big.Int // base units of the destination chain's native token to receive in addition; nil or 0: none. Bitcoin and Lightning sources only
	PaymentHash                     string   // 64 hexadecimal digits; the caller keeps the preimage and reveals it with getSwapStatus. Lightning sources only
	LightningInvoiceDescription     string   // description of the invoice, at most 500 bytes. Lightning sources only
	LightningInvoiceDescriptionHash string   // description hash of the invoice instead of a description, 64 hexadecimal digits. Lightning sources only

	// LightningPaymentHTLCTimeout is the longest time for which the payment may
	// be pending before it can be refunded, in whole seconds; nil: 5 days.
	// LightningPaymentMaxHTLCTimeout is the limit up to which it may be
	// extended for an invoice that requires more than 144 blocks; nil: 10 days.
	// Given alone, it limits the former as well. Lightning destinations only.
	LightningPaymentHTLCTimeout    *time.Duration
	LightningPaymentMaxHTLCTimeout *time.Duration

	// IdempotencyKey makes it safe to repeat a call whose response was lost: a
	// second call with the same key and the same input returns the swap of the
	// first, and one with different input is refused. Keys belong to a caller,
	// see [WithCaller]. At most 128 printable ASCII characters, preferably
	// random. It is an addition to the published interface.
	IdempotencyKey string
}

// CreateSwapOutput is the result of createSwap.
type CreateSwapOutput struct {
	SwapOutputBase
	// SwapKey proves, later and from anywhere, that a caller is the swap's owner: 32
	// hexadecimal digits. It is told once, and kept only as a hash; a call that is repeated
	// with its idempotency key gets it again. It belongs into SwapKey of the other
	// operations' inputs and into no URL. Empty where the call was repeated by somebody
	// else. It is an addition to the published interface.
	SwapKey Secret `json:"swapKey,omitempty"`
}

// Validate checks everything that can be said of the input without knowing the
// chains (protocol: utilities.md §3). The error is a [*fault.Error] with
// [fault.InvalidInput] that names the field.
func (in *CreateSwapInput) Validate() error {
	if err := first(
		required("srcToken", in.SrcToken, maxID),
		required("dstToken", in.DstToken, maxID),
	); err != nil {
		return err
	}
	if in.Amount == nil {
		return fault.Invalid("amount", "is required and must not be empty")
	}
	if err := first(
		amountFrom("amount", in.Amount, 1),
		oneOf("amountType", in.AmountType, ExactIn, ExactOut),
		optional("srcAddress", in.SrcAddress, maxAddressText),
		required("dstAddress", in.DstAddress, maxAddressText),
		optionalHex("paymentHash", in.PaymentHash, 64),
		optional("lightningInvoiceDescription", in.LightningInvoiceDescription, maxDescription),
		optionalHex("lightningInvoiceDescriptionHash", in.LightningInvoiceDescriptionHash, 64),
		wholeSeconds("lightningPaymentHTLCTimeout", in.LightningPaymentHTLCTimeout),
		wholeSeconds("lightningPaymentMaxHTLCTimeout", in.LightningPaymentMaxHTLCTimeout),
		idempotencyKey(in.IdempotencyKey),
	); err != nil {
		return err
	}
	if in.GasAmount != nil {
		if err := amountFrom("gasAmount", in.GasAmount, 0); err != nil {
			return err
		}
	}
	usual, most := in.LightningPaymentHTLCTimeout, in.LightningPaymentMaxHTLCTimeout
	if usual != nil && most != nil && *most < *usual {
		return fault.Invalid("lightningPaymentMaxHTLCTimeout", "must be at least lightningPaymentHTLCTimeout")
	}
	return nil
}

func idempotencyKey(s string) *fault.Error {
	if len(s) > maxIdempotencyKey {
		return fault.Invalid("idempotencyKey", "must be at most %d bytes long", maxIdempotencyKey)
	}
	for i := range len(s) {
		if s[i] < ' ' || s[i] > '~' {
			return fault.Invalid("idempotencyKey", "must contain only printable ASCII characters")
		}
	}
	return nil
}
