package bitcoin

import (
	"cmp"
	"slices"

	"github.com/swapper-go/swapper/internal/btc/rawtx"
)

// mempoolBlocks answers the blocks that the mempool would fill: transactions by
// falling own fee rate, a million vbytes each, eight blocks at most with all that is left in the last.
func (c *call) mempoolBlocks() (any, error) {
	type projected struct {
		BlockSize  int       `json:"blockSize"`
		BlockVSize float64   `json:"blockVSize"`
		NTx        int       `json:"nTx"`
		TotalFees  int64     `json:"totalFees"`
		MedianFee  float64   `json:"medianFee"`
		FeeRange   []float64 `json:"feeRange"`
	}
	txs := c.waiting()
	rate := func(w waiting) float64 { return float64(w.fee) / float64(w.vsize) }
	slices.SortStableFunc(txs, func(a, b waiting) int { return cmp.Compare(rate(b), rate(a)) })
	blocks := []*projected{}
	var rates [][]float64
	for _, w := range txs {
		if n := len(blocks); n == 0 || blocks[n-1].BlockVSize+float64(w.vsize) > 1_000_000 && n < 8 {
			blocks, rates = append(blocks, new(projected)), append(rates, nil)
		}
		last := len(blocks) - 1
		b := blocks[last]
		b.BlockSize += w.tx.SerializeSize()
		b.BlockVSize += float64(rawtx.Weight(w.tx)) / 4
		b.NTx++
		b.TotalFees += w.fee
		rates[last] = append(rates[last], rate(w))
	}
	for i, b := range blocks {
		r := rates[i]
		slices.Reverse(r) // from the cheapest
		b.MedianFee = r[len(r)/2]
		b.FeeRange = []float64{r[0], b.MedianFee, r[len(r)-1]}
	}
	return blocks, nil
}

// cpfp answers the fee rate that miners see: with those ancestors that pay less.
func (c *call) cpfp() (any, error) {
	id, err := c.txid("txid")
	if err != nil {
		return nil, err
	}
	type relative struct {
		TxID   string `json:"txid"`
		Fee    int64  `json:"fee"`
		Weight int    `json:"weight"`
	}
	list := []relative{}
	own, ancestors, ok := c.withAncestors(id)
	if e, found := c.net.find(id); !ok || !found || e.block != nil {
		return map[string]any{"ancestors": list}, nil
	}
	fee, vsize := own.fee, own.vsize
	for _, a := range ancestors {
		list = append(list, relative{a.id.String(), a.fee, rawtx.Weight(a.tx)})
		fee, vsize = fee+a.fee, vsize+a.vsize
	}
	effective := min(float64(own.fee)/float64(own.vsize), float64(fee)/float64(vsize))
	return map[string]any{
		"ancestors": list, "bestDescendant": nil, "descendants": []relative{}, "effectiveFeePerVsize": effective,
		"sigops": 0, "fee": own.fee, "adjustedVsize": float64(own.vsize),
	}, nil
}
