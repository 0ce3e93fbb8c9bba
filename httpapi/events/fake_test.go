package events_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"iter"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/swapper-go/swapper"
	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/internal/trial"
)

// source is a store of swaps that tests change.
type source struct {
	mu       sync.Mutex
	swaps    map[string]*swapper.Progress
	subs     map[int]func(swapper.Change) bool
	next     int
	asked    map[string]int // progress, by swap
	yielded  atomic.Int64   // changes
	quiet    bool           // changes are made by another process
	failing  int            // so many times progress fails
	now      time.Time
	closed   chan struct{}
	closing  sync.Once
	gate     chan struct{} // progress waits for it, if it is not nil
	pollable int           // changes that were asked for
}

func newSource() *source {
	return &source{swaps: map[string]*swapper.Progress{}, subs: map[int]func(swapper.Change) bool{}, asked: map[string]int{}, now: time.Now(), closed: make(chan struct{})}
}

// clock is the time of the last change.
func (s *source) clock() time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.now
}

// put changes a swap of alice's, or of another's with a name like bob/1.
func (s *source) put(id, state string, edit ...func(*swapper.GetSwapStatusOutput)) {
	s.mu.Lock()
	s.now = s.now.Add(time.Millisecond)
	p := &swapper.Progress{Account: account(id), Version: 1, At: swapper.Timestamp{Time: s.now.Truncate(time.Millisecond)}, Status: &swapper.GetSwapStatusOutput{}}
	if old := s.swaps[id]; old != nil {
		p.Version = old.Version + 1
	}
	p.Status.SwapID, p.Status.State.Name = id, state
	for _, f := range edit {
		f(p.Status)
	}
	s.swaps[id] = p
	subs := slices.Collect(maps.Values(s.subs))
	if s.quiet {
		subs = nil
	}
	s.mu.Unlock()
	for _, f := range subs {
		f(change(p))
	}
}

// confirm changes what is shown of a swap without a change of its record. Streams hold
// copies of a status, but share its steps: edit makes new ones.
func (s *source) confirm(id string, edit func(*swapper.GetSwapStatusOutput)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	edit(s.swaps[id].Status)
}

func account(id string) swapper.Account {
	owner, _, ok := strings.Cut(id, "/")
	if !ok {
		owner = "alice"
	}
	return swapper.Account{Chain: "CITREA", Signer: owner}
}

func change(p *swapper.Progress) swapper.Change {
	return swapper.Change{Swap: p.Status.ListSwapOutput, Account: p.Account, Version: p.Version, At: p.At}
}

func (s *source) remove(id string) {
	s.mu.Lock()
	delete(s.swaps, id)
	s.mu.Unlock()
}

func (s *source) Subscribe(ctx context.Context) iter.Seq2[swapper.Change, error] {
	return func(yield func(swapper.Change, error) bool) {
		told := make(chan swapper.Change)
		s.mu.Lock()
		n := s.next
		s.next++
		s.subs[n] = func(c swapper.Change) bool {
			select {
			case told <- c:
				return true
			case <-ctx.Done():
			case <-s.closed:
			}
			return false
		}
		s.mu.Unlock()
		defer func() {
			s.mu.Lock()
			delete(s.subs, n)
			s.mu.Unlock()
		}()
		for {
			select {
			case c := <-told:
				yield(c, nil)
			case <-ctx.Done():
				yield(swapper.Change{}, ctx.Err())
				return
			case <-s.closed:
				yield(swapper.Change{}, swapper.ErrClosed)
				return
			}
		}
	}
}

// subscribed is how often Subscribe was called.
func (s *source) subscribed() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.next
}

func (s *source) close() { s.closing.Do(func() { close(s.closed) }) }

func (s *source) Changes(_ context.Context, of swapper.Account, since time.Time) iter.Seq2[swapper.Change, error] {
	s.mu.Lock()
	s.pollable++
	var all []swapper.Change
	for _, p := range s.swaps {
		if p.Account == of && !p.At.Before(since.Truncate(time.Millisecond)) {
			all = append(all, change(p))
		}
	}
	s.mu.Unlock()
	slices.SortFunc(all, func(a, b swapper.Change) int { return a.At.Compare(b.At.Time) })
	return func(yield func(swapper.Change, error) bool) {
		for _, c := range all {
			s.yielded.Add(1)
			if !yield(c, nil) {
				return
			}
		}
	}
}

func (s *source) Accounts(signer, chainID string) ([]swapper.Account, error) {
	if signer == "nobody" {
		return nil, fault.Invalid("signer", "is not an address")
	}
	return []swapper.Account{{Chain: "CITREA", Signer: signer}}, nil
}

