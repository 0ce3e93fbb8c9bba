package jsonrpc

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/swapper-go/swapper/internal/httpx"
)

// endpoint is one URL. It is believed only after it has named the right network,
// which is asked along with its first request, and again after a failure.
type endpoint struct {
	name    string // host, without credentials and path: they may be secret
	url     string
	http    httpx.JSON
	client  *http.Client
	dialect *Dialect
	places  chan struct{} // concurrent requests

	mu             sync.Mutex
	verified       bool
	version        int       // of the interface that it speaks, once it is verified
	foreign        string    // what it said last of the other network that it serves; "" if it did not
	down           time.Time // when it last failed; zero if it is up
	contradicted   time.Time // when other nodes last contradicted it; zero: never, or it kept its place
	most           int       // calls that it takes in one request
	waiting        []*part   // for a place, see [endpoint.together]
	contradictions uint64    // by other nodes
}

// answer is what a node says to one call.
type answer struct {
	raw json.RawMessage
	err *Error // the node's own; final
}

func newEndpoint(name, url string, transport http.RoundTripper, d *Dialect) *endpoint {
	client := &http.Client{
		Transport:     transport,
		CheckRedirect: func(*http.Request, []*http.Request) error { return errors.New("redirects are not followed") },
	}
	return &endpoint{name: name, url: url, client: client, dialect: d, places: make(chan struct{}, parallelRequests), most: batchCalls,
		http: httpx.JSON{HTTP: client, Timeout: requestTimeout, Limit: bodyLimit}}
}

func (e *endpoint) isDown(now time.Time) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return isRecent(e.down, now)
}

// isLast reports whether others are asked before it.
func (e *endpoint) isLast(now time.Time) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return isRecent(e.down, now) || isRecent(e.contradicted, now)
}

func isRecent(at, now time.Time) bool {
	since := now.Sub(at)
	return !at.IsZero() && since < recheck && since > -recheck
}

func (e *endpoint) note(err error, now time.Time) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.down = time.Time{}
	if err != nil {
		e.down, e.verified, e.most = now, false, batchCalls
	}
}

// attempt is what one URL made of a batch.
type attempt struct {
	by      *endpoint
	answers []answer
	values  []reflect.Value // decoded results; invalid where the answer is an error
	height  uint64          // the newest block that its answers tell of
	late    bool            // which is old
	unsure  int             // answers that another node may have better
	err     error
}

// attempt asks for a whole batch. It fails unless every call was answered by a
// node of the right network.
func (e *endpoint) attempt(ctx context.Context, requests []Request) (a attempt) {
	a.by = e
	defer func() { a.err = httpx.Concealed(a.err, e.url) }()
	e.mu.Lock()
	verified := e.verified
	e.mu.Unlock()
	if !verified && slices.ContainsFunc(requests, func(r Request) bool { return r.Form != nil }) {
		if _, a.err = e.ask(ctx, nil, true); a.err != nil {
			return a
		}
		verified = true
	}
	if a.answers, a.err = e.ask(ctx, requests, !verified); a.err == nil {
		a.err = a.decode(e.dialect, requests)
	}
	return a
}

// ask puts requests to a node. greet also asks what it is, which it must answer well.
func (e *endpoint) ask(ctx context.Context, requests []Request, greet bool) ([]answer, error) {
	calls := requests
	if greet {
		calls = append(slices.Clone(requests), Request{Method: e.dialect.Identity})
		if e.dialect.Version != "" {
			calls = append(calls, Request{Method: e.dialect.Version})
		}
	}
	answers := make([]answer, len(calls))
	all := make([]int, len(calls))
	for i := range all {
		all[i] = i
	}
	if err := e.exchange(ctx, calls, all, answers); err != nil {
		return nil, err
	}
	if greet {
		if err := e.identify(answers[len(requests):]); err != nil {
			return nil, err
		}
	}
	return answers[:len(requests)], nil
}

