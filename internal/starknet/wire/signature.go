package wire

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/NethermindEth/starknet.go/curve"

	"github.com/swapper-go/swapper/fault"
)

// maxSignature bounds the felts of a signature. A plain key's has two; accounts of
// several keys, or of a phone's, have some dozens.
const maxSignature = 512

// parseSignature reads a signature as LPs write it: a JSON array of felts in text
// (§8).
func parseSignature(text string) ([]Felt, error) {
	if len(text) > maxSignature*84 {
		return nil, fault.Invalid("signature", "is longer than %d characters", maxSignature*84)
	}
	var parts []string
	if err := json.Unmarshal([]byte(text), &parts); err != nil {
		return nil, fault.Invalid("signature", "must be a JSON array of felts as strings")
	}
	if len(parts) == 0 || len(parts) > maxSignature {
		return nil, fault.Invalid("signature", "must have 1 to %d felts", maxSignature)
	}
	all := make([]Felt, len(parts))
	for i, p := range parts {
		f, err := ParseFelt(p)
		if err != nil {
			return nil, fault.Invalid(fmt.Sprintf("signature[%d]", i), "%w", err)
		}
		all[i] = f
	}
	return all, nil
}

// FormatSignature is the inverse of [parseSignature].
func FormatSignature(signature []Felt) string {
	parts := make([]string, len(signature))
	for i, f := range signature {
		parts[i] = `"` + Hex(f) + `"`
	}
	return "[" + strings.Join(parts, ",") + "]"
}

// Entry points by which an account is asked whether a signature is its own (SNIP-6).
// Contracts ask the first; accounts of an older kind have only the second.
var (
	EntryIsValidSignature    = Selector("is_valid_signature")
	EntryIsValidSignatureOld = Selector("isValidSignature")
)

// SignatureCheck is the question whether an account signed a message. Only the
// account's own code can answer it, so one that is not deployed has signed nothing.
type SignatureCheck struct {
	Account   Felt
	Hash      Felt // of the message, for this account
	Signature []Felt
}

// Calldata is what the account is called with, at either entry point.
func (c SignatureCheck) Calldata() []Felt { return felts{c.Hash}.span(c.Signature...) }

// valid is what an account answers when a signature is its own, "VALID". Older ones
// answer 1.
var valid = ShortString("VALID")

// ReadSignatureAnswer reads what an account answered. The contract takes VALID and 1
// and nothing else; the reference takes everything but 0 (§20.2).
func ReadSignatureAnswer(answer []Felt) (signed bool, err error) {
	if len(answer) != 1 {
		return false, fmt.Errorf("an account answered with %d felts whether a signature is its own, must be 1", len(answer))
	}
	return answer[0] == valid || answer[0] == FeltOf(1), nil
}

// refusals are the reasons with which accounts revert when a signature is not theirs,
// as text and as felts (§8.1).
var refusals = []string{
	"argent/invalid-signature", "is invalid, with respect to the public key", "INVALID_SIG", "'is invalid'",
	"0x617267656e742f696e76616c69642d7369676e6174757265", "0x697320696e76616c6964", "0x494e56414c49445f534947",
	// Of the transactions that they send: Argent's and OpenZeppelin's accounts.
	"argent/invalid-owner-sig", "0x617267656e742f696e76616c69642d6f776e65722d736967", "Account: invalid signature", "0x4163636f756e743a20696e76616c6964207369676e6174757265",
}

// RefusesSignature reports whether an account that reverted with a reason said that the
// signature is not its own. Any other reason leaves the question open.
func RefusesSignature(reason string) bool {
	return slices.ContainsFunc(refusals, func(r string) bool { return strings.Contains(reason, r) })
}

// SignedByKey reports whether a hash is signed by a key of the Stark curve, of which
// the x coordinate is public: how plain accounts check two felts, r and s.
func SignedByKey(publicKey, hash Felt, signature []Felt) bool {
	if len(signature) != 2 {
		return false
	}
	ok, err := curve.VerifyFelts(&hash, &signature[0], &signature[1], &publicKey)
	return err == nil && ok
}
