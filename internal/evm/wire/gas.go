package wire

import (
	"math/big"

	"github.com/ethereum/go-ethereum/common"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/internal/bigs"
)

// Gas limits. They are constants of the protocol, not estimates: what a quote
// says a transaction costs and what the transaction allows are the same on both
// sides (protocol: chain-evm.md §6.1).
const (
	gasInit            = 66_000
	gasInitTokenPayIn  = 40_000 // the amount is taken from the offerer's wallet as a token
	gasInitFromBalance = 10_000 // the amount is taken from the offerer's balance in the contract
	gasInitDeposit     = 40_000 // the deposit is taken as a token

	gasClaim      = 51_000
	gasRefund     = 56_000
	gasReputation = 25_000
	gasPayNative  = 85_000
	gasPayToken   = 40_000
	gasPayBalance = 10_000
	gasTimelock   = 5_000
	gasTransfer   = 101_000 // approve or any transfer
	gasVaultClaim = 106_000
	gasExecution  = 30_000

	gasRelay           = 36_000
	gasRelayHeader     = 30_000
	gasRelayFork       = 46_000
	gasRelayForkHeader = 65_000
	gasRelayForkSwitch = 10_000 // for each header of the longest fork that may become main
)

// handlerGas is what a claim handler uses on top (protocol: chain-evm.md §4).
func handlerGas(k chains.Kind) uint64 {
	switch k {
	case chains.HTLC:
		return 5_000
	case chains.OnchainTxID:
		return 10_000
	default:
		return 40_000
	}
}

// payGas is the gas for paying a token out of the contract.
func payGas(token common.Address) uint64 {
	if token == Native {
		return gasPayNative
	}
	return gasPayToken
}

// initGas is the gas limit of opening the escrow.
func initGas(s SwapData) uint64 {
	gas := uint64(gasInit)
	switch {
	case !s.PayIn:
		gas += gasInitFromBalance
	case s.Token != Native:
		gas += gasInitTokenPayIn
	}
	if s.TotalDeposit().Sign() > 0 && (!s.PayIn || s.DepositToken != s.Token) && s.DepositToken != Native {
		gas += gasInitDeposit
	}
	return gas
}

// claimGas is the gas limit of a claim, the handler's own use included.
func claimGas(s SwapData, handler chains.Kind) uint64 { return claimGasBase(s) + handlerGas(handler) }

func claimGasBase(s SwapData) uint64 {
	return gasClaim + endGas(s, s.PayOut, bigs.OrZero(s.ClaimerBounty), bigs.OrZero(s.SecurityDeposit))
}

// refundGas is the gas limit of a cooperative refund; a timelock refund adds
// [gasTimelock].
func refundGas(s SwapData) uint64 {
	return gasRefund + endGas(s, s.PayIn, bigs.OrZero(s.SecurityDeposit), bigs.OrZero(s.ClaimerBounty))
}

// endGas is what the end of an escrow takes whose amount is paid to a wallet or kept as
// balance: whoever ends it gets its deposit, and the other party what the other one is more.
func endGas(s SwapData, pays bool, own, other *big.Int) uint64 {
	gas := reputationGas(s)
	if pays {
		gas += payGas(s.Token)
	} else {
		gas += gasPayBalance
	}
	if own.Sign() > 0 {
		gas += payGas(s.DepositToken)
	}
	if other.Cmp(own) > 0 {
		gas += payGas(s.DepositToken)
	}
	return gas
}

func reputationGas(s SwapData) uint64 {
	if s.Reputation {
		return gasReputation
	}
	return 0
}

func gasCost(gas uint64, weiPerGas *big.Int) *big.Int {
	return new(big.Int).Mul(new(big.Int).SetUint64(gas), weiPerGas)
}
