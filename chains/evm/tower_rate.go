package evm

import (
	"context"
	"math/big"

	"github.com/swapper-go/swapper/internal/bigs"
	"github.com/swapper-go/swapper/internal/evm/rpc"
	"github.com/swapper-go/swapper/internal/evm/wire"
)

// towerRate returns the fee rate that the watchtower's pay is computed from. It is
// the median of all nodes, so that one lying node cannot inflate the pay. Of an
// even number of answers the lower median counts, so of two the lower.
func (c *chain) towerRate(ctx context.Context) (wire.FeeRate, error) {
	n, ok := c.node.(*rpc.Nodes)
	if !ok || !n.Several() {
		return c.currentRate(ctx)
	}
	var rates []wire.FeeRate
	var last error
	err := n.Each(ctx, func() []rpc.Request { return []rpc.Request{feeRequest(new(*feeHead))} }, func(r []rpc.Request) {
		if r[0].Err != nil {
			last = r[0].Err
			return
		}
		head := *r[0].Result.(**feeHead)
		rate, err := c.rate(head)
		if err != nil {
			last = err
			return
		}
		if len(rates) == 0 {
			c.noteFees(head)
		}
		rates = append(rates, rate)
	})
	if err != nil || len(rates) == 0 { // asked once more, one after the other and repeatedly
		rate, again := c.currentRate(ctx)
		if again != nil && last != nil {
			return rate, last
		}
		return rate, again
	}
	return medianRate(rates), nil
}

// medianRate takes the lower median of each part.
func medianRate(rates []wire.FeeRate) wire.FeeRate {
	r := wire.FeeRate{Base: bigs.LowerMedian(rates, func(r wire.FeeRate) *big.Int { return r.Base }), Priority: rates[0].Priority}
	if rates[0].L1 != nil {
		r.L1 = bigs.LowerMedian(rates, func(r wire.FeeRate) *big.Int { return r.L1 })
	}
	return r
}
