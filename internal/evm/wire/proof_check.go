package wire

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"math/big"
	"reflect"

	"github.com/btcsuite/btcd/wire"
	"github.com/ethereum/go-ethereum/accounts/abi"
	"github.com/ethereum/go-ethereum/common"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/internal/btc/rawtx"
	"github.com/swapper-go/swapper/internal/btc/relay"
)

// CheckProofs looks at the Bitcoin proofs of returned transactions, which may
// come from another poll than the last and so are not compared byte by byte
// (protocol: chain-evm.md §13.3). Each must be in the one canonical encoding,
// lead from a Bitcoin transaction to a header, and prove what its step is about;
// only whether the relay has the header is left to the contract. steps are the
// steps of the plan by call.
func (d Deployment) CheckProofs(plan chains.Plan, calls []Call, steps []int, checked []CheckedTx) error {
	last := map[int]int{}           // of a step: the transaction that claims for it
	left := map[int]wire.OutPoint{} // of a step: the vault's output after the claims so far
	for i, tx := range checked {
		if role := calls[tx.Call].Role; role != RoleProof && role != RoleProofs {
			continue
		}
		n := steps[tx.Call]
		var err error
		if step := plan.Steps[n]; step.Kind == chains.StepVaultClaim {
			var of *wire.MsgTx
			if of, err = d.checkVaultClaim(tx.Data); err == nil {
				if left, ok := left[n]; ok && of.TxIn[0].PreviousOutPoint != left {
					err = fmt.Errorf("claims a withdrawal that does not follow the previous one")
				}
				left[n] = wire.OutPoint{Hash: of.TxHash()}
			}
		} else {
			err = d.checkBitcoinClaim(step.Escrow, tx.Data)
		}
		if err != nil {
			return fault.Invalid(fmt.Sprintf("signedTxs[%d]", i), "%w", err)
		}
		last[n] = i
	}
	for n, i := range last {
		if v := plan.Steps[n].Vault; v != nil && left[n].Hash != v.TxID {
			return fault.Invalid(fmt.Sprintf("signedTxs[%d]", i), "claims withdrawal %s instead of %s", left[n].Hash, v.TxID)
		}
	}
	return nil
}

// arguments decodes call data of a method and refuses any but the canonical
// encoding.
func arguments(m abi.Method, data []byte) ([]any, error) {
	if len(data) < 4 || !bytes.Equal(data[:4], m.ID) {
		return nil, fmt.Errorf("does not call %s", m.Name)
	}
	args, err := m.Inputs.Unpack(data[4:])
	if err != nil {
		return nil, fmt.Errorf("%s: %w", m.Name, err)
	}
	if again, err := m.Inputs.Pack(args...); err != nil || !bytes.Equal(again, data[4:]) {
		return nil, fmt.Errorf("calls %s in an unusual encoding", m.Name)
	}
	return args, nil
}

// checkBitcoinClaim checks that call data proves the condition of an escrow.
func (d Deployment) checkBitcoinClaim(e chains.Escrow, data []byte) error {
	args, err := arguments(EscrowABI().Methods["claim"], data)
	if err != nil {
		return err
	}
	s, err := SwapDataOf(e)
	if err != nil {
		return err
	}
	kind, _ := d.KindOf(s.ClaimHandler)
	witness, ok := args[1].([]byte)
	if !ok {
		return fmt.Errorf("has no witness")
	}
	c, p, err := readWitness(kind, witness)
	if err != nil {
		return err
	}
	if c.claimData() != s.ClaimData {
		return fmt.Errorf("proves a condition other than the escrow's")
	}
	subject := common.Hash(c[:32])
	if kind == chains.OnchainTxID {
		p.Merkle.TxID = bitcoin.Hash(subject)
		return p.Merkle.Verify(p.Header.Header())
	}
	tx, err := rawtx.Decode(p.Tx)
	if err != nil {
		return err
	}
	if got, err := subjectOf(kind, tx, p.Vout); err != nil || got != subject {
		return fmt.Errorf("contains a Bitcoin transaction that does not fulfil the escrow's condition")
	}
	p.Merkle.TxID = tx.TxHash()
	return relay.CheckProof(p.Tx, p.Merkle, p.Header.Header())
}

// readWitness takes the witness of a Bitcoin proof apart (protocol: chain-evm.md §4).
func readWitness(kind chains.Kind, witness []byte) (c commitment, p BitcoinProof, err error) {
	rest := witness
	take := func(n uint64) []byte {
		if uint64(len(rest)) < n {
			err = fmt.Errorf("has a truncated witness")
			return make([]byte, min(n, 256))
		}
		part := rest[:n]
		rest = rest[n:]
		return part
	}
	length := func() uint64 {
		word := take(32)
		if !bytes.Equal(word[:24], make([]byte, 24)) {
			err = fmt.Errorf("has a witness with an invalid length")
			return 0
		}
		return binary.BigEndian.Uint64(word[24:])
	}
	copy(c[:], take(56))
	copy(p.Header[:], take(160))
	p.Merkle.Height = p.Header.Height()
	if kind != chains.OnchainTxID {
		p.Vout = binary.BigEndian.Uint32(take(4))
		p.Tx = take(length())
	}
	p.Merkle.Pos = binary.BigEndian.Uint32(take(4))
	siblings := length()
	if err == nil && uint64(len(rest)) != siblings*32 || siblings > maxTxSize {
		err = fmt.Errorf("has a witness whose length does not match its header")
	}
	for err == nil && len(rest) > 0 {
		p.Merkle.Hashes = append(p.Merkle.Hashes, bitcoin.Hash(take(32)))
	}
	return c, p, err
}

// checkVaultClaim checks that call data proves a withdrawal to the vault manager
// in a form that it can carry out, and returns the Bitcoin transaction. Owner and
// number of the vault are compared with the rest of the pattern.
func (d Deployment) checkVaultClaim(data []byte) (*wire.MsgTx, error) {
	args, err := arguments(VaultABI().Methods["claim"], data)
	if err != nil {
		return nil, err
	}
	var params VaultParams
	var raw []byte
	var header struct{ Data [5]common.Hash }
	var siblings []bitcoin.Hash
	var position *big.Int
	for i, into := range []any{2: &params, 3: &raw, 4: &header, 5: &siblings, 6: &position} {
		if into == nil {
			continue
		}
		if err := copyValue(reflect.ValueOf(into).Elem(), reflect.ValueOf(args[i])); err != nil {
			return nil, err
		}
	}
	switch {
	case params.BtcRelayContract != d.BtcRelay.Address:
		return nil, fmt.Errorf("claims from a vault bound to a different relay")
	case !position.IsUint64() || position.Uint64() > math.MaxUint32:
		return nil, fmt.Errorf("names a position that no block can have")
	}
	tx, err := rawtx.Decode(raw)
	if err != nil {
		return nil, err
	}
	if _, err := ParseWithdrawal(tx); err != nil {
		return nil, err
	}
	p := BitcoinProof{Tx: raw, Merkle: bitcoin.MerkleProof{TxID: tx.TxHash(), Pos: uint32(position.Uint64()), Hashes: siblings}}
	for i, word := range header.Data {
		copy(p.Header[32*i:], word[:])
	}
	p.Merkle.Height = p.Header.Height()
	return tx, relay.CheckProof(p.Tx, p.Merkle, p.Header.Header())
}
