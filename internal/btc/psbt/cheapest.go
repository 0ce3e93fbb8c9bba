package psbt

import (
	"slices"
)

// Cheapest chooses like [selectCoins], but looks further when that would
// pay for unconfirmed parents: [selectCoins] takes big coins first, however much
// their parents cost, and pays for a parent once for each coin that it shares.
// Here a parent is paid for once, and selections are tried that leave out the
// coins with the costliest parents. The lowest fee wins; among equal ones that of
// SelectCoins (protocol: bitcoin.md §20 row 14). It takes O(n log n) for n coins.
func Cheapest(d Draft, coins []Coin) (Selection, error) {
	best, err := selectCoins(d, coins)
	if err != nil || !paysForParents(best.Inputs, d.FeeRate) {
		return best, err
	}
	p, err := newPurse(d, coins)
	if err != nil {
		return Selection{}, err
	}
	p.shared = true
	p.sort()
	all, some := p.coins, make([]Coin, 0, len(p.coins))
	for _, most := range parentCosts(all, d.FeeRate) {
		some = some[:0]
		for _, c := range all {
			if parentFee(c.CPFP, d.FeeRate) <= most {
				some = append(some, c)
			}
		}
		p.coins = some
		sel, err := p.blackjack()
		if err != nil || !p.fits(sel) {
			sel, err = p.accumulate()
		}
		if err == nil && p.fits(sel) && sel.Fee < best.Fee {
			best = sel
		}
	}
	return best, nil
}

func paysForParents(coins []Coin, rate float64) bool {
	return slices.ContainsFunc(coins, func(c Coin) bool { return parentFee(c.CPFP, rate) > 0 })
}

// parentCosts returns up to which cost of their parents coins are let in, one
// bound for each attempt: only those without, then the cheapest, four times as
// many each time, and at last all.
func parentCosts(coins []Coin, rate float64) []float64 {
	var costs []float64
	for i := range coins {
		if c := parentFee(coins[i].CPFP, rate); c > 0 {
			costs = append(costs, c)
		}
	}
	slices.Sort(costs)
	bounds := []float64{0}
	for n := 1; n < len(costs); n *= 4 {
		bounds = append(bounds, costs[n-1])
	}
	return append(bounds, costs[len(costs)-1])
}
