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
	ExactOut AmountType = "EXACT_OUT" // the amount is what the recipient gets
)

// CreateSwapInput is the input of createSwap. Which of the optional fields a
// swap uses depends on its two tokens; one that it cannot use is refused.
type CreateSwapInput struct {
	SrcToken   string     // token that the user pays, as `<chain>-<ticker>`
	DstToken   string     // token that the recipient gets
	Amount     *big.Int   // base units of the token that AmountType points at, above 0
	AmountType AmountType //
	SrcAddress string     // payer: smart-chain address for a smart-chain source, LNURL-withdraw link (optional) for Lightning
	DstAddress string     // recipient: address, invoice, LNURL-pay link or lightning address; a URI scheme and its query are dropped

	GasAmount                       *big.Int // base units of the destination chain's native token to get in addition; nil or 0: none. Bitcoin and Lightning sources
	PaymentHash                     string   // 64 hexadecimal digits: the preimage stays with the caller, who reveals it by getSwapStatus. Lightning sources
	LightningInvoiceDescription     string   // description on the invoice, at most 500 bytes. Lightning sources
	LightningInvoiceDescriptionHash string   // 64 hexadecimal digits: description hash on the invoice, in place of a description. Lightning sources

	// LightningPaymentHTLCTimeout is the longest time for which the payment may
	// hang before it can be refunded, in whole seconds; nil: 5 days.
	// LightningPaymentMaxHTLCTimeout is to what it may be extended for an invoice
	// that needs more than 144 blocks; nil: 10 days. Given alone it bounds the former
	// as well. Lightning destinations.
	LightningPaymentHTLCTimeout    *time.Duration
	LightningPaymentMaxHTLCTimeout *time.Duration

	// IdempotencyKey makes it safe to repeat a call whose answer was lost: a second
	// call with the same key and the same input answers with the swap of the first,
	// and one with another input is refused. Keys belong to a caller, see
	// [WithCaller]. At most 128 printable ASCII characters, best random. It is an
	// addition to the published interface.
	IdempotencyKey string
}

// CreateSwapOutput is the answer of createSwap.
type CreateSwapOutput = SwapOutputBase

// Validate checks everything that can be said of the input without knowing the
// chains (protocol: utilities.md §3). The error is an [Error] with
// [CodeInvalidInput] that names the field.
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

func idempotencyKey(s string) *Error {
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
