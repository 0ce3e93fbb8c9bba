package wire

import (
	"math/big"

	"github.com/swapper-go/swapper/chains"
)

// The network's estimates, in fri: what quotes and watchtowers' pay are reckoned with.
// Transactions allow more, because theirs is the sum of all their calls (§9).

// ClaimCost estimates a claim of an escrow of a kind.
func (r FeeRate) ClaimCost(kind chains.Kind, payOut bool) *big.Int {
	return r.Cost(claimGas(payOut).plus(handlerGas(kind)))
}

// VaultClaimCost estimates the claim of a withdrawal: of one that there is, or as
// quotes do before there is one.
func (r FeeRate) VaultClaimCost(known bool) *big.Int {
	if known {
		return r.Cost(gasVaultClaim)
	}
	return r.Cost(gasVaultGuess)
}

// HeaderCost estimates storing one Bitcoin header.
func (r FeeRate) HeaderCost() *big.Int { return r.Cost(gasHeader) }

// ReserveCost is what a wallet must keep to open any escrow of its own: the call, an
// approval each of the amount and of the deposit, and, for an account that is not
// deployed, its deployment. The reference keeps the call alone, and nodes refuse a
// transaction whose bounds exceed the balance (§20.9).
func (r FeeRate) ReserveCost(deployed bool) *big.Int {
	gas := gasInitPayIn.plus(gasApprove, gasApprove)
	if !deployed {
		gas = gas.plus(gasDeploy)
	}
	return r.Cost(gas)
}
