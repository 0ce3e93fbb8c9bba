package wire

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"math/big"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"

	"github.com/swapper-go/swapper/fault"
)

// maxSigned bounds how many transactions come back at once: an action has a
// claim, its approvals and some relay updates.
const maxSigned = 64

// MaxGas is above what any block of these chains holds.
const MaxGas = 100_000_000

// Bounds of what a transaction may cost, far above what the dearest one of the
// protocol costs at a hundred times the usual fees: gas limit times fee cap below
// 2^60 wei (1.15 coins), which is paid only if the chain itself is that dear, and
// gas limit times tip, which is always paid, below 2^56 wei (0.07 coins).
const (
	maxTotalFeeBits = 60
	maxTotalTipBits = 56
)

// CheckedTx is a returned transaction that is one of those asked for.
type CheckedTx struct {
	*Transaction
	Call int // index of the call that it carries out
}

// CheckSigned decodes what a wallet signed and demands that it is what was asked
// for (protocol: chain-evm.md §13.3). Each transaction must be EIP-1559, for this
// chain, signed by signer, and have the destination, value and data of a call;
// calls are matched in order, approvals and relay headers may be missing, every
// action must be there, and nothing may be added. Of an action that carries a
// Bitcoin proof only what it does and for whom is compared here, and the proof by
// [evm.contracts.checkProofs]. An approval may be for more than was asked. Relay headers may be others than those asked for, since the
// relay's tip moves between two polls: only their destination and form is checked.
//
// Nonces must follow each other, or a later transaction would wait for ever. Gas
// and fees are the wallet's choice within wide bounds: enough gas to be mined,
// and no absurd sum.
//
// Errors have the code [fault.InvalidInput] and name signedTxs[i].
func (d Deployment) CheckSigned(n Network, signer common.Address, calls []Call, signed []string) ([]CheckedTx, error) {
	return d.check(n, signer, calls, "signedTxs", signed)
}

// CheckUnsigned is [Deployment.CheckSigned] for what somebody else asks signer to sign: no
// transaction is signed yet, and approvals are for exactly what was asked. Errors name txs[i].
func (d Deployment) CheckUnsigned(n Network, signer common.Address, calls []Call, txs []string) ([]CheckedTx, error) {
	return d.check(n, signer, calls, unsignedTxs, txs)
}

const unsignedTxs = "txs"

func (d Deployment) check(n Network, signer common.Address, calls []Call, name string, texts []string) ([]CheckedTx, error) {
	if len(texts) == 0 || len(texts) > maxSigned {
		return nil, fault.Invalid(name, "must have 1 to %d transactions", maxSigned)
	}
	checked := make([]CheckedTx, 0, len(texts))
	proven := map[int]bool{}
	next := 0
	for i, text := range texts {
		field := fmt.Sprintf("%s[%d]", name, i)
		tx, err := ParseTransaction(text)
		if err != nil {
			return nil, fault.Invalid(field, "%w", err)
		}
		if name == unsignedTxs {
			if tx.Signed {
				return nil, fault.Invalid(field, "is signed already")
			}
			tx.Signed, tx.From = true, signer // as it will be
		}
		if err := n.checkEnvelope(tx, signer); err != nil {
			return nil, fault.Invalid(field, "%w", err)
		}
		if i > 0 {
			if before := checked[i-1].Nonce; tx.Nonce != before+1 {
				return nil, fault.Invalid(field, "has nonce %d, must have %d to follow the previous transaction", tx.Nonce, before+1)
			}
		}
		at, err := d.Match(calls, next, tx)
		if err != nil {
			return nil, fault.Invalid(field, "%w", err)
		}
		if name == unsignedTxs && calls[at].Role == RoleApproval && !bytes.Equal(tx.Data, calls[at].Data) {
			return nil, fault.Invalid(field, "must approve exactly %s", calls[at].Allowance.Amount)
		}
		checked = append(checked, CheckedTx{tx, at})
		next = at + 1
		if calls[at].Role == RoleRelay || calls[at].Role == RoleProofs {
			next = at // the present tip may need fewer or more of them
			if calls[at].Role == RoleProofs {
				proven[at] = true
			}
		}
	}
	for i := next; i < len(calls); i++ {
		if calls[i].Required() && !proven[i] {
			return nil, fault.Invalid(name, "transaction %d of the action is missing", i)
		}
	}
	return checked, nil
}