// identify takes a node for what it says it is.
func (e *endpoint) identify(greeting []answer) error {
	said := greeting[0]
	if said.err != nil {
		return fmt.Errorf("did not say which network it serves: %w", said.err)
	}
	err := e.dialect.Check(said.raw)
	e.mu.Lock()
	defer e.mu.Unlock()
	if err != nil {
		if foreign, ok := errors.AsType[*ForeignError](err); ok {
			e.foreign = foreign.Says
		}
		return err
	}
	version := 0
	if len(greeting) > 1 {
		if greeting[1].err != nil {
			return fmt.Errorf("did not say which version of the interface it speaks: %w", greeting[1].err)
		}
		if version, err = e.dialect.ReadVersion(greeting[1].raw); err != nil {
			return err
		}
	}
	e.verified, e.version, e.foreign = true, version, ""
	return nil
}

// decode reads the answers. They are handed out only when all of them are good, so
// that a part from a bad node leaves no trace.
func (a *attempt) decode(d *Dialect, requests []Request) error {
	a.values = make([]reflect.Value, len(requests))
	for i, r := range requests {
		if err := a.answers[i].err; err != nil {
			if r.Form != nil && err.Code == codeInvalidParams {
				return fmt.Errorf("%s: %w: the node may speak another version now", r.Method, err)
			}
			if d.Judge(r.Method, err) == Elsewhere {
				a.unsure++
			}
			continue
		}
		v := reflect.New(reflect.TypeOf(r.Result).Elem())
		if err := json.Unmarshal(a.answers[i].raw, v.Interface()); err != nil {
			return fmt.Errorf("%s: response could not be decoded: %w", r.Method, brief(err))
		}
		if r.Check != nil {
			if err := r.Check(v.Interface()); err != nil {
				return fmt.Errorf("%s: %w", r.Method, err)
			}
		}
		a.values[i] = v.Elem()
		if d.Head == nil {
			continue
		}
		if height, late, ok := d.Head(r, a.answers[i].raw, v.Interface()); ok {
			a.height, a.late = max(a.height, height), a.late || late
		}
	}
	return nil
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
	replies, err := e.request(ctx, calls, which)
	if err != nil && (len(which) == 1 || !tooMany(err)) {
		return brief(err)
	}
	again := which
	if err == nil {
		again = nil
		for n, i := range which {
			r := replies[n]
			switch {
			case r == nil:
				if len(which) == 1 {
					return fmt.Errorf("%s: no answer in the response", calls[i].Method)
				}
				again = append(again, i)
			case r.Error == nil && r.Result == nil:
				return fmt.Errorf("%s: response has neither a result nor an error", calls[i].Method)
			case r.Error == nil:
				answers[i].raw = r.Result
			case leftOut(r.Error) && len(which) > 1:
				again = append(again, i)
			case e.dialect.Judge(calls[i].Method, r.Error) == Trouble:
				return fmt.Errorf("%s: %w", calls[i].Method, r.Error)
			default:
				answers[i].err = r.Error
			}
		}
	}
	if len(again) == 0 {
		return nil
	}
	e.mu.Lock()
	e.most = max(1, min(e.most, smaller(err, len(which))))
	e.mu.Unlock()
	return e.exchange(ctx, calls, again, answers)
}

// request is one HTTP request, or a part of one that others share. The replies are in
// the order of which; nil where there is none.
func (e *endpoint) request(ctx context.Context, calls []Request, which []int) ([]*reply, error) {
	e.mu.Lock()
	version := e.version
	e.mu.Unlock()
	texts := make([]string, len(which))
	light := e.dialect.Light != nil
	for n, i := range which {
		params, err := json.Marshal(calls[i].params(version))
		if err != nil {
			return nil, fmt.Errorf("encode the request: %w", err)
		}
		texts[n] = fmt.Sprintf(`"method":%q,"params":%s}`, calls[i].Method, params)
		light = light && e.dialect.Light(calls[i])
	}
	if !light {
		return e.alone(ctx, texts)
	}
	replies, err := e.together(ctx, texts)
	if errors.Is(err, errAlone) {
		return e.alone(ctx, texts)
	}
	return replies, err
}

