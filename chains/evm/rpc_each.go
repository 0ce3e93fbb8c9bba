package evm

import (
	"context"
	"math/big"
	"slices"
	"time"

	"github.com/swapper-go/swapper/fault"
)

// each puts the same questions to every URL that is up, side by side, and hands
// over the answers of each that answered. The first is waited for as long as ctx
// lasts, the others for rpcHedge more. It is one round trip.
func (n *nodes) each(ctx context.Context, questions func() []Request, take func([]Request)) error {
	inner, cancel := context.WithCancel(ctx)
	results := make(chan attempt, len(n.all))
	waiting := 0
	defer func() { // nothing outlives the call
		cancel()
		for range waiting {
			<-results
		}
	}()
	for _, e := range n.order() {
		if waiting > 0 && e.isDown(n.now()) {
			break
		}
		waiting++
		go func() { results <- e.attempt(inner, n.chainID, questions()) }()
	}
	var enough <-chan time.Time
	answered := false
	for waiting > 0 {
		select {
		case a := <-results:
			waiting--
			if ctx.Err() == nil {
				a.by.note(a.err, n.now())
			}
			if a.err != nil {
				continue
			}
			requests := questions()
			n.accept(a, requests)
			take(requests)
			if !answered {
				answered = true
				timer := time.NewTimer(rpcHedge)
				defer timer.Stop()
				enough = timer.C
			}
		case <-enough:
			return nil
		}
	}
	if !answered {
		return fault.New(fault.Upstream, "no node of the chain answered")
	}
	return nil
}

// towerRate is the rate that watchtowers are paid by: what most nodes say of
// fees, so that one that lies cannot give a swap away as a watchtower's pay. Of an
// even number of answers the lower middle counts, so of two the lower.
func (c *chain) towerRate(ctx context.Context) (FeeRate, error) {
	n, ok := c.node.(*nodes)
	if !ok || len(n.all) == 1 {
		return c.currentRate(ctx)
	}
	var rates []FeeRate
	var last error
	err := n.each(ctx, func() []Request { return []Request{feeRequest(new(*feeHead))} }, func(r []Request) {
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
func medianRate(rates []FeeRate) FeeRate {
	middle := func(part func(FeeRate) *big.Int) *big.Int {
		all := make([]*big.Int, len(rates))
		for i, r := range rates {
			all[i] = part(r)
		}
		slices.SortFunc(all, (*big.Int).Cmp)
		return all[(len(all)-1)/2]
	}
	r := FeeRate{Base: middle(func(r FeeRate) *big.Int { return r.Base }), Priority: rates[0].Priority}
	if rates[0].L1 != nil {
		r.L1 = middle(func(r FeeRate) *big.Int { return r.L1 })
	}
	return r
}