// checkEnvelope checks what does not depend on the call.
func (n Network) checkEnvelope(tx *Transaction, signer common.Address) error {
	switch {
	case !tx.Signed:
		return fmt.Errorf("is not signed")
	case tx.Type != types.DynamicFeeTxType:
		return fmt.Errorf("is of type %d, must be of type 2", tx.Type)
	case tx.ChainID.Cmp(new(big.Int).SetUint64(n.ChainID)) != 0:
		return fmt.Errorf("is for chain %s, must be for chain %d", tx.ChainID, n.ChainID)
	case signer == common.Address{} || tx.From != signer:
		return fmt.Errorf("is signed by %s, must be signed by %s", tx.From, signer)
	case tx.To == nil:
		return fmt.Errorf("must not create a contract")
	case len(tx.AccessList) != 0:
		return fmt.Errorf("must not have an access list")
	case tx.Gas < intrinsicGas(tx.Data) || tx.Gas > MaxGas:
		return fmt.Errorf("has a gas limit of %d, must be from %d to %d", tx.Gas, intrinsicGas(tx.Data), MaxGas)
	case tx.FeeCap.Sign() == 0 || tx.TipCap.Cmp(tx.FeeCap) > 0:
		return fmt.Errorf("must offer a fee, and a tip that is not above its fee cap")
	case gasCost(tx.Gas, tx.FeeCap).BitLen() > maxTotalFeeBits || gasCost(tx.Gas, tx.TipCap).BitLen() > maxTotalTipBits:
		return fmt.Errorf("offers an excessive fee")
	}
	return nil
}

// Match returns the first call from the given one on that tx carries out,
// stepping over optional calls only.
func (d Deployment) Match(calls []Call, from int, tx *Transaction) (int, error) {
	var missing error
	for i := from; i < len(calls); i++ {
		err := d.matches(calls[i], tx)
		if err == nil {
			return i, nil
		}
		if missing == nil || calls[i].Required() {
			missing = err // the action is what a person wants to hear about
		}
		if calls[i].Required() {
			break
		}
	}
	return 0, cmp.Or(missing, errors.New("is not part of the action"))
}

func (d Deployment) matches(c Call, tx *Transaction) error {
	if *tx.To != c.To {
		return fmt.Errorf("goes to %s, must go to %s", tx.To, c.To)
	}
	if tx.Value.Cmp(c.value()) != 0 {
		return fmt.Errorf("sends %s of the native token, must send %s", tx.Value, c.value())
	}
	switch c.Role {
	case RoleApproval:
		if c.Allowance == nil {
			return fmt.Errorf("is not part of the action")
		}
		return matchApproval(*c.Allowance, tx.Data)
	case RoleRelay:
		return matchRelay(tx.Data)
	case RoleProof, RoleProofs:
		if !bytes.HasPrefix(tx.Data, c.Data) {
			return fmt.Errorf("calls the contract differently than the action requires")
		}
		return nil
	}
	if !bytes.Equal(tx.Data, c.Data) {
		return fmt.Errorf("calls the contract differently than the action requires")
	}
	return nil
}

// Required reports whether the call may not be missing.
func (c Call) Required() bool {
	return c.Role == RoleAction || c.Role == RoleProof || c.Role == RoleProofs
}

// matchApproval accepts an approval for the very spender of at least the amount:
// wallets let people raise it.
func matchApproval(need Allowance, data []byte) error {
	m := ERC20ABI().Methods["approve"]
	if len(data) != 4+2*32 || !bytes.Equal(data[:4], m.ID) {
		return fmt.Errorf("is not an approval")
	}
	if !bytes.Equal(data[4:36], common.LeftPadBytes(need.Spender[:], 32)) {
		return fmt.Errorf("must approve the spender %s", need.Spender)
	}
	if amount := new(big.Int).SetBytes(data[36:]); amount.Cmp(need.Amount) < 0 {
		return fmt.Errorf("approves %s, must approve at least %s", amount, need.Amount)
	}
	return nil
}

// matchRelay accepts well-formed headers in the one canonical encoding; the relay
// itself judges them.
func matchRelay(data []byte) error {
	if _, _, ok := submittedHeaders(data); !ok {
		return fmt.Errorf("submits no Bitcoin headers to the relay")
	}
	of := RelayABI()
	m, err := of.MethodById(data[:4])
	if err != nil {
		return err
	}
	args, err := m.Inputs.Unpack(data[4:])
	if err != nil {
		return err
	}
	if again, err := m.Inputs.Pack(args...); err != nil || !bytes.Equal(again, data[4:]) {
		return fmt.Errorf("submits Bitcoin headers in an unusual encoding")
	}
	return nil
}

// intrinsicGas is what a transaction costs before its first instruction runs; a
// lower limit is refused by every node.
func intrinsicGas(data []byte) uint64 {
	gas := uint64(21_000)
	for _, b := range data {
		if b == 0 {
			gas += 4
		} else {
			gas += 16
		}
	}
	return gas
}
