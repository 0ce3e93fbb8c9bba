package wire

import (
	"math/big"

	"github.com/ethereum/go-ethereum/common"

	"github.com/swapper-go/swapper/internal/bigs"
)

// Bytes of state difference that Citrea charges for (protocol: chain-evm.md §6.2).
const (
	diffEscrow     = 35
	diffReputation = 25
	diffBalance    = 25 // a balance in the contract changes
	diffSelf       = 20 // native coin of the sender
	diffNative     = 55 // native coin of anybody else
	diffToken      = 50
	diffApprove    = 35
	diffTransfer   = 55
	diffHeader     = 22
	diffVault      = 50
	diffExecution  = 40
)

// Cost returns what gas and changed state cost at a rate, in base units of the
// native coin.
func (n Network) Cost(rate FeeRate, gas, diffBytes uint64) *big.Int {
	return n.withDiff(gasCost(gas, rate.MaxFeePerGas()), rate, diffBytes)
}

// costNoTip is [Network.Cost], which on chains with a state fee leaves the
// priority fee out: so the protocol estimates approvals, transfers and headers.
func (n Network) costNoTip(rate FeeRate, gas, diffBytes uint64) *big.Int {
	if !n.StateDiffFee {
		return n.Cost(rate, gas, diffBytes)
	}
	return n.withDiff(gasCost(gas, bigs.OrZero(rate.Base)), rate, diffBytes)
}

func (n Network) withDiff(cost *big.Int, rate FeeRate, diffBytes uint64) *big.Int {
	if n.StateDiffFee && rate.L1 != nil {
		cost.Add(cost, gasCost(diffBytes, rate.L1))
	}
	return cost
}

// approveCost estimates an approval.
func (n Network) approveCost(rate FeeRate) *big.Int {
	return n.costNoTip(rate, gasTransfer, diffApprove)
}

// HeaderCost estimates storing one Bitcoin header: the figure that prices of
// watchtowers and vaults are made with.
func (n Network) HeaderCost(rate FeeRate) *big.Int {
	return n.costNoTip(rate, gasRelayHeader, diffHeader)
}

// InitCost estimates opening an escrow by signer, approvals included.
func (n Network) InitCost(rate FeeRate, s SwapData, signer common.Address) *big.Int {
	cost := n.Cost(rate, initGas(s), n.initDiff(s, signer))
	if s.PayIn && s.Token != Native {
		cost.Add(cost, n.approveCost(rate))
	}
	if s.TotalDeposit().Sign() > 0 && (!s.PayIn || s.DepositToken != s.Token) && s.DepositToken != Native {
		cost.Add(cost, n.approveCost(rate))
	}
	return cost
}

// ClaimCost estimates a claim by signer.
func (n Network) ClaimCost(rate FeeRate, s SwapData, signer common.Address) *big.Int {
	moved := newMoves(signer)
	diff := uint64(diffEscrow)
	if s.Reputation {
		diff += diffReputation
	}
	if s.PayOut {
		moved.add(s.Claimer, s.Token)
	} else {
		diff += diffBalance
	}
	if bigs.OrZero(s.ClaimerBounty).Sign() > 0 {
		moved.add(signer, s.DepositToken)
	}
	if bigs.OrZero(s.SecurityDeposit).Cmp(bigs.OrZero(s.ClaimerBounty)) > 0 {
		moved.add(s.Claimer, s.DepositToken)
	}
	return n.Cost(rate, claimGas(s, s.Kind), diff+moved.bytes())
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

func (n Network) initDiff(s SwapData, signer common.Address) uint64 {
	moved := newMoves(signer)
	diff := uint64(diffEscrow)
	if s.PayIn {
		moved.add(s.Offerer, s.Token)
	} else {
		diff += diffBalance
	}
	if s.TotalDeposit().Sign() > 0 {
		moved.add(signer, s.DepositToken)
	}
	return diff + moved.bytes()
}

// moves collects whose balance of which token changes.
type moves struct {
	signer common.Address
	seen   map[[2]common.Address]bool
}

func newMoves(signer common.Address) *moves {
	return &moves{signer, map[[2]common.Address]bool{}}
}

func (m *moves) add(whose, token common.Address) { m.seen[[2]common.Address{whose, token}] = true }

func (m *moves) bytes() (sum uint64) {
	for who := range m.seen {
		switch {
		case who[1] != Native:
			sum += diffToken
		case who[0] == m.signer:
			sum += diffSelf
		default:
			sum += diffNative
		}
	}
	return sum
}
