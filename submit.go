package swapper

import (
	"fmt"

	"github.com/swapper-go/swapper/fault"
)

// SubmitTransactionInput is the input of submitTransaction.
type SubmitTransactionInput struct {
	SwapID string
	// SignedTxs are the signed transactions of the current action, in its order:
	// PSBTs in hexadecimal or base64, smart-chain transactions in the chain's
	// serialisation.
	SignedTxs []string
	SwapKey   Secret // key of the swap, see CreateSwapOutput; "" for none
}

// Validate checks everything that can be checked without knowing the chains.
// The error is a [*fault.Error] with [fault.InvalidInput] that names the field.
func (in *SubmitTransactionInput) Validate() error {
	if err := first(required("swapId", in.SwapID, maxID), swapKey(in.SwapKey)); err != nil {
		return err
	}
	switch n := len(in.SignedTxs); {
	case n == 0:
		return fault.Invalid("signedTxs", "is required and must not be empty")
	case n > maxSignedTxs:
		return fault.Invalid("signedTxs", "must have at most %d transactions", maxSignedTxs)
	}
	for i, tx := range in.SignedTxs {
		if err := required(fmt.Sprintf("signedTxs[%d]", i), tx, maxSignedTx); err != nil {
			return err
		}
	}
	return nil
}

// SubmitTransactionOutput is the result of submitTransaction.
type SubmitTransactionOutput struct {
	TxHashes List[string] `json:"txHashes"` // in the order of the submitted transactions
}

// SettleWithLnurlInput is the input of settleWithLnurl.
type SettleWithLnurlInput struct {
	SwapID        string
	LnurlWithdraw string // LNURL-withdraw link; required if the swap has none, refused if it has one
	SwapKey       Secret // key of the swap, see CreateSwapOutput; a link that the swap has pays only for its owner
}

// Validate checks everything that can be checked without knowing the swap. The
// error is a [*fault.Error] with [fault.InvalidInput] that names the field.
func (in *SettleWithLnurlInput) Validate() error {
	return first(
		required("swapId", in.SwapID, maxID),
		optional("lnurlWithdraw", in.LnurlWithdraw, maxAddressText),
		swapKey(in.SwapKey),
	)
}

// SettleWithLnurlOutput is the result of settleWithLnurl.
type SettleWithLnurlOutput struct {
	PaymentHash string `json:"paymentHash"` // of the Lightning payment, in hexadecimal digits
}
