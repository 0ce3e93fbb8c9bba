package evm

import (
	"context"
	"math/big"

	"github.com/ethereum/go-ethereum/accounts/abi"
	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/crypto"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/internal/evm/wire"
)

// The calls that liquidity providers and those who advance withdrawals send; a client
// sends none of them. They have no gas limits of their own.

// Transfer makes a transfer of any token; with [Native] it is one of the native coin.
func Transfer(token, to common.Address, amount *big.Int) (wire.Call, error) {
	if token == Native {
		return wire.Call{To: to, Value: amount}, nil
	}
	return packed(token, wire.ERC20ABI(), "transfer", to, amount)
}

// Deposit puts base units of a token into an account's balance in the escrow
// contract, out of which an LP pays escrows.
func (n *Net) Deposit(ctx context.Context, lp *Account, token common.Address, amount *big.Int) error {
	to := n.contracts.EscrowManager.Address
	call, err := packed(to, wire.EscrowABI(), "deposit", token, amount)
	if err != nil {
		return err
	}
	calls, err := paying(call, [2]common.Address{token}, [2]*big.Int{amount, new(big.Int)})
	if err != nil {
		return err
	}
	_, err = lp.SendAll(ctx, calls)
	return err
}

// Withdraw takes an amount out of the sender's balance in the escrow contract.
func (n *Net) Withdraw(token common.Address, amount *big.Int, to common.Address) (wire.Call, error) {
	return packed(n.contracts.EscrowManager.Address, wire.EscrowABI(), "withdraw", token, amount, to)
}

// openVault opens a vault on its initial output.
func (n *Net) openVault(v wire.Vault) (wire.Call, error) {
	utxo := v.InitialUTXO
	return packed(n.contracts.VaultManager.Address, wire.VaultABI(), "open", v.ID, v.Params, common.Hash(utxo.Hash), utxo.Index)
}

// FillVault adds to a vault, in raw units.
func (n *Net) FillVault(v wire.Vault, raw [2]uint64) ([]wire.Call, error) {
	call, err := packed(n.contracts.VaultManager.Address, wire.VaultABI(), "deposit", v.Owner, v.ID, v.Params, raw[0], raw[1])
	if err != nil {
		return nil, err
	}
	return payingRaw(call, v, raw)
}

// FrontVault advances a withdrawal to its recipient. sequence is the number of
// withdrawals before it; the contract refuses one that the vault has already reached.
func (n *Net) FrontVault(v wire.Vault, w chains.Withdrawal, sequence uint32) ([]wire.Call, error) {
	call, err := packed(n.contracts.VaultManager.Address, wire.VaultABI(), "front", v.Owner, v.ID, v.Params, sequence, common.Hash(w.TxID), withdrawalTuple(w))
	if err != nil {
		return nil, err
	}
	return payingRaw(call, v, w.Amounts.Advance())
}

// Fronter returns the address that has advanced a withdrawal; zero if none has.
func (n *Net) Fronter(ctx context.Context, v wire.VaultRef, w chains.Withdrawal) (who common.Address, err error) {
	id, err := frontingID(w)
	if err != nil {
		return who, err
	}
	call, err := packed(n.contracts.VaultManager.Address, wire.VaultABI(), "getFronterById", v.Owner, v.ID, id)
	if err != nil {
		return who, err
	}
	answer, err := n.Read(ctx, n.faucet.Address, call)
	if err != nil {
		return who, err
	}
	return who, wire.Unpack(wire.VaultABI(), "getFronterById", answer, &who)
}

// frontingID is the key under which the vault manager remembers who advanced a
// withdrawal.
func frontingID(w chains.Withdrawal) (common.Hash, error) {
	inputs := wire.VaultABI().Methods["front"].Inputs
	tuple, err := inputs[len(inputs)-1:].Pack(withdrawalTuple(w))
	return crypto.Keccak256Hash(crypto.Keccak256(tuple), w.TxID[:]), err
}

// withdrawal is the BtcVaultTx tuple as the encoder wants it.
type withdrawal struct {
	Recipient                  common.Address
	Amount0                    uint64
	Amount1                    uint64
	CallerFee0                 uint64
	CallerFee1                 uint64
	FrontingFee0               uint64
	FrontingFee1               uint64
	ExecutionHandlerFeeAmount0 uint64
	ExecutionHash              common.Hash
	ExecutionExpiry            *big.Int
}

func withdrawalTuple(w chains.Withdrawal) withdrawal {
	a := w.Amounts
	return withdrawal{
		Recipient: common.HexToAddress(w.Recipient), Amount0: a.Payout[0], Amount1: a.Payout[1],
		CallerFee0: a.Caller[0], CallerFee1: a.Caller[1], FrontingFee0: a.Fronting[0], FrontingFee1: a.Fronting[1],
		ExecutionHandlerFeeAmount0: a.Execution, ExecutionHash: common.BytesToHash(w.Execution),
		ExecutionExpiry: new(big.Int).SetUint64(uint64(w.ExecutionExpiry)),
	}
}

func packed(to common.Address, contract abi.ABI, method string, args ...any) (wire.Call, error) {
	data, err := contract.Pack(method, args...)
	return wire.Call{To: to, Data: data}, err
}

// payingRaw is paying for raw units of a vault's tokens.
func payingRaw(call wire.Call, v wire.Vault, raw [2]uint64) ([]wire.Call, error) {
	amounts := [2]*big.Int{v.Params.Token0Multiplier, v.Params.Token1Multiplier}
	for i, n := range raw {
		amounts[i] = new(big.Int).Mul(amounts[i], new(big.Int).SetUint64(n))
	}
	return paying(call, [2]common.Address{v.Params.Token0, v.Params.Token1}, amounts)
}

// paying returns a call that takes amounts of two tokens from the sender, which may be
// the same, behind the approvals that it needs.
func paying(call wire.Call, of [2]common.Address, amounts [2]*big.Int) (calls []wire.Call, err error) {
	if of[0] == of[1] { // a second approval would overwrite the first
		amounts = [2]*big.Int{new(big.Int).Add(amounts[0], amounts[1]), new(big.Int)}
	}
	call.Value = new(big.Int)
	for i, amount := range amounts {
		switch {
		case of[i] == Native:
			call.Value.Add(call.Value, amount)
		case amount.Sign() > 0:
			approval, err := packed(of[i], wire.ERC20ABI(), "approve", call.To, amount)
			if err != nil {
				return nil, err
			}
			calls = append(calls, approval)
		}
	}
	return append(calls, call), nil
}
