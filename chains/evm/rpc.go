package evm

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/rpc"

	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/internal/retry"
)

// Bounds of one request to a node.
const (
	rpcTimeout   = 10 * time.Second
	rpcBatch     = 100      // calls in one HTTP request; larger batches go out side by side
	rpcBodyLimit = 32 << 20 // bytes of an answer
	rpcRecheck   = 60 * time.Second
)

// nodes is a [Node] over JSON-RPC with several URLs. The first one that is up is
// asked; one that fails is left alone for a minute while another is up. Each is
// believed only after it has named the right chain id, which is asked along with
// its first request. Safe for concurrent use.
type nodes struct {
	chainID uint64
	now     func() time.Time
	all     []*endpoint
	policy  retry.Policy
}

type endpoint struct {
	name   string // host, without credentials and path: they may be secret
	client *rpc.Client

	mu       sync.Mutex
	verified bool
	down     time.Time // when it last failed; zero if it is up
}

// newNodes connects to nothing yet.
func newNodes(chainID uint64, urls []string, transport http.RoundTripper, now func() time.Time) (*nodes, error) {
	if len(urls) == 0 {
		return nil, fault.Invalid("rpc", "no URL is given")
	}
	n := &nodes{chainID: chainID, now: now}
	for _, text := range urls {
		u, err := url.Parse(text)
		if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
			return nil, fault.Invalid("rpc", "is not an http or https URL") // the text may hold a key
		}
		client, err := rpc.DialOptions(context.Background(), text, rpc.WithHTTPClient(&http.Client{
			Transport:     limited{transport},
			CheckRedirect: func(*http.Request, []*http.Request) error { return errors.New("redirects are not followed") },
		}))
		if err != nil {
			return nil, fault.Invalid("rpc", "%s: cannot be used", u.Host)
		}
		n.all = append(n.all, &endpoint{name: u.Host, client: client})
	}
	return n, nil
}

func (n *nodes) close() {
	for _, e := range n.all {
		e.client.Close()
	}
}

// Batch implements [Node]. What a node answers, also an error, is final; a node
// that does not answer is passed over, and after all of them the whole is
// repeated a few times.
func (n *nodes) Batch(ctx context.Context, requests []Request) error {
	if len(requests) <= rpcBatch {
		return n.batch(ctx, requests)
	}
	var wait sync.WaitGroup
	errs := make([]error, (len(requests)+rpcBatch-1)/rpcBatch)
	for i := range errs {
		part := requests[i*rpcBatch : min((i+1)*rpcBatch, len(requests))]
		wait.Go(func() { errs[i] = n.batch(ctx, part) })
	}
	wait.Wait()
	return errors.Join(errs...)
}

func (n *nodes) batch(ctx context.Context, requests []Request) error {
	_, err := retry.Do(ctx, n.policy, func(ctx context.Context) (struct{}, error) {
		var failures []string
		for _, e := range n.order() {
			err := e.ask(ctx, n.chainID, requests)
			e.note(err, n.now())
			if err == nil {
				return struct{}{}, nil
			}
			if ctx.Err() != nil {
				return struct{}{}, context.Cause(ctx)
			}
			failures = append(failures, e.name+": "+err.Error())
		}
		return struct{}{}, fault.New(fault.Upstream, "no node of the chain answered (%s)", strings.Join(failures, "; "))
	})
	return err
}

// order returns the endpoints to try: those that are up first, then the rest.
func (n *nodes) order() []*endpoint {
	var up, down []*endpoint
	now := n.now()
	for _, e := range n.all {
		e.mu.Lock()
		failed := !e.down.IsZero() && now.Sub(e.down) < rpcRecheck
		e.mu.Unlock()
		if failed {
			down = append(down, e)
		} else {
			up = append(up, e)
		}
	}
	return append(up, down...)
}

func (e *endpoint) note(err error, now time.Time) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.down = time.Time{}
	if err != nil {
		e.down = now
	}
}

// ask sends one batch. It fails unless every call was answered by a node of the
// right chain.
func (e *endpoint) ask(ctx context.Context, chainID uint64, requests []Request) error {
	ctx, cancel := context.WithTimeout(ctx, rpcTimeout)
	defer cancel()
	e.mu.Lock()
	verified := e.verified
	e.mu.Unlock()

	elems := make([]rpc.BatchElem, 0, len(requests)+1)
	answers := make([]json.RawMessage, len(requests))
	for i, r := range requests {
		params := r.Params
		if params == nil {
			params = []any{}
		}
		elems = append(elems, rpc.BatchElem{Method: r.Method, Args: params, Result: &answers[i]})
	}
	var id hexutil.Uint64
	if !verified {
		elems = append(elems, rpc.BatchElem{Method: "eth_chainId", Args: []any{}, Result: &id})
	}
	if err := e.client.BatchCallContext(ctx, elems); err != nil {
		return brief(err)
	}
	if !verified {
		switch err := elems[len(requests)].Error; {
		case err != nil:
			return fmt.Errorf("does not name its chain: %w", brief(err))
		case uint64(id) != chainID:
			return fmt.Errorf("serves chain %d, not %d", id, chainID)
		}
		e.mu.Lock()
		e.verified = true
		e.mu.Unlock()
	}
	for i, elem := range elems[:len(requests)] {
		if elem.Error != nil && transient(elem.Error) {
			return fmt.Errorf("%s: %w", elem.Method, brief(elem.Error))
		}
		requests[i].Err = elem.Error
		if elem.Error != nil {
			continue
		}
		if err := json.Unmarshal(answers[i], requests[i].Result); err != nil {
			return fmt.Errorf("%s: answer cannot be read: %w", elem.Method, err)
		}
	}
	return nil
}

// transient reports whether an error in an answer is the node's trouble and not
// the answer: another node, or the same one later, may do better (protocol:
// chain-evm.md §1.4).
func transient(err error) bool {
	var coded rpc.Error
	if !errors.As(err, &coded) {
		return true
	}
	switch coded.ErrorCode() {
	case 3, -32700, -32600, -32601, -32602, -32000, -32004, -32006, -32005, -32008:
		return false // the last two ask for a smaller range of logs
	}
	return !strings.Contains(err.Error(), "already known")
}

// brief cuts what a node says, and leaves out a URL that may hold a key.
func brief(err error) error {
	var u *url.Error
	if errors.As(err, &u) {
		err = u.Err
	}
	var h rpc.HTTPError
	if errors.As(err, &h) {
		return fmt.Errorf("HTTP status %d", h.StatusCode)
	}
	if s := err.Error(); len(s) > 200 {
		return errors.New(s[:200])
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
		return 0, errors.New("answer is too large")
	}
	n, err := b.ReadCloser.Read(p[:min(int64(len(p)), b.left)])
	b.left -= int64(n)
	return n, err
}
