package wire

import (
	"crypto/ed25519"
	"crypto/sha256"
)

// VerifyData checks that the key that an address is signed the hash of data: how LPs
// show whose they are (§14). Errors: *[chains.AuthError].
func VerifyData(signer Key, data []byte, signature string) error {
	sig, err := parseSignature(signature)
	if err != nil {
		return err
	}
	hash := sha256.Sum256(data)
	if !ed25519.Verify(signer[:], hash[:], sig[:]) {
		return authError("the signature is not by %s", signer)
	}
	return nil
}
