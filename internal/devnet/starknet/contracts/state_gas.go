package contracts

import (
	"maps"
	"math/big"

	"github.com/swapper-go/swapper/internal/starknet/wire"
)

// What a contract asks of the network, in l2 gas.
const (
	gasRead      = 10_000
	gasWrite     = 10_000
	gasCall      = 90_000
	gasEvent     = 10_000
	gasEventFelt = 5_120
	gasDeploy    = 150_000
)

// What a transaction takes beside that.
const (
	gasTx     = 800_000 // l2 gas
	gasTxFelt = 5_120   // l2 gas for each felt of calldata and signature
	gasDiff   = 64      // l1 data gas for each contract and each place in storage that changes
	gasClass  = 32      // l1 data gas for each contract that gets a class
)

// mostGas is the l2 gas up to which the bounds of a transaction are taken.
const mostGas = 1_210_000_000

// unlimited is the l2 gas of a call that costs nothing.
const unlimited = 1 << 40

// Prices are what gas costs in a block.
type Prices struct {
	Fri wire.FeeRate // for a unit of gas, in the smallest unit of STRK
	Wei wire.FeeRate // the same in that of ETH
}

// DefaultPrices are as low as public networks' are.
func DefaultPrices() Prices {
	of := func(l1, l2, data int64) wire.FeeRate {
		return wire.FeeRate{L1: big.NewInt(l1), L2: big.NewInt(l2), L1Data: big.NewInt(data)}
	}
	return Prices{Fri: of(40_000_000_000_000, 3_000_000_000, 30_000_000_000), Wei: of(1_500_000_000, 120_000, 1_200_000)}
}

// cover reports whether bounds offer these prices.
func (p Prices) covered(b wire.Bounds) bool {
	r := b.Rate()
	return r.L1.Cmp(p.Fri.L1) >= 0 && r.L2.Cmp(p.Fri.L2) >= 0 && r.L1Data.Cmp(p.Fri.L1Data) >= 0
}

// fee is what gas costs with a tip for each unit of l2 gas.
func (p Prices) fee(g wire.Gas, tip uint64) *big.Int {
	fee := p.Fri.Cost(g)
	t := new(big.Int).SetUint64(tip)
	return fee.Add(fee, t.Mul(t, new(big.Int).SetUint64(g.L2)))
}

// dataGas is the l1 data gas of what a run has changed, and of what the payment of its
// fee will change: the sender's balance.
func (r *run) dataGas() uint64 {
	contracts, places := map[Felt]bool{}, uint64(0)
	balance := slot{r.chain.options.FeeToken, StorageKey("ERC20_balances", r.tx.Account)}
	if r.base.storage(balance) == r.get(balance) {
		places++
	}
	for s, v := range r.changed {
		if r.base.storage(s) != v {
			contracts[s.contract] = s.contract != r.chain.options.FeeToken // which changes in every transaction
			places++
		}
	}
	for at := range r.classes {
		contracts[at] = true
	}
	for at := range r.nonces {
		contracts[at] = true
	}
	maps.DeleteFunc(contracts, func(_ Felt, counts bool) bool { return !counts })
	return gasDiff*(places+uint64(len(contracts))) + gasClass*uint64(len(r.classes))
}
