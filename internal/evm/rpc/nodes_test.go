package rpc

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/core/types"

	"github.com/swapper-go/swapper/internal/evm/wire"
	"github.com/swapper-go/swapper/internal/httpx"
	"github.com/swapper-go/swapper/internal/jsonrpc/rpctest"
	"github.com/swapper-go/swapper/internal/trial"
)

// echo answers every call with its first parameter.
func echo(calls []rpctest.Call) any {
	var all []any
	for _, c := range calls {
		var params []any
		_ = json.Unmarshal(c.Params, &params)
		all = append(all, rpctest.Result(c, append(params, nil)[0]))
	}
	return all
}

func newTestNodes(t *testing.T, urls ...string) *Nodes {
	t.Helper()
	n := trial.Must(Dial(7, urls, http.DefaultTransport, time.Now))(t)
	n.Retry = httpx.RetryPolicy{Calls: 1}
	t.Cleanup(n.Close)
	return n
}

// A node's own trouble is passed over, its answers are final.
func TestWhichErrorsAreAnswers(t *testing.T) {
	for _, c := range []struct {
		method string
		code   int
		text   string
		passed bool // over to the next node
	}{
		{"eth_call", 3, "execution reverted", false},
		{"eth_call", -32000, "execution reverted", false},
		{"eth_call", -32000, "header not found", true},
		{"eth_call", -32000, "missing trie node 1234 (path )", true},
		{"eth_sendRawTransaction", -32000, "nonce too low", false},
		{"eth_sendRawTransaction", -32010, "already known", false},
		{"debug_traceTransaction", -32601, "the method does not exist", false},
		{"eth_call", -32602, "invalid argument", false},
		{"eth_call", -32603, "internal error", true},
		{"eth_call", -32005, "limit exceeded", true},
		{"eth_getLogs", -32005, "query returned more than 10000 results", false},
		{"eth_getLogs", -32008, "too much", false},
		{"eth_call", -32029, "slow down", true},
	} {
		t.Run(fmt.Sprintf("%s %d %s", c.method, c.code, c.text), func(t *testing.T) {
			first := rpctest.Serve(t, func(calls []rpctest.Call) any {
				var all []any
				for _, call := range calls {
					if call.Method == c.method {
						all = append(all, rpctest.Refusal(call, c.code, c.text))
					} else {
						all = append(all, rpctest.Result(call, nil))
					}
				}
				return all
			})
			second := rpctest.Serve(t, echo)
			var got int
			r := []Request{{Method: c.method, Params: []any{5}, Result: &got}}
			trial.Do(t, newTestNodes(t, first.URL, second.URL).Batch(t.Context(), r))
			if passed := r[0].Err == nil && got == 5; passed != c.passed {
				t.Errorf("answer %d, %v", got, r[0].Err)
			}
		})
	}
}

// Searches of logs that are too wide for a node are halved until they fit.
func TestLogSearchesAreHalved(t *testing.T) {
	for name, refuse := range map[string]func(rpctest.Call) any{
		"-32005": func(c rpctest.Call) any { return rpctest.Refusal(c, -32005, "limit") },
		"-32008": func(c rpctest.Call) any { return rpctest.Refusal(c, -32008, "limit") },
		"-32602": func(c rpctest.Call) any { return rpctest.Refusal(c, -32602, "query exceeds max results 20000") },
		"words": func(c rpctest.Call) any {
			return rpctest.Refusal(c, -32614, "eth_getLogs is limited to a 10,000 range")
		},
	} {
		t.Run(name, func(t *testing.T) {
			most := uint64(100)
			s := rpctest.Serve(t, func(calls []rpctest.Call) any {
				var all []any
				for _, c := range calls {
					var filters []struct{ FromBlock, ToBlock hexutil.Uint64 }
					if c.Method != "eth_getLogs" || json.Unmarshal(c.Params, &filters) != nil {
						all = append(all, rpctest.Result(c, nil))
						continue
					}
					from, to := uint64(filters[0].FromBlock), uint64(filters[0].ToBlock)
					if to-from+1 > most {
						all = append(all, refuse(c))
						continue
					}
					logs := []types.Log{}
					for ; from <= to; from++ {
						logs = append(logs, types.Log{BlockNumber: from, Topics: []common.Hash{}, Data: []byte{}})
					}
					all = append(all, rpctest.Result(c, logs))
				}
				return all
			})
			n := newTestNodes(t, s.URL)
			search := func() ([]types.Log, error) {
				var logs []types.Log
				r := []Request{LogRequest(wire.Native, BlockRange{10, 959}, nil, &logs)}
				err := n.Batch(t.Context(), r)
				return logs, errors.Join(err, r[0].Err)
			}
			logs, err := search()
			if err != nil || len(logs) != 950 {
				t.Fatalf("%d logs, %v", len(logs), err)
			}
			for i, l := range logs {
				if l.BlockNumber != uint64(10+i) {
					t.Fatalf("log %d is of block %d", i, l.BlockNumber)
				}
			}
			most = 0 // not even one block
			if _, err := search(); err == nil {
				t.Error("logs from a node that gives none")
			}
		})
	}
}

