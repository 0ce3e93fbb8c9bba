package evmrpc

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync"
	"time"

	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/rpc"
)

// endpoint is one URL. It is believed only after it has named the right chain
// id, which is asked along with its first request, and again after a failure.
type endpoint struct {
	name   string // host, without credentials and path: they may be secret
	client *rpc.Client
	places chan struct{} // concurrent requests

	mu       sync.Mutex
	verified bool
	foreign  uint64    // the other chain that it named last; 0 if it did not
	down     time.Time // when it last failed; zero if it is up
	most     int       // calls that it takes in one request
}

// answer is what a node says to one call.
type answer struct {
	raw json.RawMessage
	err error // the node's own; final
}

func newEndpoint(name, url string, transport http.RoundTripper) (*endpoint, error) {
	client, err := rpc.DialOptions(context.Background(), url, rpc.WithHTTPClient(&http.Client{
		Transport:     limited{transport},
		CheckRedirect: func(*http.Request, []*http.Request) error { return errors.New("redirects are not followed") },
	}))
	return &endpoint{name: name, client: client, places: make(chan struct{}, ParallelCalls), most: rpcBatch}, err
}

func (e *endpoint) isDown(now time.Time) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	since := now.Sub(e.down)
	return !e.down.IsZero() && since < rpcRecheck && since > -rpcRecheck
}

func (e *endpoint) note(err error, now time.Time) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.down = time.Time{}
	if err != nil {
		e.down, e.verified, e.most = now, false, rpcBatch
	}
}

// attempt asks for a whole batch. It fails unless every call was answered by a
// node of the right chain.
func (e *endpoint) attempt(ctx context.Context, chainID uint64, requests []Request) attempt {
	a := attempt{by: e}
	e.mu.Lock()
	verified := e.verified
	e.mu.Unlock()
	calls := requests
	var id hexutil.Uint64
	if !verified {
		calls = append(append([]Request(nil), requests...), Request{Method: "eth_chainId"})
	}
	answers := make([]answer, len(calls))
	all := make([]int, len(calls))
	for i := range all {
		all[i] = i
	}
	if a.err = e.exchange(ctx, calls, all, answers); a.err != nil {
		return a
	}
	if !verified {
		said := answers[len(requests)]
		if said.err != nil || json.Unmarshal(said.raw, &id) != nil {
			a.err = errors.New("did not return its chain id")
			return a
		}
		if uint64(id) != chainID {
			e.mu.Lock()
			e.foreign = uint64(id)
			e.mu.Unlock()
			a.err = fmt.Errorf("serves chain %d instead of %d", uint64(id), chainID)
			return a
		}
		e.mu.Lock()
		e.verified, e.foreign = true, 0
		e.mu.Unlock()
	}
	a.answers = answers[:len(requests)]
	a.err = a.decode(requests)
	return a
}

// exchange carries out the calls with the given indexes, in as many requests as
// the node wants, in parallel.
func (e *endpoint) exchange(ctx context.Context, calls []Request, which []int, answers []answer) error {
	e.mu.Lock()
	most := e.most
	e.mu.Unlock()
	if len(which) <= most {
		return e.send(ctx, calls, which, answers)
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	parts := (len(which) + most - 1) / most
	errs := make(chan error, parts)
	var workers sync.WaitGroup
	next := make(chan []int)
	for range min(parts, cap(e.places)) {
		workers.Go(func() {
			for part := range next {
				err := e.send(ctx, calls, part, answers)
				errs <- err
				if err != nil {
					cancel()
				}
			}
		})
	}
	for i := range parts {
		next <- which[i*most : min((i+1)*most, len(which))]
	}
	close(next)
	workers.Wait()
	close(errs)
	for err := range errs {
		if err != nil {
			return err // the first is the cause, the others were cancelled
		}
	}
	return nil
}

// send carries out calls in one request. A node that finds them too many gets
// smaller requests from then on; what it left out is asked again.
func (e *endpoint) send(ctx context.Context, calls []Request, which []int, answers []answer) error {
	elems := make([]rpc.BatchElem, len(which))
	for n, i := range which {
		params := calls[i].Params
		if params == nil {
			params = []any{}
		}
		elems[n] = rpc.BatchElem{Method: calls[i].Method, Args: params, Result: &answers[i].raw}
	}
	err := e.request(ctx, elems)
	if err != nil && (len(which) == 1 || !tooMany(err)) {
		return Brief(err)
	}
	again := which
	if err == nil {
		again = nil
		for n, i := range which {
			switch err := elems[n].Error; {
			case err == nil:
			case leftOut(err) && len(which) > 1:
				again = append(again, i)
			case transient(elems[n].Method, err):
				return fmt.Errorf("%s: %w", elems[n].Method, Brief(err))
			default:
				answers[i].err = Brief(err)
			}
		}
	}
	if len(again) == 0 {
		return nil
	}
	e.mu.Lock()
	e.most = max(1, min(e.most, len(which)/2))
	e.mu.Unlock()
	return e.exchange(ctx, calls, again, answers)
}

// request is one HTTP request.
func (e *endpoint) request(ctx context.Context, elems []rpc.BatchElem) error {
	select {
	case e.places <- struct{}{}:
		defer func() { <-e.places }()
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	ctx, cancel := context.WithTimeout(ctx, rpcTimeout)
	defer cancel()
	if len(elems) > 1 {
		return e.client.BatchCallContext(ctx, elems)
	}
	err := e.client.CallContext(ctx, elems[0].Result, elems[0].Method, elems[0].Args...)
	if _, answered := errors.AsType[rpc.Error](err); answered || errors.Is(err, rpc.ErrNoResult) {
		elems[0].Error = err
		return nil
	}
	return err
}

// limited bounds the size of answers.
type limited struct{ http.RoundTripper }

func (l limited) RoundTrip(r *http.Request) (*http.Response, error) {
	resp, err := l.RoundTripper.RoundTrip(r)
	if err == nil {
		resp.Body = &limitedBody{resp.Body, rpcBodyLimit}
	}
	return resp, err
}

type limitedBody struct {
	io.ReadCloser
	left int64
}

func (b *limitedBody) Read(p []byte) (int, error) {
	if b.left <= 0 {
		return 0, errors.New("response is too large")
	}
	n, err := b.ReadCloser.Read(p[:min(int64(len(p)), b.left)])
	b.left -= int64(n)
	return n, err
}
