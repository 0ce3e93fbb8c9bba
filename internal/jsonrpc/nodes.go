package jsonrpc

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/internal/httpx"
)

// Bounds of the conversation with nodes.
const (
	requestTimeout   = 10 * time.Second // of one HTTP request, body included
	batchCalls       = 100              // calls in one HTTP request, less for nodes that take less
	parallelRequests = 5                // HTTP requests to one URL at a time
	bodyLimit        = 32 << 20         // bytes of a response
	recheck          = 60 * time.Second // a URL that failed, or that others contradict, is asked last for so long
)

// Nodes is a [Node] over JSON-RPC with several URLs. The first one that is up is
// asked; one that fails, is slow, or lags behind the others is asked last for
// a minute, and so is one that loses a contradiction. All answers of a batch come from one URL. Safe for concurrent use.
type Nodes struct {
	dialect Dialect
	now     func() time.Time
	all     []*endpoint
	Retry   httpx.RetryPolicy // of batches that no URL answers; the zero value is the network's
	Hedge   time.Duration     // without an answer for so long, the next URL is asked too
}

// Dial connects to nothing yet.
func Dial(d Dialect, urls []string, transport http.RoundTripper, now func() time.Time) (*Nodes, error) {
	if len(urls) == 0 {
		return nil, fault.Invalid("rpc", "is required")
	}
	n := &Nodes{dialect: d, now: now, Hedge: 1500 * time.Millisecond}
	for _, text := range urls {
		u, err := url.Parse(text)
		if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
			return nil, fault.Invalid("rpc", "must be an http or https URL") // the text may hold a key
		}
		n.all = append(n.all, newEndpoint(u.Host, text, transport, &n.dialect))
	}
	return n, nil
}

// Several reports whether there is more than one URL.
func (n *Nodes) Several() bool { return len(n.all) > 1 }

// Close ends the connections that nothing uses.
func (n *Nodes) Close() {
	for _, e := range n.all {
		e.client.CloseIdleConnections()
	}
}

// Batch implements [Node]. What a node answers, also an error, is final; a node
// that does not answer is passed over, and after all of them the whole is
// repeated a few times while ctx lasts.
func (n *Nodes) Batch(ctx context.Context, requests []Request) error {
	if len(requests) == 0 {
		return nil
	}
	_, err := httpx.Retry(ctx, n.Retry, func(ctx context.Context) (struct{}, error) {
		return struct{}{}, n.Ask(ctx, requests)
	})
	return err
}

// better reports whether of two answers that both leave something to be desired one
// is to be preferred.
func (a *attempt) better(than *attempt) bool {
	switch {
	case than == nil:
		return true
	case a.late != than.late:
		return than.late
	case a.unsure != than.unsure:
		return a.unsure < than.unsure
	}
	return a.height > than.height
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
	asked := slices.Clone(requests) // a slow URL's attempt still reads them while another's answers are handed out
	started := 0
	start := func() {
		e := order[started]
		waiting[e] = started
		started++
		go func() { results <- e.attempt(inner, asked) }()
	}
	start()
	slow := time.NewTimer(n.Hedge)
	defer slow.Stop()
	var failures []string
	var best *attempt // of those that another node may do better
	for len(waiting) > 0 {
		var tick <-chan time.Time
		if started < len(order) {
			tick = slow.C
		}
		select {
		case <-tick:
			start()
			slow.Reset(n.Hedge)
			continue
		case a := <-results:
			place := waiting[a.by]
			delete(waiting, a.by)
			late := a.err == nil && a.late && n.Several()
			switch {
			case a.err == nil && !late && (a.unsure == 0 || !n.Several()):
				a.by.note(nil, n.now())
				for e, before := range waiting {
					if before < place {
						e.note(errors.New("too slow"), n.now())
					}
				}
				n.accept(a, requests)
				return nil
			case a.err != nil && ctx.Err() != nil:
				failures = append(failures, a.by.name+": no response in time")
				continue
			case a.err == nil:
				if a.better(best) {
					best = &a
				}
				if late {
					a.err = fmt.Errorf("is behind, at %s %d", n.dialect.Unit, a.height)
				}
			}
			a.by.note(a.err, n.now())
			if a.err != nil {
				failures = append(failures, a.by.name+": "+a.err.Error())
			}
			if started < len(order) {
				start()
				slow.Reset(n.Hedge)
			}
		}
	}
	if best != nil && ctx.Err() == nil { // no node does better: the chain has stalled, or the clock is ahead
		n.accept(*best, requests)
		return nil
	}
	return fault.New(fault.Upstream, "no node of the chain is responding%s", fault.Hidden(" ("+strings.Join(failures, "; ")+")"))
}

