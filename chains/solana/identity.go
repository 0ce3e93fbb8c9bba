package solana

import (
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/hex"

	"github.com/swapper-go/swapper/chains"
)

// VerifyData checks that signer signed data to prove its identity: a plain
// signature of the data's hash by the key that the address is. Errors are
// *[chains.AuthError]: whoever ignores one accepts anybody as that LP (protocol:
// lp-protocol.md §2.3).
func VerifyData(signer string, data []byte, signature string) error {
	key, err := decodeKey(signer)
	if err != nil {
		return &chains.AuthError{Reason: "invalid address", Err: err}
	}
	sig, err := hex.DecodeString(signature)
	if err != nil || len(sig) != ed25519.SignatureSize {
		return &chains.AuthError{Reason: "signature must have 128 hexadecimal digits"}
	}
	hash := sha256.Sum256(data)
	if !ed25519.Verify(key[:], hash[:], sig) {
		return &chains.AuthError{Reason: "the signature is not by " + signer}
	}
	return nil
}