// alone sends calls in a request of their own, once there is a place for it.
func (e *endpoint) alone(ctx context.Context, texts []string) ([]*reply, error) {
	select {
	case e.places <- struct{}{}:
		defer e.leave()
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	return e.post(ctx, texts)
}

// post is one HTTP request with calls, without their beginnings.
func (e *endpoint) post(ctx context.Context, texts []string) ([]*reply, error) {
	var body []byte
	for n, text := range texts {
		body = append(body, ',')
		body = fmt.Appendf(body, `{"jsonrpc":"2.0","id":%d,%s`, n+1, text)
	}
	if body = body[1:]; len(texts) > 1 {
		body = append(append([]byte{'['}, body...), ']')
	}
	data, err := e.http.Raw(ctx, http.MethodPost, e.url, body)
	if err != nil {
		return nil, err
	}
	replies, err := parseReplies(data, len(texts))
	for _, r := range replies {
		if r != nil && r.Error != nil {
			r.Error.Text, r.Error.Data = string(httpx.Conceal([]byte(r.Error.Text), e.url)), httpx.Conceal(r.Error.Data, e.url)
		}
	}
	return replies, err
}

// parseReplies reads the body of a response to n calls with the ids 1 to n.
func parseReplies(data []byte, n int) ([]*reply, error) {
	all := make([]*reply, n)
	data = bytes.TrimSpace(data)
	single := len(data) > 0 && data[0] == '{'
	if single {
		r := new(reply)
		if err := json.Unmarshal(data, r); err != nil {
			return nil, fmt.Errorf("response is not JSON-RPC: %w", err)
		}
		if n > 1 {
			return []*reply{r}, &batchRefused{r.Error, r.Error != nil && refusesAny(strings.ToLower(r.Error.Text))}
		}
		all[0] = r // some servers leave out the id of an error
		return all, nil
	}
	var some []*reply
	if err := json.Unmarshal(data, &some); err != nil {
		return nil, fmt.Errorf("response is not JSON-RPC: %w", err)
	}
	for _, r := range some {
		if r == nil {
			continue
		}
		id, err := strconv.Atoi(string(bytes.Trim(r.ID, `"`)))
		if err != nil || id < 1 || id > n {
			continue
		}
		if all[id-1] != nil {
			return nil, errors.New("response answers a call twice")
		}
		all[id-1] = r
	}
	return all, nil
}

// batchRefused is one object in the place of the answers to a batch.
type batchRefused struct {
	said *Error
	any  bool // it speaks of batches: no smaller one would be accepted either
}

func (e *batchRefused) Error() string {
	if e.said != nil {
		return "the batch was refused: " + e.said.Text
	}
	return "the batch was refused"
}

// smaller is how many calls a request may have after one with n was refused, or answered
// in part.
func smaller(err error, n int) int {
	if refused, ok := errors.AsType[*batchRefused](err); ok && refused.any {
		return 1
	}
	return n / 2
}

// refusesAny reports whether a server speaks of batches and not of their size.
func refusesAny(text string) bool {
	return Says(text, "batch") && !Says(text, "large", "big", "size", "limit", "many", "exceed", "max", "up to", "at most")
}

// tooMany reports whether a whole request was refused because of its size, or
// because the node takes no batches.
func tooMany(err error) bool {
	if refused, ok := errors.AsType[*httpx.StatusError](err); ok {
		return refused.Status == http.StatusRequestEntityTooLarge || refused.Status == http.StatusBadRequest
	}
	_, refused := errors.AsType[*batchRefused](err)
	return refused || errors.Is(err, httpx.ErrTooLarge)
}

// codeInvalidParams says that a node does not know a form of parameters.
const codeInvalidParams = -32602

// isLeftOut reports whether a call got no answer because of those that it came with.
func isLeftOut(r *reply) bool { return r == nil || r.Error != nil && leftOut(r.Error) }

// leftOut reports whether a node answered a part of a batch only.
func leftOut(err *Error) bool {
	const responseTooLarge = -32003
	text := strings.ToLower(err.Text)
	return err.Code == responseTooLarge && Says(text, "too large", "too big") || err.Code == -32600 && Says(text, "batch")
}
