package contracts

import (
	"math/big"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/internal/starknet/wire"
)

// The calls that liquidity providers and those who advance withdrawals send; a client
// sends none of them. They have no gas limits of their own.

// fillBalance adds to the sender's balance in the escrow manager, out of which an LP pays
// escrows.
func fillBalance(d wire.Deployment, token wire.Felt, amount *big.Int) []wire.Call {
	to := d.EscrowManager.Address
	return []wire.Call{approveCall(token, to, amount), {To: to, Entry: "deposit", Calldata: append([]wire.Felt{token}, u256(amount)...)}}
}

// takeBalance takes from the sender's balance in the escrow manager.
func takeBalance(d wire.Deployment, token wire.Felt, amount *big.Int, to wire.Felt) wire.Call {
	return wire.Call{To: d.EscrowManager.Address, Entry: "withdraw", Calldata: append(append([]wire.Felt{token}, u256(amount)...), to)}
}

// OpenVault opens a vault of the sender's on its initial output.
func OpenVault(d wire.Deployment, v wire.Vault) (wire.Call, error) {
	utxo := v.InitialUTXO
	low, high := wire.TxIDKeys(utxo.Hash)
	data := []wire.Felt{v.ID, v.Relay, low, high, wire.FeltOf(uint64(utxo.Index)), wire.FeltOf(uint64(v.Confirmations)), v.Tokens[0], v.Tokens[1]}
	for _, multiplier := range v.Multipliers {
		m, err := wire.FeltOfBig(multiplier)
		if err != nil {
			return wire.Call{}, err
		}
		data = append(data, m)
	}
	return wire.Call{To: d.VaultManager.Address, Entry: "open", Calldata: data}, nil
}

// FillVault adds raw units of its tokens to a vault.
func FillVault(d wire.Deployment, v wire.Vault, raw [2]uint64) []wire.Call {
	data := append(v.Felts(), wire.FeltOf(raw[0]), wire.FeltOf(raw[1]))
	return append(approveRaw(d, v, raw), wire.Call{To: d.VaultManager.Address, Entry: "deposit", Calldata: data})
}

// FrontVault advances a withdrawal to its recipient. sequence is the number of the
// vault's withdrawals before it.
func FrontVault(d wire.Deployment, v wire.Vault, w chains.Withdrawal, sequence uint32) ([]wire.Call, error) {
	tuple, err := wire.WithdrawalFelts(w)
	if err != nil {
		return nil, err
	}
	low, high := wire.TxIDKeys(w.TxID)
	data := append(append(v.Felts(), wire.FeltOf(uint64(sequence)), low, high), tuple...)
	return append(approveRaw(d, v, w.Amounts.Advance()), wire.Call{To: d.VaultManager.Address, Entry: "front", Calldata: data}), nil
}

// approveRaw approves what raw units of a vault's tokens are worth.
func approveRaw(d wire.Deployment, v wire.Vault, raw [2]uint64) (calls []wire.Call) {
	var amounts [2]*big.Int
	for i, n := range raw {
		amounts[i] = new(big.Int).Mul(new(big.Int).SetUint64(n), v.Multipliers[i])
	}
	if v.Tokens[0] == v.Tokens[1] { // a second approval would overwrite the first
		amounts = [2]*big.Int{amounts[0].Add(amounts[0], amounts[1]), new(big.Int)}
	}
	for i, amount := range amounts {
		if amount.Sign() > 0 {
			calls = append(calls, approveCall(v.Tokens[i], d.VaultManager.Address, amount))
		}
	}
	return calls
}

func approveCall(token, spender wire.Felt, amount *big.Int) wire.Call {
	return wire.Call{To: token, Entry: "approve", Calldata: append([]wire.Felt{spender}, u256(amount)...)}
}

func u256(n *big.Int) []wire.Felt {
	low, high, _ := wire.U256(n)
	return []wire.Felt{low, high}
}
