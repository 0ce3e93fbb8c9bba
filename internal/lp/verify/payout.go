package verify

import (
	"bytes"
	"crypto/sha256"

	"github.com/btcsuite/btcd/wire"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/internal/btc/rawtx"
	"github.com/swapper-go/swapper/internal/lp"
)

// Secret checks the preimage by which an LP says that it has paid an
// invoice: it must satisfy the claim hash of the escrow (protocol: lp-protocol.md
// §6.9). Pure.
func Secret(k chains.Contract, e chains.Escrow, secret []byte) error {
	if len(secret) != sha256.Size {
		return lp.Lie(lp.CheckSecret, "the preimage has %d bytes instead of 32", len(secret))
	}
	hash, err := k.ClaimHash(chains.Condition{Kind: chains.HTLC, PaymentHash: sha256.Sum256(secret)})
	if err != nil {
		return err
	}
	if !bytes.Equal(hash, e.ClaimHash) {
		return lp.Lie(lp.CheckSecret, "the preimage does not match the escrow")
	}
	return nil
}

// PayoutProof is where a transaction pays what an escrow demands.
type PayoutProof struct {
	Vout          uint32
	Script        []byte
	Sats          uint64
	Nonce         uint64
	Confirmations uint16 // that the escrow demands
}

// PayoutTx checks the transaction by which an LP says that it has paid out:
// one output must satisfy the claim hash of the escrow. A nonce of 0 is read from the
// transaction, if the escrow demands one; confirmations 0 are found out (protocol: lp-protocol.md §6.9).
// Pure.
func PayoutTx(k chains.Contract, e chains.Escrow, tx *wire.MsgTx, nonce uint64, confirmations uint16) (PayoutProof, error) {
	if nonce == 0 && e.Kind == chains.OnchainNonced {
		var err error
		if nonce, err = rawtx.TxNonce(tx, false); err != nil {
			return PayoutProof{}, lp.Lie(lp.CheckPayout, "%w", err)
		}
	}
	vout, confirmations, ok := rawtx.FindOutput(tx, e.ClaimHash, confirmations, func(out *wire.TxOut, n uint16) ([]byte, error) {
		return k.ClaimHash(chains.Condition{Kind: e.Kind, Script: out.PkScript, Sats: uint64(out.Value), Nonce: nonce, Confirmations: n})
	})
	if !ok {
		return PayoutProof{}, lp.Lie(lp.CheckPayout, "no output of transaction %s satisfies the escrow", tx.TxHash())
	}
	out := tx.TxOut[vout]
	return PayoutProof{Vout: vout, Script: out.PkScript, Sats: uint64(out.Value), Nonce: nonce, Confirmations: confirmations}, nil
}
