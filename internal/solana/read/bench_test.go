package read

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"sync/atomic"
	"testing"
	"time"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/internal/jsonrpc/rpctest"
	"github.com/swapper-go/swapper/internal/solana/rpc"
	"github.com/swapper-go/swapper/internal/solana/wire"
	"github.com/swapper-go/swapper/internal/trial"
)

// BenchmarkEscrowsOverHTTP reads open escrows through the whole client on a loopback
// socket: heads, accounts in two states, histories and the transactions that opened
// them. "fresh" remembers nothing, "known" has read them before.
func BenchmarkEscrowsOverHTTP(b *testing.B) {
	for _, count := range []int{1, 100, 10_000} {
		s := newStub(b)
		p := programs(b, wire.V1)
		queries := make([]chains.EscrowQuery, count)
		answers := map[string]json.RawMessage{}
		for i := range queries {
			d := someEscrow(b, uint64(i))
			queries[i] = escrowQuery(b, d)
			at := p.Escrow(d.PaymentHash)
			s.opens(p, d)
			answers[at.String()] = mustJSON(b, []sigJSON{{Signature: idOf(i), Slot: 1000}})
			answers[idOf(i)] = s.result(idOf(i), txJSON{Slot: 1000, BlockTime: 5, Logs: logsOf(p, eventOf(wire.Initialized, d))}, nil)
		}
		for k := range s.accounts {
			answers["account "+k.String()] = mustJSON(b, s.account(k, ""))
		}
		answers["account "+wire.ClockData.String()] = mustJSON(b, s.account(wire.ClockData, ""))
		var requests, trips atomic.Int64
		server := rpctest.Serve(b, func(calls []rpctest.Call) any {
			requests.Add(1)
			all := make([]any, len(calls))
			for i, c := range calls {
				all[i] = instant(c, answers)
			}
			return all
		})
		nodes := trial.Must(rpc.Dial(func(string) error { return nil }, []string{server.URL}, http.DefaultTransport, time.Now))(b)
		var r *Reader
		fresh := func() {
			r = New(p, NewLedger(countedNode{nodes, &trips}, time.Now, slog.New(slog.DiscardHandler)))
		}
		for _, known := range []bool{false, true} {
			b.Run(fmt.Sprintf("%d/%s", count, map[bool]string{false: "fresh", true: "known"}[known]), func(b *testing.B) {
				fresh()
				if known {
					if _, err := r.Escrows(b.Context(), queries); err != nil {
						b.Fatal(err)
					}
				}
				requests.Store(0)
				trips.Store(0)
				rounds := 0
				b.ReportAllocs()
				for b.Loop() {
					rounds++
					if !known {
						fresh()
					}
					facts, err := r.Escrows(b.Context(), queries)
					if err != nil || facts[count-1].Err != nil || facts[count-1].InitTx == "" {
						b.Fatal(err, facts[count-1])
					}
				}
				b.ReportMetric(float64(requests.Load())/float64(rounds), "requests")
				b.ReportMetric(float64(trips.Load())/float64(rounds), "trips")
			})
		}
		nodes.Close()
		server.Close()
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

func instant(c rpctest.Call, answers map[string]json.RawMessage) any {
	var params []json.RawMessage
	var of string
	_ = json.Unmarshal(c.Params, &params)
	inContext := func(v any) any {
		return rpctest.Result(c, map[string]any{"context": map[string]any{"slot": 1 << 20}, "value": v})
	}
	switch c.Method {
	case "getGenesisHash":
		return rpctest.Result(c, "any")
	case "getLatestBlockhash":
		return inContext(map[string]any{"blockhash": wire.Key{5}.String(), "lastValidBlockHeight": 5000})
	case "getMultipleAccounts":
		var keys []string
		_ = json.Unmarshal(params[0], &keys)
		all := make([]json.RawMessage, len(keys))
		for i, k := range keys {
			all[i] = answers["account "+k]
		}
		return inContext(all)
	}
	_ = json.Unmarshal(params[0], &of)
	return rpctest.Result(c, answers[of])
}
