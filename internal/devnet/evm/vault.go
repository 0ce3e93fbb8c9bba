package evm

import (
	"context"
	"math/big"

	"github.com/ethereum/go-ethereum/common"

	btc "github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/chains/evm"
)

// VaultTx is what the vault manager reads from a Bitcoin transaction, in raw
// units (protocol: chain-evm.md §2.1, BtcVaultTx).
type VaultTx struct {
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

// VaultParams are parameters for a vault of this network: its relay, a token
// with its multiplier, and the native coin in raw units of sats.
func (n *Net) VaultParams(token common.Address, multiplier *big.Int, confirmations int64) evm.VaultParams {
	return evm.VaultParams{
		BtcRelayContract: n.contracts.BtcRelay.Address, Token0: token, Token1: Native,
		Token0Multiplier: multiplier, Token1Multiplier: big.NewInt(1e10), Confirmations: big.NewInt(confirmations),
	}
}

// OpenVault is the call of a vault's owner that opens it on a Bitcoin output,
// which the contract does not look at.
func (n *Net) OpenVault(id *big.Int, p evm.VaultParams, utxo btc.OutPoint) (evm.Call, error) {
	return n.vaultCall("open", id, p, [32]byte(utxo.Hash), utxo.Index)
}

// DepositVault are the calls that add raw units to a vault: approvals and the
// deposit itself. Anybody may send them.
func (n *Net) DepositVault(v evm.VaultRef, p evm.VaultParams, raw [2]uint64) ([]evm.Call, error) {
	call, err := n.vaultCall("deposit", v.Owner, v.ID, p, raw[0], raw[1])
	if err != nil {
		return nil, err
	}
	return n.paid(call, p, raw)
}

// FrontVault are the calls that pay a withdrawal before it is claimed: approvals
// and the front itself. sequence is the number of withdrawals of the vault before
// this one.
func (n *Net) FrontVault(v evm.VaultRef, p evm.VaultParams, sequence uint32, id btc.Hash, w VaultTx) ([]evm.Call, error) {
	call, err := n.vaultCall("front", v.Owner, v.ID, p, sequence, [32]byte(id), w)
	if err != nil {
		return nil, err
	}
	return n.paid(call, p, [2]uint64{w.Amount0 + w.ExecutionHandlerFeeAmount0, w.Amount1})
}

// ClaimVault is the call that makes a vault pay a withdrawal.
func (n *Net) ClaimVault(v evm.VaultRef, p evm.VaultParams, proof evm.BitcoinProof) (evm.Call, error) {
	hashes := make([][32]byte, len(proof.Merkle.Hashes))
	for i, h := range proof.Merkle.Hashes {
		hashes[i] = h
	}
	return n.vaultCall("claim", v.Owner, v.ID, p, proof.Tx, storedHeader(proof.Header).tuple(), hashes,
		new(big.Int).SetUint64(uint64(proof.Merkle.Pos)))
}

// Vault reads the state of a vault.
func (n *Net) Vault(ctx context.Context, v evm.VaultRef) (evm.VaultState, error) {
	data, err := evm.VaultCall(v)
	if err != nil {
		return evm.VaultState{}, err
	}
	answer, err := n.Read(ctx, n.faucet.Address, evm.Call{To: n.contracts.VaultManager.Address, Data: data})
	if err != nil {
		return evm.VaultState{}, err
	}
	return evm.DecodeVaultState(answer)
}

// ParseWithdrawal lets the vault manager read a Bitcoin transaction without
// witness. What closes a vault when it is claimed is a *[RevertError].
func (n *Net) ParseWithdrawal(ctx context.Context, raw []byte) (w VaultTx, err error) {
	call, err := n.vaultCall("parseBitcoinTx", raw)
	if err != nil {
		return w, err
	}
	answer, err := n.Read(ctx, n.faucet.Address, call)
	if err != nil {
		return w, err
	}
	a, err := LoadArtifact("VaultManager")
	if err != nil {
		return w, err
	}
	m := a.ABI.Methods["parseBitcoinTx"]
	values, err := m.Outputs.Unpack(answer)
	if err != nil {
		return w, err
	}
	return w, m.Outputs.Copy(&w, values)
}

func (n *Net) vaultCall(method string, args ...any) (evm.Call, error) {
	return CallOf("VaultManager", n.contracts.VaultManager.Address, method, args...)
}

// paid adds to a call the native coin and the approvals that raw amounts need.
func (n *Net) paid(call evm.Call, p evm.VaultParams, raw [2]uint64) ([]evm.Call, error) {
	var calls []evm.Call
	call.Value = new(big.Int)
	amount0, amount1 := base(raw[0], p.Token0Multiplier), base(raw[1], p.Token1Multiplier)
	if p.Token0 == p.Token1 {
		amount0, amount1 = amount0.Add(amount0, amount1), new(big.Int)
	}
	for _, part := range []evm.Allowance{{Token: p.Token0, Amount: amount0}, {Token: p.Token1, Amount: amount1}} {
		if part.Token == Native {
			call.Value.Add(call.Value, part.Amount)
			continue
		}
		if part.Amount.Sign() == 0 {
			continue
		}
		approve, err := CallOf("TestToken", part.Token, "approve", call.To, part.Amount)
		if err != nil {
			return nil, err
		}
		calls = append(calls, approve)
	}
	return append(calls, call), nil
}

func base(raw uint64, multiplier *big.Int) *big.Int {
	return new(big.Int).Mul(new(big.Int).SetUint64(raw), multiplier)
}
