package evm

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ethereum/go-ethereum/common"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/internal/evm/read"
	"github.com/swapper-go/swapper/internal/evm/rpc"
)

// slowNode answers after a second, with a block or with the funds of an LP.
type slowNode struct {
	mu    sync.Mutex
	calls int
}

func (n *slowNode) Batch(ctx context.Context, requests []rpc.Request) error {
	n.mu.Lock()
	n.calls += len(requests)
	n.mu.Unlock()
	time.Sleep(time.Second)
	for i := range requests {
		answer := `{"number":"0x5","timestamp":"0x6","baseFeePerGas":"0x7","l1FeeRate":"0x8"}`
		if requests[i].Method == "eth_call" {
			answer = `"0x` + word(32) + word(1) + word(5) + `"` // one balance
			if i == 1 {
				answer = `"0x` + word(32) + word(4) + strings.Repeat("0", 4*3*2*64) + `"` // what was done of four kinds
			}
		}
		if err := json.Unmarshal([]byte(answer), requests[i].Result); err != nil {
			return err
		}
	}
	return nil
}

func word(n int) string { return fmt.Sprintf("%064x", n) }

// Who asks for fees or an LP's funds while others do shares their question, and who asks
// afterwards, or for another LP, asks anew.
func TestQuestionsAtTheSameMomentAreOne(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		node := &slowNode{}
		c := &chain{net: presetOf(t, "CITREA/MAINNET"), node: node, env: chains.Env{Now: time.Now}}
		k := &contracts{chain: c, Contracts: read.Contracts{Deployment: deploymentOf(t, "CITREA/MAINNET")}, memory: newMemory()}
		c.contracts = []*contracts{k}
		rate := func() {
			if _, err := c.FeeRate(t.Context()); err != nil {
				t.Error(err)
			}
		}
		funds := func(lp common.Address) func() {
			return func() {
				_, err := k.Liquidity(t.Context(), lp.Hex(), common.Address{9}.Hex())
				if err != nil {
					t.Error(err)
				}
			}
		}
		for name, c := range map[string]struct {
			asks  []func()
			calls int
		}{
			"fees":               {[]func(){rate, rate, rate}, 1},
			"the funds of one":   {[]func(){funds(common.Address{1}), funds(common.Address{1})}, 2},
			"the funds of two":   {[]func(){funds(common.Address{1}), funds(common.Address{2})}, 4},
			"fees and the funds": {[]func(){rate, funds(common.Address{1}), rate}, 3},
		} {
			for range 2 { // what was asked before serves nobody later
				node.calls = 0
				var all sync.WaitGroup
				for _, ask := range c.asks {
					all.Go(ask)
				}
				all.Wait()
				if node.calls != c.calls {
					t.Errorf("%s: %d calls, expected %d", name, node.calls, c.calls)
				}
			}
		}
	})
}

// What a chain tells of itself is the caller's own.
func TestInfoIsTheCallersOwn(t *testing.T) {
	t.Parallel()
	c := &chain{net: presetOf(t, "CITREA/MAINNET")}
	c.contracts = []*contracts{{chain: c, Contracts: read.Contracts{Deployment: deploymentOf(t, "CITREA/MAINNET")}}}
	first := c.Info()
	contract, version := first.Contracts[0], first.Versions[0].Name
	first.Contracts[0], first.Versions[0].Name = "changed", "changed"
	if again := c.Info(); again.Contracts[0] != contract || again.Versions[0].Name != version {
		t.Errorf("a caller changed it: %+v", again)
	}
}
