package rawtx

import (
	"bytes"

	"github.com/btcsuite/btcd/wire"
)

const (
	// maxConfirmations is the most that a swap may ask for.
	maxConfirmations     = 6
	guessedConfirmations = 20
)

// guessConfirmations finds the number of confirmations that an escrow's claim
// hash commits to, by trying 1 to 20; it is needed for swaps that were recovered
// from a chain (protocol: bitcoin.md §12, §14.2). claimHash computes the hash for
// a number, as the chain does; an error of it ends that try only. Until a number
// is found, [maxConfirmations] are assumed.
func guessConfirmations(want []byte, claimHash func(confirmations uint16) ([]byte, error)) (uint16, bool) {
	for n := uint16(1); n <= guessedConfirmations; n++ {
		if got, err := claimHash(n); err == nil && bytes.Equal(got, want) {
			return n, true
		}
	}
	return 0, false
}

// FindOutput finds the output of tx that satisfies an escrow's claim hash:
// what shows that a liquidity provider has paid (protocol: bitcoin.md §14.2).
// claimHash computes the hash for an output, with the nonce that the caller
// knows or has read by [TxNonce]. confirmations is the number that the escrow
// commits to, 0 if it is not known: then it is guessed, see
// [guessConfirmations], and returned.
func FindOutput(tx *wire.MsgTx, want []byte, confirmations uint16, claimHash func(out *wire.TxOut, confirmations uint16) ([]byte, error)) (vout uint32, found uint16, ok bool) {
	for i, out := range tx.TxOut {
		of := func(n uint16) ([]byte, error) { return claimHash(out, n) }
		if confirmations == 0 {
			if n, ok := guessConfirmations(want, of); ok {
				return uint32(i), n, true
			}
			continue
		}
		if got, err := of(confirmations); err == nil && bytes.Equal(got, want) {
			return uint32(i), confirmations, true
		}
	}
	return 0, 0, false
}
