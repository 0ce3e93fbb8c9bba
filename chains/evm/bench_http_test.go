package evm

import (
	"context"
	"encoding/json"
	"math/big"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/common/hexutil"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/internal/evm/read"
	"github.com/swapper-go/swapper/internal/evm/rpc"
	"github.com/swapper-go/swapper/internal/evm/wire"
	"github.com/swapper-go/swapper/internal/jsonrpc/rpctest"
	"github.com/swapper-go/swapper/internal/trial"
)

// BenchmarkEscrowsOverHTTP asks through the whole adapter on a loopback socket:
// chain id, heads, states and logs. What is remembered is forgotten each time.
func BenchmarkEscrowsOverHTTP(b *testing.B) {
	n := presetOf(b, "CITREA/MAINNET")
	instant := &instantNode{d: n.Deployments[0], state: wire.EscrowABI().Methods["getHashStateMultiple"]}
	var requests, waits atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		requests.Add(1)
		var calls []rpctest.Call
		var all []any
		_ = json.NewDecoder(r.Body).Decode(&calls)
		for _, c := range calls {
			all = append(all, instant.answer(n.ChainID, c))
		}
		_ = json.NewEncoder(w).Encode(all)
	}))
	defer server.Close()
	nodes := trial.Must(rpc.Dial(n.ChainID, []string{server.URL}, http.DefaultTransport, time.Now))(b)
	defer nodes.Close()
	for _, count := range []int{1, 100, 10_000} {
		b.Run(big.NewInt(int64(count)).String(), func(b *testing.B) {
			queries := make([]chains.EscrowQuery, count)
			for i, h := range hashesUpTo(count) {
				queries[i] = chains.EscrowQuery{Escrow: &chains.Escrow{Hash: h.Bytes()}}
			}
			c := &chain{net: n, node: countedNode{nodes, &waits}, env: chains.Env{Now: time.Now}}
			requests.Store(0)
			waits.Store(0)
			rounds := 0
			b.ReportAllocs()
			for b.Loop() {
				rounds++
				k := &contracts{chain: c, Contracts: read.Contracts{Deployment: n.Deployments[0]}, memory: newMemory()}
				facts, err := k.Escrows(b.Context(), queries)
				if err != nil || facts[count-1].Err != nil {
					b.Fatal(err, facts[count-1].Err)
				}
			}
			b.ReportMetric(float64(requests.Load())/float64(rounds), "requests")
			b.ReportMetric(float64(waits.Load())/float64(rounds), "trips")
		})
	}
}

// countedNode counts what is waited for one after the other.
type countedNode struct {
	rpc.Node
	trips *atomic.Int64
}

func (n countedNode) Batch(ctx context.Context, requests []rpc.Request) error {
	n.trips.Add(1)
	return n.Node.Batch(ctx, requests)
}

// answer is the answer to a call as it goes over the wire.
func (n *instantNode) answer(chainID uint64, c rpctest.Call) any {
	var value any
	switch c.Method {
	case "eth_chainId":
		value = hexutil.Uint64(chainID)
	case "eth_getBlockByNumber":
		value = rpc.BlockHead{Number: 1 << 30, Timestamp: 1_800_000_000}
	case "eth_call":
		var params []json.RawMessage
		var args rpc.CallArgs
		_ = json.Unmarshal(c.Params, &params)
		_ = json.Unmarshal(params[0], &args)
		out, _ := n.states(args.Data)
		value = hexutil.Bytes(out)
	case "eth_getLogs":
		var filters []rpc.LogFilter
		_ = json.Unmarshal(c.Params, &filters)
		value = n.logs(filters[0].Topics[3])
	}
	return map[string]any{"jsonrpc": "2.0", "id": c.ID, "result": value}
}
