package webhook_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"iter"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"testing"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"github.com/swapper-go/swapper"
	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/httpapi/webhook"
	"github.com/swapper-go/swapper/internal/trial"
	"github.com/swapper-go/swapper/storage"
)

// source is a store of swaps that tests change. Its time goes on only when a test says so.
type source struct {
	store   storage.Store // of the sender that was started last
	mu      sync.Mutex
	swaps   map[string]*swapper.Progress
	subs    map[int]func(swapper.Change) bool
	next    int
	quiet   bool // changes are made by another process
	failing int  // so many times progress fails
	time    time.Time
}

func newSource() *source {
	return &source{swaps: map[string]*swapper.Progress{}, subs: map[int]func(swapper.Change) bool{}, time: time.Now()}
}

// now is the clock of source and sender.
func (s *source) now() time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.time
}

func (s *source) advance(d time.Duration) {
	s.mu.Lock()
	s.time = s.time.Add(d)
	s.mu.Unlock()
}

func (s *source) put(id, state string) {
	now := s.now()
	s.mu.Lock()
	p := &swapper.Progress{Account: swapper.Account{Chain: "CITREA", Signer: "alice"}, Version: 1, At: swapper.Timestamp{Time: now.Truncate(time.Millisecond)}, Status: &swapper.GetSwapStatusOutput{}}
	if old := s.swaps[id]; old != nil {
		p.Version = old.Version + 1
	}
	p.Status.SwapID, p.Status.State.Name = id, state
	s.swaps[id] = p
	var subs []func(swapper.Change) bool
	for _, f := range s.subs {
		if !s.quiet {
			subs = append(subs, f)
		}
	}
	s.mu.Unlock()
	for _, f := range subs {
		f(change(p))
	}
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
		s.subs[n] = func(c swapper.Change) bool { return tell(ctx, told, c) }
		s.mu.Unlock()
		listen(ctx, told, yield)
		s.mu.Lock()
		delete(s.subs, n)
		s.mu.Unlock()
	}
}

// listen yields what a subscriber is told until ctx ends.
func listen(ctx context.Context, told <-chan swapper.Change, yield func(swapper.Change, error) bool) {
	for {
		select {
		case c := <-told:
			yield(c, nil)
		case <-ctx.Done():
			yield(swapper.Change{}, ctx.Err())
			return
		}
	}
}

// tell hands a change to a subscriber that listens until ctx ends.
func tell(ctx context.Context, to chan<- swapper.Change, c swapper.Change) bool {
	select {
	case to <- c:
		return true
	case <-ctx.Done():
		return false
	}
}

func (s *source) Changes(_ context.Context, _ swapper.Account, since time.Time) iter.Seq2[swapper.Change, error] {
	s.mu.Lock()
	var all []swapper.Change
	for _, p := range s.swaps {
		if p.At.UnixMilli() >= since.UnixMilli() {
			all = append(all, change(p))
		}
	}
	s.mu.Unlock()
	slices.SortFunc(all, func(a, b swapper.Change) int { return a.At.Compare(b.At.Time) })
	return func(yield func(swapper.Change, error) bool) {
		for _, c := range all {
			if !yield(c, nil) {
				return
			}
		}
	}
}

func (s *source) Progress(_ context.Context, id string) (*swapper.Progress, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.failing > 0 {
		s.failing--
		return nil, errors.New("the chain is away")
	}
	p := s.swaps[id]
	if p == nil {
		return nil, fault.New(fault.NotFound, "no swap has the id %q", id)
	}
	clone, status := *p, *p.Status
	clone.Status = &status
	return &clone, nil
}

// got is a request that an endpoint received and verified.
type got struct {
	id, body, state, swap string
	at                    time.Time
	refused               bool // was not answered as usual
}

// receiver is an endpoint that verifies with the scheme's own library.
type receiver struct {
	t      testing.TB
	server *httptest.Server
	hooks  []*standardwebhooks.Webhook
	all    chan got

	mu     sync.Mutex
	answer func(http.ResponseWriter, *http.Request) // nil: 204
	open   map[string]int                           // requests under way, by swap; nil: not counted
}

func receive(t testing.TB, secrets ...string) *receiver {
	t.Helper()
	r := &receiver{t: t, all: make(chan got, 10_000), open: map[string]int{}}
	for _, s := range secrets {
		h := trial.Must(standardwebhooks.NewWebhook(s))(t)
		r.hooks = append(r.hooks, h)
	}
	r.server = httptest.NewServer(r)
	t.Cleanup(r.server.Close)
	return r
}

