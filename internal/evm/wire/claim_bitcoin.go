package wire

import (
	"encoding/binary"

	"github.com/btcsuite/btcd/wire"
	"github.com/ethereum/go-ethereum/common"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/internal/btc/rawtx"
)

// BitcoinProof is what a claim handler needs to see that a Bitcoin transaction
// is buried deep enough.
type BitcoinProof struct {
	Tx            []byte // serialised, with or without witness
	Vout          uint32 // output that pays, for the kinds that look at one
	Confirmations uint32 // that the escrow demands
	Header        StoredHeader
	Merkle        bitcoin.MerkleProof
}

// ClaimByBitcoin builds the claim of an escrow for a Bitcoin transaction. The
// commitment is computed from the transaction that is presented, so that one
// which does not fulfil the escrow is refused here and not on chain. Other
// outputs' scripts are not checked: the contract accepts any (protocol:
// chain-evm.md §13.13).
func (d Deployment) ClaimByBitcoin(s SwapData, p BitcoinProof) (Call, error) {
	kind, ok := d.KindOf(s.ClaimHandler)
	if !ok || kind == chains.HTLC {
		return Call{}, fault.Invalid("claimHandler", "%s is not a handler of Bitcoin proofs on this chain", s.ClaimHandler)
	}
	tx, err := rawtx.Decode(p.Tx)
	if err != nil {
		return Call{}, err
	}
	stripped, err := rawtx.Strip(tx)
	if err != nil {
		return Call{}, err
	}
	subject, err := subjectOf(kind, tx, p.Vout)
	if err != nil {
		return Call{}, err
	}
	c := newCommitment(subject, p.Confirmations, d.BtcRelay.Address)
	if c.claimData() != s.ClaimData {
		return Call{}, fault.New(fault.InvalidState, "the Bitcoin transaction does not fulfil the escrow's condition")
	}
	p.Tx = stripped
	return d.claim(s, kind, p.witness(kind, c))
}

// witness is what a claim handler takes (protocol: chain-evm.md §4). The proof's
// transaction must be without witnesses.
func (p BitcoinProof) witness(kind chains.Kind, c commitment) []byte {
	w := append(append([]byte(nil), c[:]...), p.Header[:]...)
	if kind != chains.OnchainTxID {
		w = binary.BigEndian.AppendUint32(w, p.Vout)
		w = append(words(w).uint64(uint64(len(p.Tx))), p.Tx...)
	}
	w = binary.BigEndian.AppendUint32(w, p.Merkle.Pos)
	w = words(w).uint64(uint64(len(p.Merkle.Hashes)))
	for _, h := range p.Merkle.Hashes {
		w = append(w, h[:]...)
	}
	return w
}

// subjectOf is what the commitment of a kind is about.
func subjectOf(kind chains.Kind, tx *wire.MsgTx, vout uint32) (common.Hash, error) {
	if kind == chains.OnchainTxID {
		return common.Hash(tx.TxHash()), nil
	}
	if uint64(vout) >= uint64(len(tx.TxOut)) {
		return common.Hash{}, fault.New(fault.InvalidState, "the Bitcoin transaction has no output %d", vout)
	}
	var nonce uint64
	if kind == chains.OnchainNonced {
		var err error
		if nonce, err = rawtx.TxNonce(tx, false); err != nil { // the contract looks at input 0 only
			return common.Hash{}, err
		}
	}
	out := tx.TxOut[vout]
	return outputHash(out.PkScript, uint64(out.Value), nonce), nil
}
