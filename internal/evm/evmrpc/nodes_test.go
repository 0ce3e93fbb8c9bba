package evmrpc

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/core/types"

	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/internal/evm/evmrpc/rpctest"
	"github.com/swapper-go/swapper/internal/evm/evmwire"
	"github.com/swapper-go/swapper/internal/retry"
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
	n, err := Dial(7, urls, http.DefaultTransport, time.Now)
	if err != nil {
		t.Fatal(err)
	}
	n.Retry = retry.Policy{Calls: 1}
	t.Cleanup(n.Close)
	return n
}

// echoes are calls whose answers are their numbers.
func echoes(count int) ([]Request, []int) {
	requests, answers := make([]Request, count), make([]int, count)
	for i := range requests {
		requests[i] = Request{Method: "echo", Params: []any{i}, Result: &answers[i]}
	}
	return requests, answers
}

func checkEchoes(t *testing.T, n *Nodes, count int) {
	t.Helper()
	requests, answers := echoes(count)
	if err := n.Batch(t.Context(), requests); err != nil {
		t.Fatal(err)
	}
	for i, got := range answers {
		if got != i || requests[i].Err != nil {
			t.Fatalf("answer %d is %d, %v", i, got, requests[i].Err)
		}
	}
}

// Servers differ in how many calls they take at once, and in how they say so.
func TestNodesThatTakeFewCalls(t *testing.T) {
	const most = 7
	for name, refuse := range map[string]func(calls []rpctest.Call) any{
		"one object": func(calls []rpctest.Call) any {
			return rpctest.Refusal(rpctest.Call{ID: json.RawMessage("null")}, -32600, "batch too large")
		},
		"one answer":            func(calls []rpctest.Call) any { return []any{rpctest.Refusal(calls[0], -32600, "batch too large")} },
		"a part of the answers": func(calls []rpctest.Call) any { return echo(calls[:1]) },
		"HTTP 413":              func([]rpctest.Call) any { return http.StatusRequestEntityTooLarge },
		"size of the answers": func(calls []rpctest.Call) any {
			all := echo(calls).([]any)
			for i := most; i < len(calls); i++ {
				all[i] = rpctest.Refusal(calls[i], -32003, "response too large")
			}
			return all
		},
	} {
		t.Run(name, func(t *testing.T) {
			for _, limit := range []int{most, 1} {
				var trips atomic.Int64
				s := rpctest.Serve(t, func(calls []rpctest.Call) any {
					trips.Add(1)
					if len(calls) > limit {
						return refuse(calls)
					}
					return echo(calls)
				})
				n := newTestNodes(t, s.URL)
				checkEchoes(t, n, 150)
				before := trips.Load()
				checkEchoes(t, n, 3) // the size is remembered
				if got := trips.Load() - before; got > 3 {
					t.Errorf("%d requests for 3 calls", got)
				}
			}
		})
	}
}

func TestNodesKeepConnectionsAndBounds(t *testing.T) {
	var opened, under, most atomic.Int64
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if now := under.Add(1); now > most.Load() {
			most.Store(now)
		}
		defer under.Add(-1)
		time.Sleep(2 * time.Millisecond)
		var calls []rpctest.Call
		_ = json.NewDecoder(r.Body).Decode(&calls)
		_ = json.NewEncoder(w).Encode(echo(calls))
	}))
	s.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			opened.Add(1)
		}
	}
	s.Start()
	defer s.Close()
	n, err := Dial(7, []string{s.URL}, &http.Transport{MaxIdleConnsPerHost: ParallelCalls}, time.Now)
	if err != nil {
		t.Fatal(err)
	}
	defer n.Close()
	for range 30 {
		checkEchoes(t, n, 2)
	}
	if opened.Load() != 1 {
		t.Errorf("%d connections for requests one after the other", opened.Load())
	}
	var wait sync.WaitGroup
	for range 30 {
		wait.Go(func() { checkEchoes(t, n, 250) })
	}
	wait.Wait()
	if most.Load() > ParallelCalls {
		t.Errorf("%d requests at once, at most %d are allowed", most.Load(), ParallelCalls)
	}
}

