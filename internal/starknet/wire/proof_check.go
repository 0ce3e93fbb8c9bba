package wire

import (
	"errors"
	"fmt"

	btcwire "github.com/btcsuite/btcd/wire"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/internal/btc/rawtx"
	"github.com/swapper-go/swapper/internal/btc/relay"
)

// CheckProofs looks at the Bitcoin proofs of returned transactions, which may come
// from another poll than the last and so are not compared felt by felt. Each must be in
// the one canonical encoding, lead from a Bitcoin transaction to a header, and prove
// what its step is about; only whether the relay has the header is left to the
// contract. steps are the steps of the plan by call.
func (d Deployment) CheckProofs(plan chains.Plan, calls []Call, steps []int, checked []CheckedTx) error {
	last := map[int]int{}              // of a step: the transaction that claims for it
	left := map[int]btcwire.OutPoint{} // of a step: the vault's output after the claims so far
	for i, tx := range checked {
		for j, at := range tx.Calls {
			if role := calls[at].Role; role != RoleProof && role != RoleProofs {
				continue
			}
			n := steps[at]
			var err error
			if step := plan.Steps[n]; step.Kind == chains.StepVaultClaim {
				var of *btcwire.MsgTx
				if of, err = checkVaultClaim(tx.Made[j].Calldata); err == nil {
					if left, ok := left[n]; ok && of.TxIn[0].PreviousOutPoint != left {
						err = errors.New("claims a withdrawal that does not follow the previous one")
					}
					left[n] = btcwire.OutPoint{Hash: of.TxHash()}
				}
			} else {
				err = d.checkBitcoinClaim(step.Escrow, tx.Made[j].Calldata)
			}
			if err != nil {
				return fault.Invalid(fmt.Sprintf("signedTxs[%d]", i), "%w", err)
			}
			last[n] = i
		}
	}
	for n, i := range last {
		if v := plan.Steps[n].Vault; v != nil && left[n].Hash != v.TxID {
			return fault.Invalid(fmt.Sprintf("signedTxs[%d]", i), "claims withdrawal %s instead of %s", left[n].Hash, v.TxID)
		}
	}
	return nil
}

// checkBitcoinClaim checks that calldata proves the condition of an escrow.
func (d Deployment) checkBitcoinClaim(e chains.Escrow, calldata []Felt) error {
	s, err := SwapDataOf(e)
	if err != nil {
		return err
	}
	_, rest, err := d.decodeSwapData(calldata)
	if err != nil {
		return err
	}
	kind, _ := d.KindOf(s.ClaimHandler)
	outer := &reader{rest: rest}
	witness := outer.span()
	if err := outer.end(); err != nil {
		return fmt.Errorf("has no witness: %w", err)
	}
	c, p, err := readWitness(kind, witness)
	if err != nil {
		return err
	}
	if c.claimData() != s.ClaimData {
		return errors.New("proves a condition other than the escrow's")
	}
	if kind == chains.OnchainTxID {
		id, ok := bytesOfWords(c[:8])
		if !ok {
			return errors.New("has a witness that names no Bitcoin transaction")
		}
		p.Merkle.TxID = bitcoin.Hash(id)
		return p.Merkle.Verify(p.Header.Header)
	}
	tx, err := decodeStripped(p.Tx)
	if err != nil {
		return err
	}
	if got, err := subjectOf(kind, tx, p.Vout); err != nil || got[0] != c[0] {
		return errors.New("contains a Bitcoin transaction that does not fulfil the escrow's condition")
	}
	p.Merkle.TxID = tx.TxHash()
	return relay.CheckProof(p.Tx, p.Merkle, p.Header.Header)
}

// decodeStripped reads a transaction in the only form that contracts take: without
// witnesses, and not of 64 bytes.
func decodeStripped(raw []byte) (*btcwire.MsgTx, error) {
	tx, err := rawtx.Decode(raw)
	if err != nil {
		return nil, err
	}
	stripped, err := rawtx.Strip(tx)
	if err != nil {
		return nil, err
	}
	if string(stripped) != string(raw) {
		return nil, errors.New("contains a Bitcoin transaction with its witnesses")
	}
	return tx, nil
}

// readWitness takes the witness of a Bitcoin proof apart (§7).
func readWitness(kind chains.Kind, witness []Felt) (c commitment, p BitcoinProof, err error) {
	r := &reader{rest: witness}
	n := 3
	if kind == chains.OnchainTxID {
		n = 10
	}
	c = commitment(r.take(n))
	p.Header, p.Merkle = r.storedHeader(), r.merkle()
	p.Merkle.Height = p.Header.Header.Height
	if kind != chains.OnchainTxID {
		p.Tx, p.Vout = r.byteArray(), r.u32()
	}
	if err := r.end(); err != nil {
		return nil, BitcoinProof{}, fmt.Errorf("has a witness that cannot be read: %w", err)
	}
	return c, p, nil
}

// checkVaultClaim checks that calldata proves a withdrawal to the vault manager in a
// form that it can carry out, and returns the Bitcoin transaction. Owner and number of
// the vault are compared with the rest of the pattern.
func checkVaultClaim(calldata []Felt) (*btcwire.MsgTx, error) {
	r := &reader{rest: calldata}
	r.take(2)
	p := BitcoinProof{Tx: r.byteArray(), Header: r.storedHeader(), Merkle: r.merkle()}
	if err := r.end(); err != nil {
		return nil, fmt.Errorf("has a claim that cannot be read: %w", err)
	}
	tx, err := decodeStripped(p.Tx)
	if err != nil {
		return nil, err
	}
	if _, err := ParseWithdrawal(tx); err != nil {
		return nil, err
	}
	p.Merkle.TxID, p.Merkle.Height = tx.TxHash(), p.Header.Header.Height
	return tx, relay.CheckProof(p.Tx, p.Merkle, p.Header.Header)
}
