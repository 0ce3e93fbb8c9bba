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
	"github.com/swapper-go/swapper/internal/starknet/rpc"
	"github.com/swapper-go/swapper/internal/starknet/wire"
	"github.com/swapper-go/swapper/internal/trial"
)

// BenchmarkEscrowsOverHTTP reads open escrows through the whole client on a loopback
// socket: the head, states, and the events that opened them. "fresh" remembers nothing,
// "known" has read them before.
func BenchmarkEscrowsOverHTTP(b *testing.B) {
	for _, count := range []int{1, 100, 10_000} {
		s := newStub(b)
		d := deployment(b)
		queries := make([]chains.EscrowQuery, count)
		events := map[string]json.RawMessage{} // by escrow hash, as it is asked for
		for i := range queries {
			data := swap(b, d, uint64(i))
			queries[i] = chains.EscrowQuery{Escrow: escrowOf(b, d, data)}
			e := initialize(b, d, data, 1000, fmt.Sprintf("%#x", i+1))
			e.Block = hashOf(1000)
			text := trial.Must(json.Marshal(e))(b)
			events[e.Keys[4]] = text
		}
		open := []string{"0x3e8", "0x0", "0x1"}
		s.contract = func(c callJSON) any {
			all := make([]string, 1, 3*len(c.Calldata)-2)
			all[0] = c.Calldata[0]
			for range len(c.Calldata) - 1 {
				all = append(all, open...)
			}
			return all
		}
		s.methods["starknet_getEvents"] = func(p json.RawMessage) any {
			var q struct{ Filter filterJSON }
			_ = json.Unmarshal(p, &q)
			found := []json.RawMessage{}
			for _, h := range q.Filter.Keys[4] {
				found = append(found, events[h])
			}
			return map[string]any{"events": found}
		}
		var requests, trips atomic.Int64
		server := rpctest.Serve(b, func(calls []rpctest.Call) any {
			requests.Add(1)
			all := make([]any, len(calls))
			for i, c := range calls {
				all[i] = rpctest.Result(c, s.answer(c.Method, c.Params))
			}
			return all
		})
		now := func() time.Time { return time.Unix(stubNow, 0) }
		nodes := trial.Must(rpc.Dial(func(wire.Felt) error { return nil }, []string{server.URL}, http.DefaultTransport, now))(b)
		var r *Reader
		fresh := func() {
			r = New(d, NewLedger(&tripped{nodes, &trips}, now, slog.New(slog.DiscardHandler)))
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
					if err != nil || facts[count-1].Err != nil || facts[count-1].InitTx == "" || facts[count-1].Opened.Time == 0 {
						b.Fatal(err, facts[count-1])
					}
				}
				b.ReportMetric(float64(requests.Load())/float64(rounds), "requests")
				b.ReportMetric(float64(trips.Load())/float64(rounds), "trips")
			})
		}
		nodes.Close()
	}
}

// tripped counts what is waited for one after the other.
type tripped struct {
	Nodes
	trips *atomic.Int64
}

func (c *tripped) Batch(ctx context.Context, requests []rpc.Request) error {
	c.trips.Add(1)
	return c.Nodes.Batch(ctx, requests)
}
