package evm

import (
	"context"
	"math/big"
	"sync/atomic"
	"testing"
	"time"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/fault"
)

// Of an even number of answers the lower middle counts, of each part alone.
func TestMedianRate(t *testing.T) {
	rate := func(base, l1 int64) FeeRate {
		return FeeRate{Base: big.NewInt(base), Priority: big.NewInt(1), L1: big.NewInt(l1)}
	}
	for name, c := range map[string]struct {
		rates    []FeeRate
		base, l1 int64
	}{
		"one":   {[]FeeRate{rate(5, 50)}, 5, 50},
		"two":   {[]FeeRate{rate(9, 10), rate(5, 50)}, 5, 10},
		"three": {[]FeeRate{rate(9, 10), rate(5, 50), rate(7, 30)}, 7, 30},
		"four":  {[]FeeRate{rate(9, 10), rate(5, 50), rate(7, 30), rate(6, 40)}, 6, 30},
	} {
		if got := medianRate(c.rates); got.Base.Int64() != c.base || got.L1.Int64() != c.l1 {
			t.Errorf("%s: %s and %s, want %d and %d", name, got.Base, got.L1, c.base, c.l1)
		}
	}
	if got := medianRate([]FeeRate{{Base: big.NewInt(5)}}); got.L1 != nil {
		t.Errorf("an L1 fee of %s where there is none", got.L1)
	}
}

// A node that failed is not asked beside one that is up; if all failed, all are.
func TestEachAsksWhoIsUp(t *testing.T) {
	var asked [2]atomic.Int32
	var urls []string
	for i := range asked {
		urls = append(urls, serveRPC(t, func(calls []rpcCall) any {
			var all []any
			for _, c := range calls {
				if c.Method == "eth_chainId" {
					all = append(all, result(c, "0x7"))
					continue
				}
				asked[i].Add(1)
				all = append(all, result(c, map[string]any{"number": "0x10", "timestamp": "0x10", "hash": "0x" + zeros(64), "baseFeePerGas": "0x5", "l1FeeRate": "0x5"}))
			}
			return all
		}).URL)
	}
	n := newTestNodes(t, urls...)
	ask := func(ctx context.Context) (answers int, err error) {
		err = n.each(ctx, func() []Request { return []Request{feeRequest(new(*feeHead))} }, func(r []Request) {
			if r[0].Err == nil {
				answers++
			}
		})
		return answers, err
	}
	if answers, err := ask(t.Context()); err != nil || answers != 2 {
		t.Errorf("both up: %d answers, %v", answers, err)
	}
	n.all[0].note(context.DeadlineExceeded, time.Now())
	if !n.all[0].isDown(time.Now()) {
		t.Fatal("not down")
	}
	before := asked[0].Load()
	if answers, err := ask(t.Context()); err != nil || answers != 1 || asked[0].Load() != before {
		t.Errorf("one down: %d answers, %v, asked %v", answers, err, asked[0].Load() != before)
	}
	// a caller that gives up says nothing of the nodes
	over, cancel := context.WithCancel(t.Context())
	cancel()
	if answers, err := ask(over); err == nil || fault.CodeOf(err) != fault.Upstream || answers != 0 {
		t.Errorf("given up: %d answers, %v", answers, err)
	}
	if n.all[1].isDown(time.Now()) {
		t.Error("a node is down because its caller gave up")
	}
	dead := newTestNodes(t, "http://127.0.0.1:1", "http://127.0.0.1:2")
	n = dead
	if answers, err := ask(t.Context()); fault.CodeOf(err) != fault.Upstream || answers != 0 {
		t.Errorf("nodes that are dead: %d answers, %v", answers, err)
	}
}

// A node without a fee has no say in it; if none has one, that is what is said.
func TestTowerRateOfNodesWithoutFees(t *testing.T) {
	network := presetOf(t, "CITREA/MAINNET")
	network.ChainID = 7
	refuses := func() string {
		return serveRPC(t, func(calls []rpcCall) any {
			var all []any
			for _, c := range calls {
				if c.Method == "eth_chainId" {
					all = append(all, result(c, "0x7"))
					continue
				}
				all = append(all, refusal(c, -32000, "no such block"))
			}
			return all
		}).URL
	}
	empty := func() string {
		return serveRPC(t, func(calls []rpcCall) any {
			var all []any
			for _, c := range calls {
				if c.Method == "eth_chainId" {
					all = append(all, result(c, "0x7"))
					continue
				}
				all = append(all, result(c, nil))
			}
			return all
		}).URL
	}
	honest := func() string { return feeNode(t, 10_000_000, 100, 0).URL }
	rate := func(urls ...string) (FeeRate, error) {
		c := &chain{net: network, node: newTestNodes(t, urls...), env: chains.Env{Now: time.Now}}
		return c.towerRate(t.Context())
	}
	want, err := rate(honest())
	if err != nil {
		t.Fatal(err)
	}
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
