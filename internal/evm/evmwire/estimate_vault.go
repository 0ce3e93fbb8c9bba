package evmwire

import (
	"math/big"

	"github.com/ethereum/go-ethereum/common"

	"github.com/swapper-go/swapper/chains"
)

// VaultClaimCost estimates the claim of a withdrawal by signer.
func (n Network) VaultClaimCost(rate FeeRate, p VaultParams, w chains.Withdrawal, signer common.Address) *big.Int {
	diff := uint64(diffVault)
	recipient := common.HexToAddress(w.Recipient)
	moved, self := newMoves(signer), newMoves(signer)
	for i, raw := range w.Raw {
		if raw == 0 {
			continue
		}
		// The protocol's estimate counts signer and recipient apart even if they are one.
		if recipient == signer {
			self.add(recipient, p.token(i))
		} else {
			moved.add(recipient, p.token(i))
		}
		if w.Shares.Fronting > 0 {
			moved.add(common.Address{}, p.token(i))
		}
		if w.Shares.Caller > 0 {
			moved.add(signer, p.token(i))
		}
	}
	diff += moved.bytes() + self.bytes()
	if w.Execution != nil {
		diff += diffExecution
	}
	return n.Cost(rate, vaultClaimGas(p, w, signer), diff)
}

// VaultFrontCost estimates advancing a withdrawal by signer, approvals included.
func (n Network) VaultFrontCost(rate FeeRate, p VaultParams, w chains.Withdrawal, signer common.Address) *big.Int {
	diff := uint64(diffVault)
	moved := newMoves(signer)
	approved := map[common.Address]bool{}
	for i, raw := range w.Raw {
		if raw == 0 {
			continue
		}
		moved.add(signer, p.token(i))
		if p.token(i) != Native {
			approved[p.token(i)] = true
		}
	}
	if w.Execution != nil {
		diff += diffExecution
	}
	cost := n.Cost(rate, frontGas(p, w), diff+moved.bytes())
	for range approved {
		cost.Add(cost, n.ApproveCost(rate))
	}
	return cost
}

// AnyVaultClaimCost estimates the dearest claim of a withdrawal, as quotes do
// before there is one: both tokens, every fee, an execution, claimed by a
// stranger. Where state is charged for, tokens cost more than native coin and
// are what is assumed.
func (n Network) AnyVaultClaimCost(rate FeeRate) *big.Int {
	if n.StateDiffFee {
		return n.Cost(rate, gasVaultClaim+6*gasPayToken+gasExecution, diffVault+6*diffToken+diffExecution)
	}
	return n.Cost(rate, gasVaultClaim+6*gasPayNative+gasExecution, 0)
}

// AnyVaultFrontCost estimates advancing the dearest withdrawal: two tokens that
// must be approved, and an execution.
func (n Network) AnyVaultFrontCost(rate FeeRate) *big.Int {
	cost := n.Cost(rate, gasFront+2*gasPayToken+gasExecution, diffVault+2*diffToken+diffExecution)
	for range 2 {
		cost.Add(cost, n.ApproveCost(rate))
	}
	return cost
}
