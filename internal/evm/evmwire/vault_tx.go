package evmwire

import (
	"fmt"
	"math/big"

	"github.com/ethereum/go-ethereum/common"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/internal/bigs"
	"github.com/swapper-go/swapper/internal/btc/rawtx"
)

// token returns the token with the given index, 0 or 1.
func (p VaultParams) token(i int) common.Address {
	if i == 0 {
		return p.Token0
	}
	return p.Token1
}

// scale returns raw units of a token in base units.
func (p VaultParams) scale(i int, raw uint64) *big.Int {
	multiplier := p.Token0Multiplier
	if i == 1 {
		multiplier = p.Token1Multiplier
	}
	return new(big.Int).Mul(new(big.Int).SetUint64(raw), bigs.OrZero(multiplier))
}

// OpenVault builds what opens a vault on its initial output.
func (d Deployment) OpenVault(v Vault) (Call, error) {
	if v.Opened {
		return Call{}, fault.New(fault.InvalidState, "the vault is already open")
	}
	if err := d.checkVault(v); err != nil {
		return Call{}, err
	}
	utxo := v.InitialUTXO
	data, err := VaultABI().Pack("open", v.ID, v.Params, common.Hash(utxo.Hash), utxo.Index)
	return Call{To: d.VaultManager.Address, Data: data, Gas: gasOpenVault}, err
}

// DepositVault builds what adds to a vault, in raw units.
func (d Deployment) DepositVault(v Vault, raw [2]uint64) ([]Call, error) {
	if err := d.checkVault(v); err != nil {
		return nil, err
	}
	gas := uint64(gasDepositBase)
	for i, amount := range raw {
		token := v.Params.token(i)
		if amount > 0 && token != Native && (i == 0 || token != v.Params.Token0) {
			gas += gasDepositPer
		}
	}
	data, err := VaultABI().Pack("deposit", v.Owner, v.ID, v.Params, raw[0], raw[1])
	if err != nil {
		return nil, err
	}
	return d.vaultPayment(v, raw, data, gas)
}

// FrontVault builds what advances a withdrawal to its recipient. sequence is the
// number of withdrawals before it; the contract refuses one that the vault has
// already reached.
func (d Deployment) FrontVault(v Vault, w chains.Withdrawal, sequence uint32) ([]Call, error) {
	if err := d.checkVault(v); err != nil {
		return nil, err
	}
	data, err := VaultABI().Pack("front", v.Owner, v.ID, v.Params, sequence, common.Hash(w.TxID), withdrawalTuple(w))
	if err != nil {
		return nil, err
	}
	return d.vaultPayment(v, w.Amounts.Advance(), data, frontGas(v.Params, w))
}

// vaultPayment is a call to the vault manager that takes raw amounts from the
// sender, after the approvals that it needs.
func (d Deployment) vaultPayment(v Vault, raw [2]uint64, data []byte, gas uint64) ([]Call, error) {
	value := new(big.Int)
	var needs allowances
	for i, amount := range raw {
		switch token := v.Params.token(i); {
		case amount == 0:
		case token == Native:
			value.Add(value, v.Params.scale(i, amount))
		default:
			needs.add(token, v.Params.scale(i, amount))
		}
	}
	calls, err := needs.calls(d.VaultManager.Address)
	if err != nil {
		return nil, err
	}
	return append(calls, Call{To: d.VaultManager.Address, Value: value, Data: data, Gas: gas}), nil
}

// ClaimVault builds what makes a vault pay a withdrawal. The proof's vout and
// confirmations do not matter. The contract pays in the order in which the
// withdrawals spend the vault's outputs, so those before must be claimed before.
func (d Deployment) ClaimVault(v Vault, w chains.Withdrawal, p BitcoinProof, sender common.Address) (Call, error) {
	if err := d.checkVault(v); err != nil {
		return Call{}, err
	}
	tx, err := rawtx.Decode(p.Tx)
	if err != nil {
		return Call{}, err
	}
	if id := tx.TxHash(); id != w.TxID {
		return Call{}, fmt.Errorf("the proof is for transaction %s, but the withdrawal is %s", id, w.TxID)
	}
	stripped, err := rawtx.Strip(tx)
	if err != nil {
		return Call{}, err
	}
	header := struct{ Data [5][32]byte }{p.Header.words()}
	siblings := make([][32]byte, len(p.Merkle.Hashes))
	for i, h := range p.Merkle.Hashes {
		siblings[i] = h
	}
	data, err := VaultABI().Pack("claim", v.Owner, v.ID, v.Params, stripped, header, siblings, new(big.Int).SetUint64(uint64(p.Merkle.Pos)))
	return Call{To: d.VaultManager.Address, Data: data, Gas: vaultClaimGas(v.Params, w, sender)}, err
}

// ParseCall is the call data by which the contract is asked how it reads a
// transaction, given without witnesses: an error means that a claim of it would
// close the vault.
func ParseCall(stripped []byte) ([]byte, error) { return VaultABI().Pack("parseBitcoinTx", stripped) }

// FronterCall is the call data that asks who advanced a withdrawal.
func FronterCall(v VaultRef, id common.Hash) ([]byte, error) {
	if !InBits(v.ID, 96) {
		return nil, fault.Invalid("vaultId", "must be from 0 to 2^96-1")
	}
	return VaultABI().Pack("getFronterById", v.Owner, v.ID, id)
}

// DecodeFronter reads the answer to [FronterCall]; the zero address means that
// the payout was not advanced.
func DecodeFronter(answer []byte) (common.Address, error) {
	var a common.Address
	err := Unpack(VaultABI(), "getFronterById", answer, &a)
	return a, err
}

func (d Deployment) checkVault(v Vault) error {
	if _, err := v.Params.Commitment(); err != nil {
		return err
	}
	if !InBits(v.ID, 96) {
		return fault.Invalid("vaultId", "must be from 0 to 2^96-1")
	}
	if v.Params.BtcRelayContract != d.BtcRelay.Address {
		return fault.Invalid("vault", "uses a different relay")
	}
	return nil
}

// frontGas is the gas limit of advancing a withdrawal.
func frontGas(p VaultParams, w chains.Withdrawal) uint64 {
	gas := uint64(gasFront)
	for i, raw := range w.Raw {
		if raw > 0 {
			gas += payGas(p.token(i))
		}
	}
	if w.Execution != nil {
		gas += gasExecution
	}
	return gas
}

// vaultClaimGas is the gas limit of a vault claim.
func vaultClaimGas(p VaultParams, w chains.Withdrawal, sender common.Address) uint64 {
	gas := uint64(gasVaultClaim)
	for i, raw := range w.Raw {
		if raw == 0 {
			continue
		}
		one := payGas(p.token(i))
		gas += one
		if w.Shares.Fronting > 0 {
			gas += one
		}
		if w.Shares.Caller > 0 && sender != common.HexToAddress(w.Recipient) {
			gas += one
		}
	}
	if w.Execution != nil {
		gas += gasExecution
	}
	return gas
}
