package wire

import (
	"fmt"
	"math"
	"slices"
)

// minPrice is the least that is offered for a compute unit, in micro-lamports.
const minPrice = 8000

// ClampPrice keeps a price between [minPrice] and a cap, in micro-lamports per
// compute unit. What a service estimates may have a fraction: it is rounded up.
func ClampPrice(price float64, limit uint64) uint64 {
	if !(price > minPrice) { // NaN included
		return min(minPrice, limit)
	}
	if price >= float64(limit) {
		return limit
	}
	return uint64(math.Ceil(price))
}

// blockUnits is how many compute units a block is taken to hold.
const blockUnits = 48_000_000

// BlockPrice returns what a block's transactions paid for a compute unit on average,
// in micro-lamports: of a transaction's fees half is burnt, and each signature costs
// a fixed part, of which there is one for each transaction.
func BlockPrice(rewardLamports uint64, transactions int) int64 {
	paid := int64(min(rewardLamports, math.MaxInt64/4/1_000_000))*2 - signatureFee*int64(transactions)
	return paid * 1_000_000 / blockUnits
}

// SamplePrice estimates a price as the network's clients do where the node does not:
// that of the cheapest of some random recent blocks, in micro-lamports, not clamped.
// draw returns a random number below n. blocks answers what each of some slots has
// paid; slots without a block, or of which nothing is known, are left out.
func SamplePrice(slot uint64, period, samples int, draw func(n int) int, blocks func(slots []uint64) (map[uint64]int64, error)) (int64, error) {
	var left []uint64
	for i := range uint64(period) {
		if i <= slot {
			left = append(left, slot-i)
		}
	}
	var prices []int64
	for len(prices) < samples {
		var ask []uint64
		for len(left) > 0 && len(ask) < samples-len(prices) {
			i := draw(len(left))
			ask = append(ask, left[i])
			left = slices.Delete(left, i, i+1)
		}
		if len(ask) == 0 {
			return 0, fmt.Errorf("only %d of the last %d slots say what their transactions paid, want %d", len(prices), period, samples)
		}
		got, err := blocks(ask)
		if err != nil {
			return 0, err
		}
		for _, s := range ask {
			if p, ok := got[s]; ok {
				prices = append(prices, p)
			}
		}
	}
	return slices.Min(prices), nil
}

// RecentPrice returns the price that most of the recent blocks asked for writing to
// the same accounts: the 75th percentile of what getRecentPrioritizationFees lists (§21.4).
func RecentPrice(fees []uint64) uint64 {
	if len(fees) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(fees))
	return sorted[(len(sorted)-1)*3/4]
}

// Accounts that a transaction writes to, for estimating what others pay to write to
// them (§12).

// ClaimAccounts are those of a claim.
func (p Programs) ClaimAccounts(signer Key, d *SwapData) []Key {
	all := []Key{signer}
	if !d.PayOut {
		return append(all, p.UserVault(d.Claimer, d.Token), d.rentPayer(), p.Escrow(d.PaymentHash))
	}
	all = append(all, p.Vault(d.Token), d.rentPayer())
	if d.ClaimerATA != nil && !d.ClaimerATA.IsZero() {
		all = append(all, *d.ClaimerATA)
	}
	return append(all, p.Escrow(d.PaymentHash))
}

// RefundAccounts are those of a refund.
func (p Programs) RefundAccounts(d *SwapData) []Key {
	if !d.PayIn {
		return []Key{d.Offerer, p.UserVault(d.Offerer, d.Token), d.Claimer, p.Escrow(d.PaymentHash)}
	}
	all := []Key{p.Vault(d.Token), d.Offerer, d.Claimer}
	if d.OffererATA != nil && !d.OffererATA.IsZero() {
		all = append(all, *d.OffererATA)
	}
	return append(all, p.Escrow(d.PaymentHash))
}
