package wire

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/internal/btc/rawtx"
)

// claimHashSize is the number of bytes of a claim hash.
const claimHashSize = 42

// ClaimHash is what has to be proven to claim an escrow: the hash that the program
// compares, and beside it what it demands of a Bitcoin transaction (§10).
type ClaimHash struct {
	PaymentHash   [32]byte
	Nonce         uint64
	Confirmations uint16
}

// Bytes returns the claim hash as LPs and stored swaps carry it; numbers are big-endian.
func (c ClaimHash) Bytes() []byte {
	b := slices.Clone(c.PaymentHash[:])
	b = binary.BigEndian.AppendUint64(b, c.Nonce)
	return binary.BigEndian.AppendUint16(b, c.Confirmations)
}

// DecodeClaimHash reads the form of [ClaimHash.Bytes].
func DecodeClaimHash(b []byte) (c ClaimHash, err error) {
	if len(b) != claimHashSize {
		return c, fmt.Errorf("a claim hash of Solana has %d bytes, not %d", claimHashSize, len(b))
	}
	copy(c.PaymentHash[:], b)
	c.Nonce, c.Confirmations = binary.BigEndian.Uint64(b[32:]), binary.BigEndian.Uint16(b[40:])
	return c, nil
}

// ClaimHashOf returns the claim hash of a condition.
func ClaimHashOf(c chains.Condition) (ClaimHash, error) {
	switch c.Kind {
	case chains.HTLC:
		return ClaimHash{PaymentHash: c.PaymentHash}, nil
	case chains.Onchain, chains.OnchainNonced:
		if c.Kind == chains.Onchain {
			c.Nonce = 0 // the program takes one of the nonced kind alone
		} else if c.Nonce == 0 {
			return ClaimHash{}, errors.New("the condition needs a nonce")
		}
		if c.Sats > uint64(rawtx.MaxMoney) {
			return ClaimHash{}, fmt.Errorf("%d sats are more than can exist", c.Sats)
		}
		return ClaimHash{rawtx.NoncedTxoHash(c.Nonce, int64(c.Sats), c.Script), c.Nonce, c.Confirmations}, nil
	case chains.OnchainTxID:
		return ClaimHash{PaymentHash: c.TxID, Confirmations: c.Confirmations}, nil
	}
	return ClaimHash{}, fmt.Errorf("an escrow on Solana cannot have the condition %s", c.Kind)
}

// EscrowHash names one escrow, in events and stored swaps (§10).
func EscrowHash(paymentHash [32]byte, sequence uint64) [32]byte {
	return sha256.Sum256(binary.BigEndian.AppendUint64(slices.Clone(paymentHash[:]), sequence))
}

// ClaimHashText writes a claim hash as swap ids and LPs do: hex.
func ClaimHashText(hash []byte) string { return hex.EncodeToString(hash) }

// CheckPayment checks that a Bitcoin transaction fulfils the escrow's condition as the
// program will judge it, and returns it without witnesses (§8).
func (d *SwapData) CheckPayment(p chains.Payment) (stripped []byte, err error) {
	tx, err := rawtx.Decode(p.Raw)
	if err != nil {
		return nil, err
	}
	if id := tx.TxHash(); id != p.TxID {
		return nil, fmt.Errorf("its id is %s, not %s", id, p.TxID)
	}
	if stripped, err = rawtx.Strip(tx); err != nil {
		return nil, err
	}
	if len(stripped) == 64 {
		return nil, errors.New("a transaction of 64 bytes could be taken for two hashes")
	}
	if d.Kind == chains.OnchainTxID {
		if p.TxID != d.PaymentHash {
			return nil, fmt.Errorf("the escrow demands another transaction than %s", p.TxID)
		}
		return stripped, nil
	}
	if int(p.Vout) >= len(tx.TxOut) {
		return nil, fmt.Errorf("has %d outputs, no number %d", len(tx.TxOut), p.Vout)
	}
	nonce := uint64(0)
	if d.Kind == chains.OnchainNonced {
		if nonce, err = rawtx.TxNonce(tx, true); err != nil {
			return nil, err
		}
	}
	out := tx.TxOut[p.Vout]
	if nonce != d.Nonce || rawtx.NoncedTxoHash(nonce, out.Value, out.PkScript) != d.PaymentHash {
		return nil, fmt.Errorf("output %d is not the one that the escrow demands", p.Vout)
	}
	return stripped, nil
}
