package evmrpc

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"reflect"
	"strings"
	"time"

	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/internal/retry"
)

// Bounds of the conversation with nodes.
const (
	rpcTimeout   = 10 * time.Second        // of one HTTP request, body included
	rpcHedge     = 1500 * time.Millisecond // without an answer for so long, the next URL is asked too
	rpcBatch     = 100                     // calls in one HTTP request, less for nodes that take less
	rpcBodyLimit = 32 << 20                // bytes of an answer
	rpcRecheck   = 60 * time.Second        // a URL that failed is asked last for so long
	rpcBehind    = 2 * time.Minute         // older than this, the newest block of a node makes others be asked
)

// Nodes is a [Node] over JSON-RPC with several URLs. The first one that is up is
// asked; one that fails, is slow, or lags behind the others is asked last for
// a minute. All answers of a batch come from one URL. Safe for concurrent use.
type Nodes struct {
	chainID uint64
	now     func() time.Time
	all     []*endpoint
	Retry   retry.Policy // of batches that no URL answers; the zero value is the network's
}

// Dial connects to nothing yet.
func Dial(chainID uint64, urls []string, transport http.RoundTripper, now func() time.Time) (*Nodes, error) {
	if len(urls) == 0 {
		return nil, fault.Invalid("rpc", "is required")
	}
	n := &Nodes{chainID: chainID, now: now}
	for _, text := range urls {
		u, err := url.Parse(text)
		if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
			return nil, fault.Invalid("rpc", "must be an http or https URL") // the text may hold a key
		}
		e, err := newEndpoint(u.Host, text, transport)
		if err != nil {
			return nil, fault.Invalid("rpc", "%s: is not a usable URL", u.Host)
		}
		n.all = append(n.all, e)
	}
	return n, nil
}

// Several reports whether there is more than one URL.
func (n *Nodes) Several() bool { return len(n.all) > 1 }

// Close ends the connections.
func (n *Nodes) Close() {
	for _, e := range n.all {
		e.client.Close()
	}
}

// Batch implements [Node]. What a node answers, also an error, is final; a node
// that does not answer is passed over, and after all of them the whole is
// repeated a few times while ctx lasts.
func (n *Nodes) Batch(ctx context.Context, requests []Request) error {
	if len(requests) == 0 {
		return nil
	}
	_, err := retry.Do(ctx, n.Retry, func(ctx context.Context) (struct{}, error) {
		return struct{}{}, n.Ask(ctx, requests)
	})
	if err != nil {
		return err
	}
	return n.narrow(ctx, requests)
}

// attempt is what one URL made of a batch.
type attempt struct {
	by      *endpoint
	answers []answer
	values  []reflect.Value // decoded results; invalid where the answer is an error
	head    *BlockHead      // the newest block, if it was asked for
	err     error
}

// Ask puts a batch to one URL after the other until one answers. The next one is
// started early when an answer is long in coming.
func (n *Nodes) Ask(ctx context.Context, requests []Request) error {
	order := n.order()
	inner, cancel := context.WithCancel(ctx)
	results := make(chan attempt, len(order))
	waiting := map[*endpoint]int{} // by when they were started
	defer func() {                 // nothing outlives the call
		cancel()
		for range waiting {
			<-results
		}
	}()
	started := 0
	start := func() {
		e := order[started]
		waiting[e] = started
		started++
		go func() { results <- e.attempt(inner, n.chainID, requests) }()
	}
	start()
	hedge := time.NewTimer(rpcHedge)
	defer hedge.Stop()
	var failures []string
	var late *attempt
	for len(waiting) > 0 {
		var tick <-chan time.Time
		if started < len(order) {
			tick = hedge.C
		}
		select {
		case <-tick:
			start()
			hedge.Reset(rpcHedge)
			continue
		case a := <-results:
			place := waiting[a.by]
			delete(waiting, a.by)
			switch {
			case a.err == nil && !n.lags(a.head):
				a.by.note(nil, n.now())
				for e, before := range waiting {
					if before < place {
						e.note(errors.New("too slow"), n.now())
					}
				}
				n.accept(a, requests)
				return nil
			case ctx.Err() != nil:
				failures = append(failures, a.by.name+": no response in time")
				continue
			case a.err == nil:
				a.err = fmt.Errorf("is behind, at block %d", a.head.Number)
				if late == nil || a.head.Number > late.head.Number {
					late = &a
				}
			}
			a.by.note(a.err, n.now())
			failures = append(failures, a.by.name+": "+a.err.Error())
			if started < len(order) {
				start()
				hedge.Reset(rpcHedge)
			}
		}
	}
	if late != nil && ctx.Err() == nil { // no node has a newer block: the chain has stalled, or the clock is ahead
		n.accept(*late, requests)
		return nil
	}
	return fault.New(fault.Upstream, "no node of the chain is responding (%s)", strings.Join(failures, "; "))
}

// lags reports whether a node's newest block is so old that another node may know
// a newer one.
func (n *Nodes) lags(head *BlockHead) bool {
	return head != nil && n.Several() && time.Unix(int64(head.Timestamp), 0).Before(n.now().Add(-rpcBehind))
}

// accept hands the answers out.
func (n *Nodes) accept(a attempt, requests []Request) {
	for i := range requests {
		requests[i].Err = a.answers[i].err
		if a.values[i].IsValid() {
			reflect.ValueOf(requests[i].Result).Elem().Set(a.values[i])
		}
	}
}

// Foreign returns an error if a node has named another chain than it should serve.
func (n *Nodes) Foreign() error {
	for _, e := range n.all {
		e.mu.Lock()
		id := e.foreign
		e.mu.Unlock()
		if id != 0 {
			return fault.Invalid("rpc", "%s serves chain %d instead of %d", e.name, id, n.chainID)
		}
	}
	return nil
}

// order returns the endpoints to try: those that are up first, then the rest.
func (n *Nodes) order() []*endpoint {
	var up, down []*endpoint
	for _, e := range n.all {
		if e.isDown(n.now()) {
			down = append(down, e)
		} else {
			up = append(up, e)
		}
	}
	return append(up, down...)
}

// decode reads answers into new values of the types that the requests name, so
// that what is read in part from a bad node leaves no trace.
func (a *attempt) decode(requests []Request) error {
	a.values = make([]reflect.Value, len(requests))
	for i, r := range requests {
		if a.answers[i].err != nil {
			continue
		}
		v := reflect.New(reflect.TypeOf(r.Result).Elem())
		if err := json.Unmarshal(a.answers[i].raw, v.Interface()); err != nil {
			return fmt.Errorf("%s: response could not be decoded", r.Method)
		}
		a.values[i] = v.Elem()
		if r.Method == "eth_getBlockByNumber" && len(r.Params) > 0 && r.Params[0] == "latest" {
			var head *BlockHead
			if json.Unmarshal(a.answers[i].raw, &head) == nil && head != nil {
				a.head = head
			}
		}
	}
	return nil
}
