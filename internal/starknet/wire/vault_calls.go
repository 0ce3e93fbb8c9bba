package wire

import (
	"fmt"
	"math/big"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/internal/bigs"
	"github.com/swapper-go/swapper/internal/btc/rawtx"
)

// Entry points of the vault manager (§15.1).
const (
	entryVaultOpen    = "open"
	entryVaultDeposit = "deposit"
	entryVaultFront   = "front"
	entryVaultClaim   = "claim"
	EntryFronter      = "get_fronter_address_by_id" // of a [FrontingID]; 0: not advanced
)

// VaultClaim builds the claim of one withdrawal.
func (d Deployment) VaultClaim(v Vault, p BitcoinProof) (Call, error) {
	if !v.Open() {
		return Call{}, fault.New(fault.InvalidState, "vault %s of %s is closed", Decimal(v.ID), Hex64(v.Owner))
	}
	if v.Relay != d.BtcRelay.Address {
		return Call{}, fault.New(fault.InvalidState, "vault %s of %s uses a different relay", Decimal(v.ID), Hex64(v.Owner))
	}
	tx, err := rawtx.Decode(p.Tx)
	if err != nil {
		return Call{}, err
	}
	if _, err := ParseWithdrawal(tx); err != nil {
		return Call{}, err
	}
	stripped, err := rawtx.Strip(tx)
	if err != nil {
		return Call{}, err
	}
	w := v.felts().add(ByteArray(stripped)...).storedHeader(p.Header).merkle(p.Merkle)
	return Call{To: d.VaultManager.Address, Entry: entryVaultClaim, Calldata: w, Gas: gasVaultClaim.plus(proofGas(len(stripped), len(p.Merkle.Hashes)))}, nil
}

// Batches cuts claims of a vault into transactions: as many as the protocol puts into
// one, and as the public sequencers take the bounds of, which is fewer.
func Batches(claims []Call) (transactions [][]Call) {
	for len(claims) > 0 {
		n, gas := 1, claims[0].Gas.L2
		for n < min(len(claims), MaxVaultClaims) && gas+claims[n].Gas.L2 <= maxTxGas {
			gas += claims[n].Gas.L2
			n++
		}
		transactions = append(transactions, claims[:n:n])
		claims = claims[n:]
	}
	return transactions
}

// What LPs and fronters send, for the local network.

// VaultOpen builds the opening of a vault by its owner, on its initial output.
func (d Deployment) VaultOpen(v Vault) (Call, error) {
	m0, err0 := FeltOfBig(v.Multipliers[0])
	m1, err1 := FeltOfBig(v.Multipliers[1])
	if err0 != nil || err1 != nil {
		return Call{}, fault.Invalid("multiplier", "%w", errFelt)
	}
	w := felts{v.ID, v.Relay}.txid(v.InitialUTXO.Hash).uint(uint64(v.InitialUTXO.Index)).uint(uint64(v.Confirmations)).add(v.Tokens[0], v.Tokens[1], m0, m1)
	return Call{To: d.VaultManager.Address, Entry: entryVaultOpen, Calldata: w, Gas: gasVaultOpen}, nil
}

// VaultDeposit builds what adds to a vault, in raw units, approvals included.
func (d Deployment) VaultDeposit(v Vault, raw [2]uint64) ([]Call, error) {
	calls, err := d.approveRaw(v, raw)
	if err != nil {
		return nil, err
	}
	return append(calls, Call{To: d.VaultManager.Address, Entry: entryVaultDeposit, Calldata: v.felts().uint(raw[0]).uint(raw[1]), Gas: gasVaultDeposit}), nil
}

// VaultFront builds what advances a withdrawal, approvals included. sequence is the
// number of the vault's withdrawals with this one.
func (d Deployment) VaultFront(v Vault, w chains.Withdrawal, sequence uint32) ([]Call, error) {
	calls, err := d.approveRaw(v, w.Amounts.Advance())
	if err != nil {
		return nil, err
	}
	all, err := WithdrawalFelts(w)
	if err != nil {
		return nil, err
	}
	return append(calls, Call{To: d.VaultManager.Address, Entry: entryVaultFront, Calldata: v.felts().uint(uint64(sequence)).txid(w.TxID).add(all...), Gas: gasVaultFront}), nil
}

// approveRaw approves what raw units of a vault's tokens are worth.
func (d Deployment) approveRaw(v Vault, raw [2]uint64) (calls []Call, err error) {
	for i, n := range raw {
		if n == 0 {
			continue
		}
		amount := new(big.Int).Mul(new(big.Int).SetUint64(n), bigs.OrZero(v.Multipliers[i]))
		if i == 1 && len(calls) == 1 && v.Tokens[0] == v.Tokens[1] { // a second approval would overwrite the first
			amount.Add(amount, calls[0].Allowance.Amount)
			calls = nil
		}
		call, err := approve(Allowance{v.Tokens[i], d.VaultManager.Address, amount})
		if err != nil {
			return nil, fmt.Errorf("token %d: %w", i, err)
		}
		calls = append(calls, call)
	}
	return calls, nil
}