// accept hands the answers out.
func (n *Nodes) accept(a attempt, requests []Request) {
	for i := range requests {
		requests[i].Err = nil
		if err := a.answers[i].err; err != nil {
			requests[i].Err = fault.New(fault.Upstream, "%w", err)
		}
		if a.values[i].IsValid() {
			reflect.ValueOf(requests[i].Result).Elem().Set(a.values[i])
		}
	}
}

// Greeting is how long the first question waits for a node. Tests of silent nodes shorten it.
var Greeting = 5 * time.Second

// Greet puts the first questions, and reports whether a node has answered them. That none does is
// written to the log alone: swaps may be in progress on the chain. An error means that a node serves
// another network, or that ctx has ended.
func (n *Nodes) Greet(ctx context.Context, requests []Request, log *slog.Logger) (answered bool, err error) {
	asking, cancel := context.WithTimeout(ctx, Greeting)
	defer cancel()
	silent := n.Ask(asking, requests)
	if ctx.Err() != nil {
		return false, context.Cause(ctx)
	}
	if foreign := n.Foreign(); foreign != nil {
		return false, foreign
	}
	if silent != nil {
		log.Warn("chain opened although its nodes are not responding", "err", silent)
	}
	return silent == nil, nil
}

// Foreign returns an error if a node has named another network than it should serve.
func (n *Nodes) Foreign() error {
	for _, e := range n.all {
		e.mu.Lock()
		says := e.foreign
		e.mu.Unlock()
		if says != "" {
			return fault.Invalid("rpc", "%sserves another network%s", fault.Hidden(e.name+" "), fault.Hidden(": it "+says))
		}
	}
	return nil
}

// order returns the endpoints to try: those that are up first, then the rest.
func (n *Nodes) order() []*endpoint {
	var up, down []*endpoint
	for _, e := range n.all {
		if e.isLast(n.now()) {
			down = append(down, e)
		} else {
			up = append(up, e)
		}
	}
	return append(up, down...)
}

// Each puts the same questions to every URL that is up, in parallel, and hands
// over the answers of each that answered. The first is waited for as long as ctx
// lasts, the others for a second and a half more. It is one round trip.
func (n *Nodes) Each(ctx context.Context, questions func() []Request, take func([]Request)) error {
	inner, cancel := context.WithCancel(ctx)
	results := make(chan attempt, len(n.all))
	waiting := 0
	defer func() { // nothing outlives the call
		cancel()
		for range waiting {
			<-results
		}
	}()
	for _, e := range n.order() {
		if waiting > 0 && e.isDown(n.now()) {
			continue
		}
		waiting++
		go func() { results <- e.attempt(inner, questions()) }()
	}
	var enough <-chan time.Time
	answered := false
	for waiting > 0 {
		select {
		case a := <-results:
			waiting--
			if ctx.Err() == nil {
				a.by.note(a.err, n.now())
			}
			if a.err != nil {
				continue
			}
			requests := questions()
			n.accept(a, requests)
			take(requests)
			if !answered {
				answered = true
				timer := time.NewTimer(n.Hedge)
				defer timer.Stop()
				enough = timer.C
			}
		case <-enough:
			return nil
		}
	}
	if !answered {
		return fault.New(fault.Upstream, "no node of the chain is responding")
	}
	return nil
}