// A URL often holds a key, and what a node says is not to be trusted either.
func TestNodeErrorsAreShortAndKeepSecrets(t *testing.T) {
	const key = "S3CR3TK3Y"
	long := strings.Repeat("very ", 1000)
	bad := rpctest.Serve(t, func(calls []rpctest.Call) any {
		var all []any
		for _, c := range calls {
			if c.Method == "eth_chainId" {
				all = append(all, rpctest.Result(c, nil))
			} else {
				all = append(all, rpctest.Refusal(c, 3, long))
			}
		}
		return all
	})
	requests, _ := echoes(1)
	if err := newTestNodes(t, bad.URL+"/"+key).Batch(t.Context(), requests); err != nil {
		t.Fatal(err)
	}
	if err := requests[0].Err; err == nil || len(err.Error()) > maxErrorText || CodeOf(err) != 3 {
		t.Errorf("the node's error has %d bytes", len(err.Error()))
	}
	closed := httptest.NewServer(nil)
	closed.Close()
	moved := httptest.NewServer(http.RedirectHandler("http://127.0.0.1:1/"+key, http.StatusFound))
	defer moved.Close()
	for _, base := range []string{closed.URL, moved.URL} {
		url := strings.Replace(base, "http://", "http://user:"+key+"@", 1) + "/" + key + "?key=" + key
		err := newTestNodes(t, url).Batch(t.Context(), requests)
		if err == nil || strings.Contains(err.Error(), key) || fault.CodeOf(err) != fault.Upstream {
			t.Errorf("error %v", err)
		}
	}
	for _, url := range []string{"ftp://host/" + key, "host/" + key, "http://[" + key, "ws://host/" + key, ""} {
		if _, err := Dial(7, []string{url}, http.DefaultTransport, time.Now); err == nil || strings.Contains(err.Error(), key) {
			t.Errorf("%q: %v", url, err)
		}
	}
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
			if err := newTestNodes(t, first.URL, second.URL).Batch(t.Context(), r); err != nil {
				t.Fatal(err)
			}
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
				r := []Request{LogRequest(evmwire.Native, BlockRange{10, 959}, nil, &logs)}
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

// A node that is down at first is asked again while the context lasts.
func TestNodesAreAskedAgain(t *testing.T) {
	var asked atomic.Int64
	s := rpctest.Serve(t, func(calls []rpctest.Call) any {
		if asked.Add(1) < 3 {
			return http.StatusBadGateway
		}
		return echo(calls)
	})
	n := newTestNodes(t, s.URL)
	n.Retry = retry.Policy{Delay: time.Millisecond}
	checkEchoes(t, n, 1)
	asked.Store(-1000)
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	requests, _ := echoes(1)
	n.Retry = retry.Policy{}
	began := time.Now()
	err := n.Batch(ctx, requests)
	if !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), "HTTP status 502") || time.Since(began) > 30*time.Second {
		t.Errorf("after %v: %v", time.Since(began), err)
	}
}

// An answer that cannot be read leaves nothing behind in the results.
func TestHalfReadAnswersAreForgotten(t *testing.T) {
	bad := rpctest.Serve(t, func(calls []rpctest.Call) any {
		return []any{rpctest.Result(calls[0], map[string]any{"number": "0x5", "hash": "no hash"}), rpctest.Result(calls[1], nil)}
	})
	good := rpctest.Serve(t, func(calls []rpctest.Call) any {
		return []any{rpctest.Result(calls[0], nil), rpctest.Result(calls[1], nil)}
	})
	var head *BlockHead
	r := []Request{{Method: "eth_getBlockByNumber", Params: []any{"0x5", false}, Result: &head}}
	if err := newTestNodes(t, bad.URL, good.URL).Batch(t.Context(), r); err != nil || head != nil {
		t.Errorf("head %+v, %v", head, err)
	}
}
