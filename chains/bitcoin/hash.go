package bitcoin

import (
	"encoding/hex"
	"fmt"

	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/wire"
)

// Hash is a double SHA-256 of a transaction or a block header. Its bytes are in
// internal order, as in transactions, headers, merkle proofs and contract
// calls; h[:] returns them. Its text, from String and for [ParseHash], is in
// display order: the bytes reversed, as explorers, wallets and node RPCs write
// it.
type Hash = chainhash.Hash

// OutPoint identifies an output of a transaction: the transaction's [Hash] and
// the output's index. Its text is `<txid in display order>:<index>`.
type OutPoint = wire.OutPoint

// ParseHash reads a hash from the 64 hex digits of its display order. Unlike
// chainhash.NewHashFromStr it rejects shorter texts instead of padding them
// with zeros.
func ParseHash(s string) (Hash, error) {
	var h Hash
	if len(s) != 2*len(h) {
		return Hash{}, fmt.Errorf("hash has %d characters instead of 64", len(s))
	}
	if _, err := hex.Decode(h[:], []byte(s)); err != nil {
		return Hash{}, fmt.Errorf("hash %q: %w", s, err)
	}
	for i, j := 0, len(h)-1; i < j; i, j = i+1, j-1 {
		h[i], h[j] = h[j], h[i]
	}
	return h, nil
}

// ParseOutPoint reads `<txid in display order>:<output index>`, the form in
// which vaults and stored records name an output. The index has no sign and no
// leading zeros.
func ParseOutPoint(s string) (OutPoint, error) {
	if len(s) < 66 || len(s) > 75 || s[64] != ':' {
		return OutPoint{}, fmt.Errorf("output %.80q must have the form <txid>:<index>", s)
	}
	h, err := ParseHash(s[:64])
	if err != nil {
		return OutPoint{}, err
	}
	var index uint64
	for _, c := range []byte(s[65:]) {
		if c < '0' || c > '9' {
			return OutPoint{}, fmt.Errorf("output %q must have a decimal index", s)
		}
		index = index*10 + uint64(c-'0')
	}
	if index > 1<<32-1 || s[65] == '0' && len(s) > 66 {
		return OutPoint{}, fmt.Errorf("output %q must have an index without leading zeros", s)
	}
	return OutPoint{Hash: h, Index: uint32(index)}, nil
}
