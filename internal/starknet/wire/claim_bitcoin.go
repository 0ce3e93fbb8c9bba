package wire

import (
	"github.com/btcsuite/btcd/wire"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/internal/btc/rawtx"
)

// BitcoinProof is what a claim handler needs to see that a Bitcoin transaction is
// buried deep enough.
type BitcoinProof struct {
	Tx            []byte // serialised, with or without witness
	Vout          uint32 // output that pays, for the kinds that look at one
	Confirmations uint32 // that the escrow demands
	Header        StoredHeader
	Merkle        bitcoin.MerkleProof
}

// ClaimByBitcoin builds the claim of an escrow for a Bitcoin transaction. The
// commitment is computed from the transaction that is presented, so that one which
// does not fulfil the escrow is refused here and not on chain.
func (d Deployment) ClaimByBitcoin(s SwapData, p BitcoinProof) (Call, error) {
	kind, ok := d.KindOf(s.ClaimHandler)
	if !ok || kind == chains.HTLC {
		return Call{}, fault.Invalid("claimHandler", "%s is not a handler of Bitcoin proofs on this chain", Hex64(s.ClaimHandler))
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
	call, err := d.claim(s, kind, p.witness(kind, c))
	size := len(stripped)
	if kind == chains.OnchainTxID { // which is proven without its transaction
		size = 0
	}
	call.Gas = call.Gas.plus(proofGas(size, len(p.Merkle.Hashes)))
	return call, err
}

// witness is what a claim handler takes (§7). The proof's transaction must be without
// witnesses.
func (p BitcoinProof) witness(kind chains.Kind, c commitment) []Felt {
	w := append(make(felts, 0, 80), c...).storedHeader(p.Header).merkle(p.Merkle)
	if kind != chains.OnchainTxID {
		w = w.add(ByteArray(p.Tx)...).uint(uint64(p.Vout))
	}
	return w
}

// merkle appends a proof: the number of siblings, these in internal byte order, and
// the position.
func (w felts) merkle(p bitcoin.MerkleProof) felts {
	w = w.uint(uint64(len(p.Hashes)))
	for _, h := range p.Hashes {
		w = w.words(h[:])
	}
	return w.uint(uint64(p.Pos))
}

func (r *reader) merkle() (p bitcoin.MerkleProof) {
	n := r.uint(32)
	if r.err == nil && n > 32 {
		r.fail("a merkle proof of %d levels is deeper than any block", n)
	}
	for range n {
		if r.err != nil {
			break
		}
		p.Hashes = append(p.Hashes, bitcoin.Hash(r.words(8)))
	}
	p.Pos = r.u32()
	return p
}

// subjectOf is what the commitment of a kind is about. The nonce is that of all
// inputs: the contract refuses a transaction whose inputs differ in it (§7).
func subjectOf(kind chains.Kind, tx *wire.MsgTx, vout uint32) ([]Felt, error) {
	if kind == chains.OnchainTxID {
		return txidSubject(tx.TxHash()), nil
	}
	if uint64(vout) >= uint64(len(tx.TxOut)) {
		return nil, fault.New(fault.InvalidState, "the Bitcoin transaction has no output %d", vout)
	}
	var nonce uint64
	if kind == chains.OnchainNonced {
		var err error
		if nonce, err = rawtx.TxNonce(tx, true); err != nil {
			return nil, err
		}
		if nonce == 0 {
			return nil, fault.New(fault.InvalidState, "the Bitcoin transaction has no nonce")
		}
	}
	out := tx.TxOut[vout]
	return outputSubject(out.PkScript, uint64(out.Value), nonce), nil
}

// BitcoinClaimPattern is the part of a claim's calldata that says which escrow is
// claimed, and the headers that may come before it.
func (d Deployment) BitcoinClaimPattern(s SwapData) ([]Call, error) {
	all, err := s.Felts()
	if err != nil {
		return nil, err
	}
	return []Call{
		{Role: RoleRelay, To: d.BtcRelay.Address},
		{Role: RoleProof, To: d.EscrowManager.Address, Entry: entryClaim, Calldata: all},
	}, nil
}

// VaultClaimPattern is the same for vaults: the owner and the number. All withdrawals
// before the wanted one are claimed in the same way.
func (d Deployment) VaultClaimPattern(ref VaultRef) []Call {
	return []Call{
		{Role: RoleRelay, To: d.BtcRelay.Address},
		{Role: RoleProofs, To: d.VaultManager.Address, Entry: entryVaultClaim, Calldata: ref.felts()},
	}
}
