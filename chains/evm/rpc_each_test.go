package evm

import (
	"fmt"
	"math/big"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/internal/evm/wire"
	"github.com/swapper-go/swapper/internal/jsonrpc/rpctest"
	"github.com/swapper-go/swapper/internal/settle"
	"github.com/swapper-go/swapper/internal/trial"
)

// feeNode serves blocks with a base fee and an L1 fee; it answers after a while
// if slow is set.
func feeNode(t *testing.T, baseFee, l1 int64, slow time.Duration) *httptest.Server {
	ended := make(chan struct{})
	s := rpctest.Serve(t, func(calls []rpctest.Call) any {
		select {
		case <-time.After(slow):
		case <-ended:
		}
		var all []any
		for _, c := range calls {
			all = append(all, rpctest.Result(c, map[string]any{"number": "0x10", "timestamp": "0x10", "hash": "0x" + zeros(64),
				"baseFeePerGas": "0x" + big.NewInt(baseFee).Text(16), "l1FeeRate": "0x" + big.NewInt(l1).Text(16)}))
		}
		return all
	})
	t.Cleanup(func() { close(ended) }) // before the server waits for its answers
	return s
}

func zeros(n int) string {
	b := make([]byte, n)
	for i := range b {
		b[i] = '0'
	}
	return string(b)
}

// One node that names a thousand times the fee does not decide what a watchtower
// is paid, wherever it stands in the list.
func TestWatchtowersArePaidByWhatMostNodesSay(t *testing.T) {
	t.Parallel()
	network := trial.Must(wire.Preset(wire.ChainCitrea, bitcoin.Mainnet))(t)
	network.ChainID = 7
	honest, liar := func() string { return feeNode(t, 10_000_000, 100, 0).URL }, func() string { return feeNode(t, 10_000_000_000, 100_000, 0).URL }
	dead := "http://127.0.0.1:1"
	silent := func() string { return feeNode(t, 10_000_000_000, 100, time.Minute).URL }
	estimate := func(kind chains.StepKind, urls ...string) *big.Int {
		c := &chain{net: network, node: newTestNodes(t, urls...), env: chains.Env{Now: time.Now}}
		return trial.Must((&contracts{chain: c}).Estimate(t.Context(), chains.Cost{Kind: kind}, ""))(t)
	}
	for _, kind := range []chains.StepKind{chains.StepClaimSecret, chains.StepVaultClaim, chains.StepRelayHeader} {
		want := estimate(kind, honest())
		for name, urls := range map[string][]string{
			"liar first of two":    {liar(), honest()},
			"liar last of two":     {honest(), liar()},
			"liar first of three":  {liar(), honest(), honest()},
			"liar and a dead node": {dead, liar(), honest()},
		} {
			if got := estimate(kind, urls...); got.Cmp(want) != 0 {
				t.Errorf("%s, expense %d: %s, want %s", name, kind, got, want)
			}
		}
	}
	began := time.Now()
	if got, want := estimate(chains.StepVaultClaim, silent(), honest()), estimate(chains.StepVaultClaim, honest()); got.Cmp(want) != 0 {
		t.Errorf("with a silent node: %s, want %s", got, want)
	}
	if took := time.Since(began); took > 30*time.Second {
		t.Errorf("waited %v for a silent node", took)
	}
}

// What one node refuses, another one may take.
func TestOneRefusalIsNotTheNetworks(t *testing.T) {
	t.Parallel()
	id := "0x" + strings.Repeat("ab", 32)
	node := func(answer func(c rpctest.Call) any) string {
		return rpctest.Serve(t, func(calls []rpctest.Call) any {
			var all []any
			for _, c := range calls {
				switch c.Method {
				case "eth_sendRawTransaction":
					all = append(all, answer(c))
				default:
					all = append(all, rpctest.Result(c, nil))
				}
			}
			return all
		}).URL
	}
	refuses := func() string {
		return node(func(c rpctest.Call) any {
			return rpctest.Refusal(c, -32000, "insufficient funds for gas * price + value")
		})
	}
	takes := func() string { return node(func(c rpctest.Call) any { return rpctest.Result(c, id) }) }
	send := func(urls ...string) error {
		c := &chain{node: newTestNodes(t, urls...), env: chains.Env{Now: time.Now}, nonces: settle.NewSentTxs[*wire.Transaction]()}
		return c.deliver(t.Context(), chains.Signed{ID: id, Raw: []byte{1}})
	}
	if err := send(refuses(), takes()); err != nil {
		t.Errorf("one of two takes it: %v", err)
	}
	if err := send(refuses(), refuses()); fault.CodeOf(err) != fault.InvalidState {
		t.Errorf("both refuse: %v", err)
	}
	if err := send(refuses()); fault.CodeOf(err) != fault.InvalidState {
		t.Errorf("the only one refuses: %v", err)
	}
}

// A node that calls the relay far behind does not decide what watchtowers get for
// bringing it up to date.
func TestRelayTipIsWhatMostNodesSay(t *testing.T) {
	t.Parallel()
	node := func(height int64) string {
		return rpctest.Serve(t, func(calls []rpctest.Call) any {
			var all []any
			for _, c := range calls {
				all = append(all, rpctest.Result(c, "0x"+fmt.Sprintf("%064x", height)))
			}
			return all
		}).URL
	}
	for name, c := range map[string]struct {
		urls []string
		want uint32
	}{
		"one":          {[]string{node(800_000)}, 800_000},
		"one of two":   {[]string{node(1), node(800_000)}, 800_000},
		"one of three": {[]string{node(1), node(800_000), node(800_001)}, 800_000},
		"dead one":     {[]string{"http://127.0.0.1:1", node(800_000)}, 800_000},
	} {
		k := &contracts{chain: &chain{node: newTestNodes(t, c.urls...), env: chains.Env{Now: time.Now}}}
		if tip, err := k.RelayTip(t.Context()); err != nil || tip != c.want {
			t.Errorf("%s: %d, %v", name, tip, err)
		}
	}
}
