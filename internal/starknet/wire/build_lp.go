package wire

import (
	"math/big"

	"github.com/swapper-go/swapper/fault"
)

// What LPs do with their balance in the escrow manager, for the local network.

// Deposit builds what an LP sends to add to its balance.
func (d Deployment) Deposit(token Felt, amount *big.Int) ([]Call, error) {
	if !InBits(amount, 256) {
		return nil, fault.Invalid("amount", "must be a number from 0 to 2^256-1")
	}
	approval, err := approve(Allowance{token, d.EscrowManager.Address, amount})
	if err != nil {
		return nil, err
	}
	return []Call{approval, {To: d.EscrowManager.Address, Entry: entryDeposit, Calldata: felts{token}.u256(amount), Gas: gasLPVault}}, nil
}

// Withdraw builds what an LP sends to take from its balance.
func (d Deployment) Withdraw(token Felt, amount *big.Int, to Felt) (Call, error) {
	if !InBits(amount, 256) {
		return Call{}, fault.Invalid("amount", "must be a number from 0 to 2^256-1")
	}
	return Call{To: d.EscrowManager.Address, Entry: entryWithdraw, Calldata: felts{token}.u256(amount).add(to), Gas: gasLPVault}, nil
}
