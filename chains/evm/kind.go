package evm

import "fmt"

// Kind is the condition under which an escrow can be claimed. The numbers are
// part of the JSON form of swap data (protocol: chain-evm.md §3.3).
type Kind uint8

const (
	KindHTLC        Kind = 0 // a secret with a given SHA-256 hash
	KindChain       Kind = 1 // a Bitcoin output with a given script and amount
	KindChainNonced Kind = 2 // the same, in a transaction that carries a given nonce
	KindChainTxID   Kind = 3 // a Bitcoin transaction with a given id
)

// Kinds are all kinds, in the order of their numbers.
func Kinds() []Kind { return []Kind{KindHTLC, KindChain, KindChainNonced, KindChainTxID} }

// Valid reports whether k is one of the four kinds.
func (k Kind) Valid() bool { return k <= KindChainTxID }

// String returns the protocol's name of k.
func (k Kind) String() string {
	switch k {
	case KindHTLC:
		return "HTLC"
	case KindChain:
		return "CHAIN"
	case KindChainNonced:
		return "CHAIN_NONCED"
	case KindChainTxID:
		return "CHAIN_TXID"
	}
	return fmt.Sprintf("Kind(%d)", uint8(k))
}
