package rpctest

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"sync"
	"testing"
	"testing/synctest"
)

// Gate is a transport to a node that can be kept from answering.
type Gate struct {
	// Answer answers a call with [Result] or [Refusal].
	Answer func(Call) any
	// NoBatches makes the node refuse every request with more than one call.
	NoBatches bool

	mu       sync.Mutex
	closed   chan struct{} // nil: it is open
	requests [][]Call
}

// Together takes every place of the node, of which there are so many, has callers ask
// beside that, opens the gate once all wait, and returns the calls of each HTTP request
// of the callers. It runs in a bubble of package synctest.
func (g *Gate) Together(t *testing.T, places int, take func(i int) error, callers int, ask func(i int) error) [][]Call {
	t.Helper()
	g.mu.Lock()
	g.closed = make(chan struct{})
	before := len(g.requests)
	g.mu.Unlock()
	var all sync.WaitGroup
	run := func(n int, f func(int) error) {
		for i := range n {
			all.Go(func() {
				if err := f(i); err != nil {
					t.Errorf("%d of %d: %v", i, n, err)
				}
			})
		}
		synctest.Wait()
	}
	run(places, take)
	run(callers, ask)
	close(g.closed)
	all.Wait()
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.requests[before+places:]
}

// RoundTrip implements [http.RoundTripper].
func (g *Gate) RoundTrip(r *http.Request) (*http.Response, error) {
	raw, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	calls := make([]Call, 1)
	single := raw[0] != '['
	if single {
		err = json.Unmarshal(raw, &calls[0])
	} else {
		err = json.Unmarshal(raw, &calls)
	}
	if err != nil {
		return nil, err
	}
	g.mu.Lock()
	g.requests = append(g.requests, calls)
	closed := g.closed
	g.mu.Unlock()
	if closed != nil {
		select {
		case <-closed:
		case <-r.Context().Done():
			return nil, r.Context().Err()
		}
	}
	var answer any
	switch {
	case single:
		answer = g.Answer(calls[0])
	case g.NoBatches:
		answer = Refusal(Call{ID: json.RawMessage("null")}, -32600, "batch requests are not supported")
	default:
		all := make([]any, len(calls))
		for i, c := range calls {
			all[i] = g.Answer(c)
		}
		answer = all
	}
	body, err := json.Marshal(answer)
	if err != nil {
		return nil, err
	}
	return &http.Response{StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"application/json"}},
		Body: io.NopCloser(bytes.NewReader(body)), ContentLength: int64(len(body)), Request: r}, nil
}
