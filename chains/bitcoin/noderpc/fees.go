package noderpc

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/fault"
)

// FeeRates returns the node's estimate for one of the next two blocks and the
// rate below which it relays nothing. It sends one request.
func (c *Client) FeeRates(ctx context.Context) (_ bitcoin.FeeRates, err error) {
	defer func() { err = c.blamed(ctx, err) }()
	n, err := c.learn(ctx)
	if err != nil {
		return bitcoin.FeeRates{}, err
	}
	const nextBlocks = 2
	calls := []call{method("estimatesmartfee", nextBlocks, "economical"), method("getmempoolinfo")}
	if n.btcd {
		calls = []call{method("estimatefee", nextBlocks), method("getinfo")}
	}
	answers, err := c.do(ctx, calls...)
	if err != nil {
		return bitcoin.FeeRates{}, err
	}
	var minimum struct {
		Mempool json.Number `json:"mempoolminfee"`
		Relay   json.Number `json:"relayfee"` // of btcd
	}
	if err := answers[1].decode(&minimum); err != nil {
		return bitcoin.FeeRates{}, fmt.Errorf("minimum fee rate: %w", err)
	}
	var rates bitcoin.FeeRates
	if rates.Minimum, err = rate(cmp.Or(minimum.Mempool, minimum.Relay)); err != nil {
		return bitcoin.FeeRates{}, err
	}
	estimate, ok, err := c.estimate(answers[0], n)
	if err != nil {
		return bitcoin.FeeRates{}, err
	}
	switch {
	case ok:
		rates.Fastest = max(estimate, rates.Minimum)
	case c.o.FallbackFeeRate > 0:
		rates.Fastest = max(c.o.FallbackFeeRate, rates.Minimum)
	case c.o.Network == bitcoin.Regtest:
		rates.Fastest = rates.Minimum
	default:
		return bitcoin.FeeRates{}, fault.New(fault.Upstream, "Bitcoin node%s has no fee estimate yet and no fallback fee is configured", fault.Hidden(c.named()))
	}
	if err := rates.Check(); err != nil {
		return bitcoin.FeeRates{}, err
	}
	return rates, nil
}

// estimate reads the answer to a fee estimate in sat/vB; ok is false if the node
// has none.
func (c *Client) estimate(a answer, n *node) (value float64, ok bool, err error) {
	if n.btcd {
		var perKvB json.Number // -1: none
		if a.Error != nil {
			return 0, false, nil // btcd's words for too little data vary
		}
		if err := a.decode(&perKvB); err != nil {
			return 0, false, err
		}
		value, err = rate(perKvB)
		return value, value > 0, err
	}
	var j struct {
		Rate *json.Number `json:"feerate"`
	}
	if err := a.decode(&j); err != nil || j.Rate == nil {
		return 0, false, err
	}
	value, err = rate(*j.Rate)
	return value, value > 0, err
}

// CPFPs returns the effective fee rates of unconfirmed transactions with their
// low-paying ancestors. It sends one request; from btcd that fetches the whole
// mempool, unless the last copy is younger than Options.MempoolAge.
func (c *Client) CPFPs(ctx context.Context, ids []bitcoin.Hash) []bitcoin.Result[*bitcoin.CPFP] {
	results := make([]bitcoin.Result[*bitcoin.CPFP], len(ids))
	n, err := c.learn(ctx)
	var pool map[bitcoin.Hash]poolTx
	if err == nil && len(ids) > 0 {
		if n.btcd {
			pool, err = c.wholeMempool(ctx)
		} else {
			pool, err = c.ancestors(ctx, ids)
		}
	}
	for i, id := range ids {
		results[i].Err = err
		if fee, vsize, ok := effectiveFee(pool, id); ok && err == nil {
			results[i].Value = &bitcoin.CPFP{EffectiveFeeRate: float64(fee) / float64(vsize), AdjustedVSize: float64(vsize)}
		}
	}
	return blamedEach(ctx, c, results)
}

// ProjectedBlocks returns the blocks that the mempool would fill, ordered by
// each transaction's own fee rate, highest first. It sends one request, which
// fetches the whole mempool, unless the last copy is younger than
// Options.MempoolAge.
func (c *Client) ProjectedBlocks(ctx context.Context) (_ []bitcoin.ProjectedBlock, err error) {
	defer func() { err = c.blamed(ctx, err) }()
	if _, err := c.learn(ctx); err != nil {
		return nil, err
	}
	pool, err := c.wholeMempool(ctx)
	if err != nil {
		return nil, err
	}
	return project(pool), nil
}

// project fills blocks of a million vbytes with the dearest transactions; the
// eighth holds all that is left, so that it can be told from a full one.
func project(pool map[bitcoin.Hash]poolTx) []bitcoin.ProjectedBlock {
	const size, most = 1_000_000, 8
	txs := slices.SortedFunc(maps.Values(pool), func(a, b poolTx) int { return cmp.Compare(b.rate(), a.rate()) })
	var blocks []bitcoin.ProjectedBlock
	for _, tx := range txs {
		n := len(blocks)
		if n == 0 || blocks[n-1].VSize+float64(tx.vsize) > size && n < most {
			blocks = append(blocks, bitcoin.ProjectedBlock{})
		}
		last := &blocks[len(blocks)-1]
		last.VSize += float64(tx.vsize)
		last.MinFeeRate = tx.rate()
	}
	return blocks
}
