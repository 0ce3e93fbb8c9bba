package evm

import (
	"math/big"
	"testing"
	"time"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/internal/evm/wire"
	"github.com/swapper-go/swapper/internal/jsonrpc/rpctest"
	"github.com/swapper-go/swapper/internal/trial"
)

// Of an even number of answers the lower middle counts, of each part alone.
func TestMedianRate(t *testing.T) {
	t.Parallel()
	rate := func(base, l1 int64) wire.FeeRate {
		return wire.FeeRate{Base: big.NewInt(base), Priority: big.NewInt(1), L1: big.NewInt(l1)}
	}
	for name, c := range map[string]struct {
		rates    []wire.FeeRate
		base, l1 int64
	}{
		"one":   {[]wire.FeeRate{rate(5, 50)}, 5, 50},
		"two":   {[]wire.FeeRate{rate(9, 10), rate(5, 50)}, 5, 10},
		"three": {[]wire.FeeRate{rate(9, 10), rate(5, 50), rate(7, 30)}, 7, 30},
		"four":  {[]wire.FeeRate{rate(9, 10), rate(5, 50), rate(7, 30), rate(6, 40)}, 6, 30},
	} {
		if got := medianRate(c.rates); got.Base.Int64() != c.base || got.L1.Int64() != c.l1 {
			t.Errorf("%s: %s and %s, want %d and %d", name, got.Base, got.L1, c.base, c.l1)
		}
	}
	if got := medianRate([]wire.FeeRate{{Base: big.NewInt(5)}}); got.L1 != nil {
		t.Errorf("an L1 fee of %s where there is none", got.L1)
	}
}

// A node without a fee has no say in it; if none has one, that is what is said.
func TestTowerRateOfNodesWithoutFees(t *testing.T) {
	t.Parallel()
	network := presetOf(t, "CITREA/MAINNET")
	network.ChainID = 7
	refuses := func() string {
		return rpctest.Serve(t, func(calls []rpctest.Call) any {
			var all []any
			for _, c := range calls {
				if c.Method == "eth_chainId" {
					all = append(all, rpctest.Result(c, "0x7"))
					continue
				}
				all = append(all, rpctest.Refusal(c, -32000, "no such block"))
			}
			return all
		}).URL
	}
	empty := func() string {
		return rpctest.Serve(t, func(calls []rpctest.Call) any {
			var all []any
			for _, c := range calls {
				if c.Method == "eth_chainId" {
					all = append(all, rpctest.Result(c, "0x7"))
					continue
				}
				all = append(all, rpctest.Result(c, nil))
			}
			return all
		}).URL
	}
	honest := func() string { return feeNode(t, 10_000_000, 100, 0).URL }
	rate := func(urls ...string) (wire.FeeRate, error) {
		c := &chain{net: network, node: newTestNodes(t, urls...), env: chains.Env{Now: time.Now}}
		return c.towerRate(t.Context())
	}
	want := trial.Must(rate(honest()))(t)
	for name, urls := range map[string][]string{
		"one refuses":           {refuses(), honest(), honest()},
		"one has no block":      {honest(), empty(), honest()},
		"two of three are dead": {"http://127.0.0.1:1", honest(), "http://127.0.0.1:2"},
	} {
		if got, err := rate(urls...); err != nil || got.Base.Cmp(want.Base) != 0 {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
	for name, urls := range map[string][]string{"all refuse": {refuses(), refuses()}, "none has a block": {empty(), empty()}, "all are dead": {"http://127.0.0.1:1", "http://127.0.0.1:2"}} {
		if got, err := rate(urls...); err == nil {
			t.Errorf("%s: %+v", name, got)
		}
	}
}
