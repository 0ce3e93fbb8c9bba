package bitcoin

import "bytes"

const (
	// MaxConfirmations is the most that a swap may ask for.
	MaxConfirmations     = 6
	guessedConfirmations = 20
)

// GuessConfirmations finds the number of confirmations that an escrow's claim
// hash commits to, by trying 1 to 20; it is needed for swaps that were recovered
// from a chain (protocol: bitcoin.md §12, §14.2). claimHash computes the hash for
// a number, as the chain does; an error of it ends that try only. Until a number
// is found, [MaxConfirmations] are assumed.
func GuessConfirmations(want []byte, claimHash func(confirmations uint16) ([]byte, error)) (uint16, bool) {
	for n := uint16(1); n <= guessedConfirmations; n++ {
		if got, err := claimHash(n); err == nil && bytes.Equal(got, want) {
			return n, true
		}
	}
	return 0, false
}