func (r *receiver) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	body, err := io.ReadAll(req.Body)
	if err != nil {
		return
	}
	for i, h := range r.hooks {
		if err := h.Verify(body, req.Header); err != nil {
			r.t.Errorf("secret %d: %v", i, err)
		}
	}
	var message struct {
		Type      string
		Timestamp time.Time
		Data      swapper.GetSwapStatusOutput
	}
	if err := json.Unmarshal(body, &message); err != nil || message.Type != "swap.updated" || message.Timestamp.IsZero() || req.Method != http.MethodPost ||
		req.Header.Get("Content-Type") != "application/json" {
		r.t.Errorf("%s %v %s: %v", req.Method, req.Header, body, err)
	}
	swap := message.Data.SwapID
	r.mu.Lock()
	if r.open != nil {
		if r.open[swap]++; r.open[swap] > 1 {
			r.t.Errorf("two messages of %s at the same time", swap)
		}
	}
	answer := r.answer
	r.mu.Unlock()
	defer func() {
		r.mu.Lock()
		if r.open != nil {
			r.open[swap]--
		}
		r.mu.Unlock()
	}()
	r.all <- got{id: req.Header.Get("webhook-id"), body: string(body), state: message.Data.State.Name, swap: swap, at: message.Timestamp, refused: answer != nil}
	if answer != nil {
		answer(w, req)
		return
	}
	w.WriteHeader(http.StatusNoContent)
}

func (r *receiver) answers(f func(http.ResponseWriter, *http.Request)) {
	r.mu.Lock()
	r.answer = f
	r.mu.Unlock()
}

func status(code int) func(http.ResponseWriter, *http.Request) {
	return func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(code) }
}

func (r *receiver) want(swap, state string) got {
	r.t.Helper()
	select {
	case g := <-r.all:
		if g.swap != swap || g.state != state {
			r.t.Fatalf("%+v, want %s in %s", g, swap, state)
		}
		return g
	case <-time.After(time.Minute):
		r.t.Fatalf("no message; want %s in %s", swap, state)
	}
	panic("unreachable")
}

// silent gives what must not come some time.
func (r *receiver) silent(d time.Duration) {
	r.t.Helper()
	select {
	case g := <-r.all:
		r.t.Fatalf("%+v, want nothing", g)
	case <-time.After(d):
	}
}

// send runs a sender until the test ends or stop is called.
func send(t testing.TB, s *source, store storage.Store, edit func(*webhook.Options), to ...webhook.Endpoint) (sender *webhook.Sender, stop func()) {
	t.Helper()
	o := webhook.Options{Store: store, Endpoints: to, AllowLocal: true, Poll: 20 * time.Millisecond, Now: s.now}
	if edit != nil {
		edit(&o)
	}
	sender = trial.Must(webhook.New(s, o))(t)
	s.store = store
	before := s.subscribed()
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- sender.Run(ctx) }()
	var once sync.Once
	stop = func() {
		once.Do(func() {
			cancel()
			if err := <-done; !errors.Is(err, context.Canceled) {
				t.Errorf("the sender ended with %v", err)
			}
		})
	}
	t.Cleanup(stop)
	// A sender tells what changes from its first moment on.
	for end := time.Now().Add(time.Minute); ; time.Sleep(time.Millisecond) {
		begun := s.subscribed() > before
		for _, e := range to {
			_, version, err := store.Note(t.Context(), "webhook/"+e.Name)
			begun = begun && err == nil && version > 0
		}
		if begun {
			return sender, stop
		}
		if time.Now().After(end) {
			t.Fatal("the sender does not begin")
		}
	}
}

// subscribed is how many subscribers there have been.
func (s *source) subscribed() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.next
}

// waiting waits until what is stored of the messages that wait for an endpoint is as a test
// says.
func (s *source) waiting(t testing.TB, endpoint, what string, is func([]keptRecord) bool) {
	t.Helper()
	for end := time.Now().Add(time.Minute); ; time.Sleep(2 * time.Millisecond) {
		var all []keptRecord
		for e, err := range s.store.Find(t.Context(), storage.Query{Index: "webhook/due", Value: endpoint}) {
			trial.Do(t, err)
			all = append(all, keptEntry{Body: e.Body}.record(t))
		}
		if is(all) {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("%s: %+v", what, all)
		}
	}
}

// settled waits until the outcome of each attempt that has begun is stored.
func (s *source) settled(t testing.TB, endpoint string) {
	t.Helper()
	s.waiting(t, endpoint, "an attempt has no outcome", func(all []keptRecord) bool {
		return !slices.ContainsFunc(all, func(r keptRecord) bool { return r.Busy != 0 })
	})
}

// sendToShop runs a sender to one endpoint, named shop.
func sendToShop(t testing.TB) (*source, *receiver, *webhook.Sender) {
	t.Helper()
	s, secret := newSource(), webhook.NewSecret()
	r := receive(t, secret)
	sender, _ := send(t, s, new(storage.Memory), nil, r.endpoint("shop", secret))
	return s, r, sender
}

func (r *receiver) endpoint(name string, secrets ...string) webhook.Endpoint {
	return webhook.Endpoint{Name: name, URL: r.server.URL + "/hooks?token=hidden", Secrets: secrets}
}
