package swapper

import "github.com/swapper-go/swapper/fault"

// GetSwapStatusInput is the input of getSwapStatus. All but the swap's
// identifier shapes the action that is returned; only the secret is kept.
type GetSwapStatusInput struct {
	SwapID           string
	Secret           Secret   // preimage, 64 hexadecimal digits; wanted once RequiresSecretReveal is true
	BitcoinAddress   string   // wallet for a funded transaction; together with BitcoinPublicKey
	BitcoinPublicKey string   // 64, 66 or 130 hexadecimal digits; together with BitcoinAddress
	BitcoinFeeRate   *float64 // sats/vB for the funded transaction, above 0; nil: the current rate
	Signer           string   // smart-chain address to claim, refund or settle with, instead of the swap's own
}

// Validate checks everything that can be said of the input without knowing the
// chains. The error is an [Error] with [CodeInvalidInput] that names the field.
func (in *GetSwapStatusInput) Validate() error {
	if err := first(
		required("swapId", in.SwapID, maxID),
		optionalHex("secret", in.Secret.Reveal(), 64),
		optional("bitcoinAddress", in.BitcoinAddress, maxID),
		optionalHex("bitcoinPublicKey", in.BitcoinPublicKey, 64, 66, 130),
		positive("bitcoinFeeRate", in.BitcoinFeeRate),
		optional("signer", in.Signer, maxID),
	); err != nil {
		return err
	}
	switch {
	case in.BitcoinAddress != "" && in.BitcoinPublicKey == "":
		return fault.Invalid("bitcoinPublicKey", "is required together with bitcoinAddress")
	case in.BitcoinAddress == "" && in.BitcoinPublicKey != "":
		return fault.Invalid("bitcoinAddress", "is required together with bitcoinPublicKey")
	}
	return nil
}

// GetSwapStatusOutput is the answer of getSwapStatus.
type GetSwapStatusOutput struct {
	ListSwapOutput
	CurrentAction *Action `json:"currentAction"` // nil when nothing is to be done; before anything is paid also when ActionError says why nothing should or can be
	// ActionError says why the action could not be built, and a Wait may take its
	// place; state and steps are right nevertheless, and a later call may succeed. It is
	// an addition to the published interface.
	ActionError          *ActionError `json:"actionError,omitempty"`
	RequiresSecretReveal *bool        `json:"requiresSecretReveal,omitempty"` // Lightning sources only: the preimage is wanted now
	Escrow               *EscrowInfo  `json:"escrow,omitempty"`               // escrow swaps whose escrow is known
}

// ActionError is a problem that kept an action from being built.
type ActionError struct {
	Code  Code   `json:"code"`
	Error string `json:"error"` // a sentence for people
}
