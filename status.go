package swapper

import (
	"encoding/json"
	"fmt"
	"io"
	"log/slog"

	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/internal/bounds"
)

// GetSwapStatusInput is the input of getSwapStatus. All fields except the
// swap's identifier affect only the returned action; of them, only the secret
// is stored.
type GetSwapStatusInput struct {
	SwapID           string
	Secret           Secret   // preimage, 64 hexadecimal digits; required once RequiresSecretReveal is true
	BitcoinAddress   string   // wallet for a funded transaction; requires BitcoinPublicKey
	BitcoinPublicKey string   // 64, 66 or 130 hexadecimal digits; requires BitcoinAddress
	BitcoinFeeRate   *float64 // sat/vB for the funded transaction, above 0; nil: the current rate
	Signer           string   // smart-chain address to claim, refund or settle with instead of the swap's own
	SwapKey          Secret   // key of the swap, see CreateSwapOutput; "": the caller is the owner, or is shown the swap discreetly
}

// Validate checks everything that can be checked without knowing the chains.
// The error is a [*fault.Error] with [fault.InvalidInput] that names the field.
func (in *GetSwapStatusInput) Validate() error {
	if err := first(
		required("swapId", in.SwapID, maxID),
		optionalHex("secret", in.Secret.Reveal(), 64),
		optional("bitcoinAddress", in.BitcoinAddress, maxID),
		optionalHex("bitcoinPublicKey", in.BitcoinPublicKey, 64, 66, 130),
		positive("bitcoinFeeRate", in.BitcoinFeeRate, bounds.MaxFeeRate),
		optional("signer", in.Signer, maxID),
		swapKey(in.SwapKey),
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

// GetSwapStatusOutput is the result of getSwapStatus.
type GetSwapStatusOutput struct {
	ListSwapOutput
	CurrentAction Action `json:"currentAction"` // nil when nothing is to be done; before any payment also when ActionError says why nothing can or should be paid
	// ActionError says why the action could not be built; CurrentAction may
	// then be a Wait. State and steps are correct all the same, and a later
	// call may succeed. It is an addition to the published interface.
	ActionError          *ActionError `json:"actionError,omitempty"`
	RequiresSecretReveal *bool        `json:"requiresSecretReveal,omitempty"` // Lightning sources only: the preimage is required now
	Escrow               *EscrowInfo  `json:"escrow,omitempty"`               // only for swaps whose escrow is known
	Vault                *VaultInfo   `json:"vault,omitempty"`                // only for SPV_VAULT_FROM_BTC. It is an addition to the published interface
	// AsOf is set while nodes tell the service of events, for a swap that waits: what the
	// swap's contracts or Bitcoin hold was not asked for this status, but holds as of these
	// blocks, by chain (BITCOIN too), and no node has told of a change since. Nil: it was
	// asked for. It is an addition to the published interface.
	AsOf map[string]uint64 `json:"asOf,omitempty"`
}

// UnmarshalJSON implements [json.Unmarshaler].
func (o *GetSwapStatusOutput) UnmarshalJSON(text []byte) error {
	type plain GetSwapStatusOutput
	in := struct {
		*plain
		CurrentAction json.RawMessage `json:"currentAction"`
	}{plain: (*plain)(o)}
	err := json.Unmarshal(text, &in)
	if err == nil && in.CurrentAction != nil {
		o.CurrentAction, err = UnmarshalAction(in.CurrentAction)
	}
	return err
}

// ActionError is the reason why an action could not be built.
type ActionError struct {
	Code  fault.Code `json:"code"`
	Error string     `json:"error"` // human-readable
}

const redacted = "***"

// Secret is a text that must not be shown: the preimage of a Lightning payment,
// as 64 hexadecimal digits, or the key of a swap, as 32. Printed, formatted, logged or marshalled, alone or
// inside another value, it shows as `***`, or as nothing when empty. Only
// [Secret.Reveal] returns its content.
type Secret string

// Reveal returns the secret itself.
func (s Secret) Reveal() string { return string(s) }

// String returns `***`, or nothing for an empty secret.
func (s Secret) String() string {
	if s == "" {
		return ""
	}
	return redacted
}

// GoString returns what String returns, quoted.
func (s Secret) GoString() string { return fmt.Sprintf("%q", s.String()) }

// Format prints what String returns, whatever the verb.
func (s Secret) Format(f fmt.State, _ rune) {
	// An error of the writer cannot be reported from here; fmt ignores it too.
	_, _ = io.WriteString(f, s.String())
}

// LogValue returns what String returns.
func (s Secret) LogValue() slog.Value { return slog.StringValue(s.String()) }

// MarshalText returns what String returns, so that a structure marshalled for a
// log does not reveal the secret. The wire form is written by httpapi.
func (s Secret) MarshalText() ([]byte, error) { return []byte(s.String()), nil }
