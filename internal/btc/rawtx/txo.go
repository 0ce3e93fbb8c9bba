package rawtx

import (
	"crypto/sha256"
	"encoding/binary"
)

// TxoHash identifies an output by what it pays: SHA-256 of the amount in sats,
// as 8 bytes little endian, and the output script (protocol: bitcoin.md §14.1).
// A value below 0 is hashed as its two's complement, like any 64 bits; no
// transaction that [Decode] accepts has one.
func TxoHash(value int64, script []byte) [32]byte {
	b := make([]byte, 8, 8+len(script))
	binary.LittleEndian.PutUint64(b, uint64(value))
	return sha256.Sum256(append(b, script...))
}

// NoncedTxoHash identifies an output that is paid by a transaction with a nonce
// ([TxNonce]): SHA-256 of nonce and amount, 8 bytes little endian each, and the
// output script. Without a nonce it hashes 0 in its place, unlike [TxoHash].
// Solana escrows commit to this hash (protocol: bitcoin.md §14.2).
func NoncedTxoHash(nonce uint64, value int64, script []byte) [32]byte {
	b := make([]byte, 16, 16+len(script))
	binary.LittleEndian.PutUint64(b, nonce)
	binary.LittleEndian.PutUint64(b[8:], uint64(value))
	return sha256.Sum256(append(b, script...))
}

// TxoHint names the output that an escrow waits for. Escrows of EVM chains and
// Starknet publish it for watchtowers as their extra data, with the [TxoHash];
// on Solana it is, with the [NoncedTxoHash], the claim hash itself (protocol:
// bitcoin.md §14).
type TxoHint struct {
	Txo           [32]byte
	Nonce         uint64 // of the payment, 0 if it needs none
	Confirmations uint16
}

// Bytes returns the 42 bytes of the hint: hash, nonce, confirmations, the
// numbers big endian.
func (h TxoHint) Bytes() []byte {
	b := append(make([]byte, 0, 42), h.Txo[:]...)
	b = binary.BigEndian.AppendUint64(b, h.Nonce)
	return binary.BigEndian.AppendUint16(b, h.Confirmations)
}
