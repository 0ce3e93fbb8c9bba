package evm

import (
	"math/big"
	"testing"

	"github.com/ethereum/go-ethereum/common"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/internal/evm/wire"
	"github.com/swapper-go/swapper/internal/trial"
)

// The reference draws deposit and bounty of the escrow by which it estimates a
// claim, so that a payment of 85,000 gas counts in one estimate of two: what it
// promises watchtowers, and with it the network fee of a swap from Lightning,
// changes from call to call. Ours is the larger of its two, always. On a chain
// without traffic the difference is the one satoshi by which quotes of the same
// moment were seen to differ.
func TestClaimEstimateIsTheLargerOfTheReferences(t *testing.T) {
	t.Parallel()
	n := presetOf(t, "CITREA/MAINNET")
	idle := wire.FeeRate{Base: big.NewInt(8), Priority: big.NewInt(100_000), L1: big.NewInt(1_000_000)}
	k := contracts{chain: &chain{net: n}}
	ours, payer := trial.Must2(k.sample(chains.Cost{Kind: chains.StepClaimSecret, Token: common.Address{1: 1}.Hex()}))(t)
	bounty := func(deposit, reward int64) *big.Int {
		drawn := ours
		drawn.SecurityDeposit, drawn.ClaimerBounty = big.NewInt(deposit), big.NewInt(reward)
		cost := n.ClaimCost(idle, drawn, payer)
		return cost.Mul(cost, big.NewInt(125)).Quo(cost, big.NewInt(100))
	}
	high, low := bounty(40_000, 30_000), bounty(30_000, 40_000)
	sample := n.ClaimCost(idle, ours, payer)
	if sample.Mul(sample, big.NewInt(125)).Quo(sample, big.NewInt(100)).Cmp(high) != 0 {
		t.Errorf("ours promises %s wei, the reference %s or %s", sample, high, low)
	}
	sat := big.NewInt(1e10) // of the local network's native coin
	if apart := new(big.Int).Sub(new(big.Int).Quo(high, sat), new(big.Int).Quo(low, sat)); apart.Int64() != 1 {
		t.Errorf("%s and %s wei are %s sats apart", high, low, apart)
	}
}
