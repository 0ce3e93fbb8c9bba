package solana

import (
	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/internal/solana/wire"
)

// VerifyData checks that signer signed data to prove its identity: an ed25519
// signature of the data's hash by the key that is the address. Errors are
// *[chains.AuthError] and must not be ignored: without this check anyone can
// pass for that LP (protocol: lp-protocol.md §2.3).
func VerifyData(signer string, data []byte, signature string) error {
	key, err := wire.ParseKey(signer)
	if err != nil {
		return &chains.AuthError{Reason: "invalid address", Err: err}
	}
	return wire.VerifyData(key, data, signature)
}