func (s *source) Progress(ctx context.Context, id string) (*swapper.Progress, error) {
	s.mu.Lock()
	gate := s.gate
	s.mu.Unlock()
	if gate != nil {
		select {
		case <-gate:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asked[id]++
	if s.failing > 0 {
		s.failing--
		return nil, errors.New("the store is away")
	}
	if id == "panic" {
		panic("secret detail")
	}
	p := s.swaps[id]
	if p == nil {
		return nil, fault.New(fault.NotFound, "no swap has the id %q", id)
	}
	clone, status := *p, *p.Status
	clone.Status = &status
	return &clone, nil
}

func (s *source) ListPendingSwaps(_ context.Context, in swapper.ListSwapsInput) ([]swapper.ListSwapOutput, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var all []*swapper.Progress
	for _, p := range s.swaps {
		if p.Account.Signer == in.Signer && !p.Status.IsFinished {
			all = append(all, p)
		}
	}
	slices.SortFunc(all, func(a, b *swapper.Progress) int { return b.At.Compare(a.At.Time) })
	var out []swapper.ListSwapOutput
	for _, p := range all[:min(len(all), in.Limit)] {
		out = append(out, p.Status.ListSwapOutput)
	}
	return out, nil
}

// reader is an EventSource.
type reader struct {
	t        testing.TB
	response *http.Response
	events   chan sse
	comments chan struct{}
	last     string
}

type sse struct {
	id, event, data string
	status          swapper.GetSwapStatusOutput
}

// ask asks for a stream with a header, if it has a value.
func ask(t testing.TB, url, header, value string) *http.Response {
	t.Helper()
	request := trial.Must(http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil))(t)
	if value != "" {
		request.Header.Set(header, value)
	}
	response := trial.Must(http.DefaultClient.Do(request))(t)
	t.Cleanup(func() { _ = response.Body.Close() })
	return response
}

// connect opens a stream; what is not 200 fails the test.
func connect(t testing.TB, url, last string) *reader {
	t.Helper()
	response := ask(t, url, "Last-Event-ID", last)
	if response.StatusCode != http.StatusOK || response.Header.Get("Content-Type") != "text/event-stream" {
		t.Fatalf("%s: %s %v", url, response.Status, response.Header)
	}
	return listen(t, response)
}

// listen reads a stream.
func listen(t testing.TB, response *http.Response) *reader {
	r := &reader{t: t, response: response, events: make(chan sse, 10_000), comments: make(chan struct{}, 10_000)}
	go r.read()
	return r
}

// read takes the stream apart as the specification of server-sent events says.
func (r *reader) read() {
	defer close(r.events)
	scanner := bufio.NewScanner(r.response.Body)
	scanner.Buffer(nil, 1<<20)
	var e sse
	for scanner.Scan() {
		name, value, _ := strings.Cut(scanner.Text(), ":")
		value = strings.TrimPrefix(value, " ")
		switch {
		case scanner.Text() == "":
			if e.data != "" {
				_ = json.Unmarshal([]byte(e.data), &e.status)
				r.events <- e
			}
			e = sse{}
		case name == "":
			r.comments <- struct{}{}
		case name == "id":
			e.id = value
		case name == "event":
			e.event = value
		case name == "data":
			e.data += value
		}
	}
}

// want waits for the next event, which must be of that swap in that state.
func (r *reader) want(swap, state string) sse {
	r.t.Helper()
	select {
	case e, ok := <-r.events:
		if !ok {
			r.t.Fatalf("the stream ended; want %s in %s", swap, state)
		}
		if e.event != "swap" || e.id == "" || e.status.SwapID != swap || e.status.State.Name != state {
			r.t.Fatalf("%+v, want %s in %s", e, swap, state)
		}
		r.last = e.id
		return e
	case <-time.After(time.Minute):
		r.t.Fatalf("no event; want %s in %s", swap, state)
	}
	panic("unreachable")
}

// wantEach waits for one event of each swap, in any order: only those of one swap come in
// order.
func (r *reader) wantEach(state string, swaps ...string) {
	r.t.Helper()
	for missing := slices.Clone(swaps); len(missing) > 0; {
		select {
		case e, ok := <-r.events:
			at := slices.Index(missing, e.status.SwapID)
			if !ok || at < 0 || e.status.State.Name != state {
				r.t.Fatalf("%+v %v, want one of %v in %s", e, ok, missing, state)
			}
			missing = slices.Delete(missing, at, at+1)
		case <-time.After(time.Minute):
			r.t.Fatalf("no event; want %v in %s", missing, state)
		}
	}
}

// wantReset waits for the event that says that not all since an earlier one is told.
func (r *reader) wantReset(last string) {
	r.t.Helper()
	at, _, _ := strings.Cut(last, ".")
	select {
	case e := <-r.events:
		if e.event != "reset" || e.id != "" || e.data != `{"since":`+at+`}` {
			r.t.Fatalf("%+v, want a reset since %s", e, at)
		}
	case <-time.After(time.Minute):
		r.t.Fatalf("no event; want a reset since %s", at)
	}
}

// silent fails the test if something comes.
func (r *reader) silent(how time.Duration) {
	r.t.Helper()
	select {
	case e, ok := <-r.events:
		r.t.Fatalf("%+v %v, want nothing", e, ok)
	case <-time.After(how):
	}
}

// over waits for the end of the stream.
func (r *reader) over() {
	r.t.Helper()
	for {
		select {
		case _, ok := <-r.events:
			if !ok {
				return
			}
		case <-time.After(time.Minute):
			r.t.Fatal("the stream goes on")
		}
	}
}
