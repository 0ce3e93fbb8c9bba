package verify

import (
	"errors"
	"fmt"
	"math/big"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/internal/bigs"
	"github.com/swapper-go/swapper/internal/lp"
	"github.com/swapper-go/swapper/tokens"
)

// Safety factors by which estimates of costs are multiplied, parts per million
// (protocol: lp-protocol.md §6.4, §6.6, §6.7).
const (
	FeeSafetyPPM    = 1_250_000 // vaults and automatic Lightning swaps
	bountySafetyPPM = 1_500_000 // legacy swaps from Bitcoin
)

// maxPendingPriced is how many withdrawals a watchtower may have to claim for
// ours: the two before it that are accepted, and it.
const maxPendingPriced = 3

// maxVaultConfirmations is the most that is accepted of a vault, and what the
// watchtower is paid to wait for.
const maxVaultConfirmations = 6

// MaxFeeRate returns the highest Bitcoin fee rate that is accepted of an LP when
// rate is our own estimate; both in sats/vB (protocol: lp-protocol.md §6.7).
func MaxFeeRate(rate float64) float64 { return 10 + 1.5*rate }

// MaxRoutingUnits is lightning.MaxRoutingFee in base units of a token, for an
// exact input: base sats at the market's price, and ppm millionths of the amount.
func MaxRoutingUnits(amount *big.Int, baseSats, ppm int64, market *big.Int, decimals int) (*big.Int, error) {
	base, err := FromBitcoin(big.NewInt(baseSats), market, decimals)
	if err != nil {
		return nil, err
	}
	return base.Add(base, bigs.MulDiv(amount, big.NewInt(ppm), million)), nil
}

// RoutingSats returns what a cap on routing fees in token units may be worth, in
// sats: an LP converts it at a price of its own, within the tolerance, and rounds.
func (p Policy) RoutingSats(units, market *big.Int, decimals int) (*big.Int, error) {
	sats, err := ToBitcoin(units, market, decimals)
	if err != nil {
		return nil, fmt.Errorf("routing fee: %w", err)
	}
	slack := bigs.MulDiv(sats, big.NewInt(p.tolerance()), million)
	return bigs.Add(sats, slack.Add(slack, big.NewInt(1))), nil
}

// AutoBounty returns what a watchtower is promised for claiming an automatic
// Lightning swap, given the cost of one claim; native base units (protocol:
// lp-protocol.md §6.6).
func AutoBounty(claimFee *big.Int) *big.Int {
	return bigs.MulDiv(claimFee, big.NewInt(FeeSafetyPPM), million)
}

// ProofBounty returns what is promised to whoever claims a legacy swap from Bitcoin,
// by the heights of Bitcoin and of the relay and the costs of one header and of the
// claim; now is in Unix seconds (protocol: lp-protocol.md §6.4).
func ProofBounty(bitcoinTip, relayTip uint32, feePerBlock, claimFee *big.Int, now int64) *lp.Bounty {
	safe := func(fee *big.Int) *big.Int { return bigs.MulDiv(fee, big.NewInt(bountySafetyPPM), million) }
	return &lp.Bounty{FeePerBlock: safe(feePerBlock), SafetyFactor: big.NewInt(1), StartTimestamp: now,
		AddBlock: big.NewInt(max(int64(bitcoinTip)-int64(relayTip), 0)), AddFee: safe(claimFee)}
}

// CallerFee returns what bringing a withdrawal to its vault costs a watchtower,
// in native base units: the relay's fee for the blocks it has to learn, and the
// claims of the withdrawals that may be pending (protocol:
// swap-flows-spv-and-core.md A4).
func CallerFee(bitcoinTip, relayTip uint32, feePerBlock, claimFee *big.Int, safetyPPM int64) *big.Int {
	blocks := max(int64(bitcoinTip)-int64(relayTip)+maxVaultConfirmations, 0)
	fee := new(big.Int).Mul(big.NewInt(blocks), feePerBlock)
	fee.Add(fee, new(big.Int).Mul(claimFee, big.NewInt(maxPendingPriced)))
	return bigs.MulDiv(fee, big.NewInt(safetyPPM), million)
}

// maxShare is what the 20 bits of a fee share hold.
const maxShare = 1<<20 - 1

// Payout values what a withdrawal pays out, in native base units: the yardstick
// of the watchtower's share.
type Payout struct {
	Amount         *big.Int // sats for an exact input, else base units of the token
	ExactIn        bool
	TokenIsNative  bool
	Decimals       int
	Price          *big.Int
	NativeDecimals int
	NativePrice    *big.Int
}

// ErrTooLittle says that an exact input does not even cover the watchtower: with
// the share of 0 that the network's clients use then, only the owner settles the
// swap (protocol: swap-flows-spv-and-core.md D7).
var ErrTooLittle = errors.New("the amount does not cover the watchtower's fee")

// CallerShare returns the watchtower's share of a payout, in parts per 100,000,
// for a fee as of [CallerFee]: rounded up, at most 2^20-1, and 0 with
// [ErrTooLittle] where the fee exceeds the amount.
func CallerShare(fee *big.Int, p Payout) (uint32, error) {
	if p.Amount.Sign() == 0 || fee.Sign() == 0 {
		return 0, nil
	}
	payout := new(big.Int).Set(p.Amount)
	if p.ExactIn || !p.TokenIsNative {
		sats := p.Amount
		var err error
		if !p.ExactIn {
			if sats, err = ToBitcoin(p.Amount, p.Price, p.Decimals); err != nil {
				return 0, err
			}
		}
		if payout, err = FromBitcoin(sats, p.NativePrice, p.NativeDecimals); err != nil {
			return 0, err
		}
	}
	if p.ExactIn {
		payout.Sub(payout, fee)
	}
	if payout.Sign() <= 0 {
		return 0, ErrTooLittle
	}
	share := new(big.Int).Mul(fee, shareUnits)
	share.Add(share, payout).Sub(share, big.NewInt(1)).Quo(share, payout)
	if share.Cmp(big.NewInt(maxShare)) > 0 {
		return maxShare, nil
	}
	return uint32(share.Uint64()), nil
}

// withShare returns an amount and the shares that are paid beside it.
func withShare(amount *big.Int, share uint32) *big.Int {
	return bigs.MulDiv(amount, bigs.Add(shareUnits, new(big.Int).SetUint64(uint64(share))), shareUnits)
}

// CheckGasDrop refuses a gas drop that makes no sense: with the native token
// itself, unless the chain says otherwise (protocol: swap-flows-spv-and-core.md
// A4). Errors have the code fault.InvalidInput.
func CheckGasDrop(info chains.Info, output tokens.Token, gasAmount *big.Int) error {
	switch {
	case gasAmount == nil || gasAmount.Sign() == 0:
		return nil
	case gasAmount.Sign() < 0:
		return fault.Invalid("gasAmount", "must not be negative")
	case !info.GasDropNative && sameAddress(output.Address, info.Native.Address):
		return fault.Invalid("gasAmount", "cannot be used when the destination token is %s itself", output)
	}
	return nil
}