// A node of another chain is not believed, and neither is one whose newest block is old
// while another has a newer one.
func TestNodesOfOtherChainsAndBehind(t *testing.T) {
	serve := func(chain string, age time.Duration) string {
		return rpctest.Serve(t, func(calls []rpctest.Call) any {
			var all []any
			for _, c := range calls {
				if c.Method == "eth_chainId" {
					all = append(all, map[string]any{"jsonrpc": "2.0", "id": c.ID, "result": chain})
					continue
				}
				all = append(all, rpctest.Result(c, BlockHead{Number: hexutil.Uint64(age / time.Second), Timestamp: hexutil.Uint64(time.Now().Add(-age).Unix())}))
			}
			return all
		}).URL
	}
	ask := func(urls ...string) (uint64, *Nodes, error) {
		n := newTestNodes(t, urls...)
		var head *BlockHead
		err := n.Batch(t.Context(), []Request{{Method: "eth_getBlockByNumber", Params: []any{"latest", false}, Result: &head}})
		if err != nil {
			return 0, n, err
		}
		return uint64(head.Number), n, nil
	}
	late, fresh := serve("0x7", 3*time.Minute), serve("0x7", time.Second)
	if got, n, err := ask(serve("0x8", 2*time.Second), fresh); err != nil || got != 1 || n.Foreign() == nil || !strings.Contains(n.Foreign().Error(), "serves chain 8 instead of 7") {
		t.Errorf("%d, %v, %v", got, err, n.Foreign())
	}
	if _, _, err := ask(serve("none", 0)); err == nil || !strings.Contains(err.Error(), "did not return its chain id") {
		t.Error(err)
	}
	if got, _, err := ask(late, fresh); err != nil || got != 1 {
		t.Errorf("%d, %v", got, err)
	}
	if got, _, err := ask(late, late); err != nil || got != 180 {
		t.Errorf("all behind: %d, %v", got, err)
	}
	if got, _, err := ask(late); err != nil || got != 180 {
		t.Errorf("alone and behind: %d, %v", got, err)
	}
}

// The newest block is found in what its answer was decoded to, and in the answer where
// that was decoded to something else.
func TestHeadOfAnAnswer(t *testing.T) {
	type fees struct {
		BlockHead
		BaseFee *hexutil.Big
	}
	answer := json.RawMessage(`{"number":"0x5","timestamp":"0x6"}`)
	latest := Request{Method: "eth_getBlockByNumber", Params: []any{"latest", false}}
	head, embedded, none := &BlockHead{Number: 7}, &fees{BlockHead: BlockHead{Number: 8}}, (*BlockHead)(nil)
	for name, c := range map[string]struct {
		request Request
		result  any
		height  uint64 // 0: none
	}{
		"a head":            {latest, &head, 7},
		"what embeds one":   {latest, &embedded, 8},
		"none":              {latest, &none, 5},
		"something else":    {latest, new(map[string]string), 5},
		"no pointer":        {latest, nil, 5},
		"another block":     {Request{Method: "eth_getBlockByNumber", Params: []any{"safe", false}}, &head, 0},
		"another question":  {Request{Method: "eth_call", Params: []any{"latest"}}, &head, 0},
		"without questions": {Request{Method: "eth_getBlockByNumber"}, &head, 0},
	} {
		got := headIn(c.request, answer, c.result)
		if got == nil && c.height != 0 || got != nil && uint64(got.Number) != c.height {
			t.Errorf("%s: %+v", name, got)
		}
	}
	if got := headIn(latest, json.RawMessage(`null`), &none); got != nil {
		t.Errorf("of no block: %+v", got)
	}
}
