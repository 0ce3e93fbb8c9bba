package events_test

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/getkin/kin-openapi/openapi3"
	gocmp "github.com/google/go-cmp/cmp"

	"github.com/swapper-go/swapper"
	"github.com/swapper-go/swapper/httpapi"
	"github.com/swapper-go/swapper/httpapi/events"
	"github.com/swapper-go/swapper/httpapi/limit"
	"github.com/swapper-go/swapper/internal/devnet/loopback"
	"github.com/swapper-go/swapper/internal/trial"
)

// serve serves streams on a socket, as they are mounted beside the operations.
func serve(t testing.TB, s *source, o events.Options, edit ...func(*http.Server)) (url string, streams *events.Streams) {
	t.Helper()
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.Now == nil {
		o.Now = s.clock
	}
	o.Poll, o.WriteTimeout = cmp.Or(o.Poll, time.Hour), cmp.Or(o.WriteTimeout, time.Hour) // neither is to happen unless a test says so
	before := s.subscribed()
	streams = events.New(s, o)
	for s.subscribed() == before { // else what a test changes at once comes with the poll
		time.Sleep(time.Millisecond)
	}
	mux := http.NewServeMux()
	httpapi.Mount(mux, "/api", nil, httpapi.Options{Operations: []httpapi.Operation{streams.Operation()}, Caller: func(r *http.Request) string { return r.Header.Get("caller") }})
	server := httptest.NewUnstartedServer(mux)
	for _, f := range edit {
		f(server.Config)
	}
	server.Start()
	t.Cleanup(server.Close)
	t.Cleanup(streams.Close) // first: the server waits for its requests
	return server.URL + "/api/subscribe?", streams
}

// serveOne is serve for a source with one swap, named one.
func serveOne(t testing.TB, o events.Options, edit ...func(*http.Server)) (s *source, url string, streams *events.Streams) {
	t.Helper()
	s = newSource()
	s.put("one", "CREATED")
	url, streams = serve(t, s, o, edit...)
	return s, url, streams
}

func finished(s *swapper.GetSwapStatusOutput) { s.IsFinished, s.IsSuccess = true, true }

func TestSwap(t *testing.T) {
	t.Parallel()
	s, url, _ := serveOne(t, events.Options{})
	r := connect(t, url+"swapId=one", "")
	first := r.want("one", "CREATED")
	s.put("two", "CREATED")
	s.put("one", "COMMITED")
	r.want("one", "COMMITED")
	s.put("one", "COMMITED") // something that nobody sees
	s.put("one", "CLAIMED", finished)
	last := r.want("one", "CLAIMED")

	// Who comes back with the newest id gets nothing until something changes, with an
	// older one how the swap stands now.
	again := connect(t, url+"swapId=one", last.id)
	again.silent(100 * time.Millisecond)
	connect(t, url+"swapId=one", first.id).want("one", "CLAIMED")
	connect(t, url+"swapId=one&lastEventId="+first.id, "").want("one", "CLAIMED")
	connect(t, url+"swapId=one&lastEventId="+first.id, last.id).silent(50 * time.Millisecond)
	connect(t, url+"swapId=one", "of another server").want("one", "CLAIMED")
	s.put("one", "REFUNDED")
	again.want("one", "REFUNDED")
	r.want("one", "REFUNDED")
}

// Another process on the same store, and this one after a restart, understands an id.
func TestResumedElsewhere(t *testing.T) {
	t.Parallel()
	s := newSource()
	s.put("one", "CREATED")
	s.put("alice/2", "CREATED")
	first, streams := serve(t, s, events.Options{})
	swap, signer := connect(t, first+"swapId=one", ""), connect(t, first+"signer=alice", "")
	swap.want("one", "CREATED")
	signer.want("one", "CREATED")
	signer.want("alice/2", "CREATED")
	streams.Close()
	swap.over()
	signer.over()
	s.put("alice/2", "CLAIMED", finished) // nobody listens; not pending any more

	second, _ := serve(t, s, events.Options{Poll: 10 * time.Millisecond})
	swap = connect(t, second+"swapId=one", swap.last)
	swap.silent(50 * time.Millisecond)
	signer = connect(t, second+"signer=alice", signer.last)
	signer.want("one", "CREATED") // within the overlap
	signer.want("alice/2", "CLAIMED")

	// What a process changes that does not tell this one comes too.
	s.quiet = true
	s.put("one", "COMMITED")
	swap.want("one", "COMMITED")
	signer.want("one", "COMMITED")
	s.put("alice/3", "CREATED")
	signer.want("alice/3", "CREATED")
	swap.silent(50 * time.Millisecond)
}

func TestStoreRestored(t *testing.T) {
	t.Parallel()
	_, url, _ := serveOne(t, events.Options{})
	connect(t, url+"swapId=one", "1795214525447.99.0123456789abcdef").want("one", "CREATED")
}

func TestSigner(t *testing.T) {
	t.Parallel()
	s := newSource()
	for i := range 5 {
		s.put(fmt.Sprint(i), "CREATED")
	}
	s.put("done", "CLAIMED", finished)
	s.put("bob/1", "CREATED")
	url, _ := serve(t, s, events.Options{MaxPending: 3})
	r := connect(t, url+"signer=alice&chainId=CITREA", "")
	for i := 2; i < 5; i++ { // the newest three, as they came
		r.want(fmt.Sprint(i), "CREATED")
	}
	s.put("bob/1", "COMMITED")
	s.put("new", "CREATED")
	r.want("new", "CREATED")
	s.put("0", "COMMITED")
	at := r.want("0", "COMMITED")
	for i := range 5 {
		s.put(fmt.Sprint(i), "CLAIMED", finished)
	}
	r.wantEach("CLAIMED", "0", "1", "2", "3", "4") // none is on its way any more
	back := connect(t, url+"signer=alice", at.id)
	back.wantReset(at.id)
	back.wantEach("CLAIMED", "2", "3", "4") // the latest three changes
}

// What is asked of the store for a reader that comes again is bounded, however long it was
// away and whatever others have done to the signer's swaps meanwhile. The reader is told, and
// goes on with what is pending.
func TestLongAway(t *testing.T) {
	t.Parallel()
	s := newSource()
	s.put("mine", "CREATED")
	now := time.Now()
	options := events.Options{MaxPending: 3, MaxAge: time.Hour, Poll: time.Hour, Now: func() time.Time { return now }}
	first, streams := serve(t, s, options)
	at := connect(t, first+"signer=alice", "").want("mine", "CREATED")
	streams.Close()

	for i := range 1000 { // quotes of a stranger, which nobody used
		s.put(fmt.Sprint("quote ", i), "QUOTE_EXPIRED", finished)
	}
	url, streams := serve(t, s, options)
	before := s.yielded.Load()
	back := connect(t, url+"signer=alice", at.id)
	back.wantReset(at.id)
	back.want("mine", "CREATED")
	streams.Close()
	if n := s.yielded.Load() - before; n > 4*3+1 {
		t.Errorf("%d changes were read for a reader that is told of 3", n)
	}

	now = now.Add(2 * time.Hour)
	late, _ := serve(t, s, options)
	before = s.yielded.Load()
	back = connect(t, late+"signer=alice", at.id)
	back.wantReset(at.id)
	back.want("mine", "CREATED")
	if n := s.yielded.Load() - before; n != 0 {
		t.Errorf("%d changes were read of what is older than an hour", n)
	}
	s.put("mine", "COMMITED")
	back.want("mine", "COMMITED")
}

// A change that comes while a stream begins is not lost.
func TestNoGapAtTheBeginning(t *testing.T) {
	t.Parallel()
	s, url, _ := serveOne(t, events.Options{})
	var all sync.WaitGroup
	for range 20 {
		all.Go(func() {
			r := connect(t, url+"swapId=one", "")
			for e := range r.events {
				if e.status.IsFinished {
					return
				}
			}
			t.Error("the end did not come")
		})
	}
	for i := range 200 {
		s.put("one", fmt.Sprint("STATE ", i))
	}
	s.put("one", "CLAIMED", finished)
	all.Wait()
}

// Confirmations are counted without a change of the record.
func TestConfirmations(t *testing.T) {
	t.Parallel()
	s := newSource()
	confirmed := func(n, eta int) func(*swapper.GetSwapStatusOutput) {
		return func(o *swapper.GetSwapStatusOutput) {
			o.Steps = []swapper.Step{{Type: "Payment", Confirmations: &swapper.Confirmations{Current: n, Target: 3, ETA: time.Duration(eta) * time.Second}}}
			o.CurrentAction = &swapper.Wait{Name: "Bitcoin confirmations"}
		}
	}
	s.put("one", "WAITING", confirmed(1, 600))
	url, _ := serve(t, s, events.Options{Poll: 20 * time.Millisecond})
	r, signer := connect(t, url+"swapId=one", ""), connect(t, url+"signer=alice", "")
	r.want("one", "WAITING")
	signer.want("one", "WAITING")
	s.confirm("one", confirmed(2, 600))
	for _, r := range []*reader{r, signer} {
		e := r.want("one", "WAITING")
		if n := e.status.Steps[0].Confirmations.Current; n != 2 {
			t.Errorf("%d confirmations", n)
		}
	}
	s.confirm("one", confirmed(2, 500)) // no news
	r.silent(100 * time.Millisecond)
	last := r.last
	s.confirm("one", confirmed(3, 500))
	r.want("one", "WAITING")
	connect(t, url+"swapId=one", last).want("one", "WAITING") // the same version, and yet news
}

func TestFailingLooks(t *testing.T) {
	t.Parallel()
	s, url, _ := serveOne(t, events.Options{Poll: 5 * time.Millisecond})
	r := connect(t, url+"swapId=one", "")
	r.want("one", "CREATED")
	signer := connect(t, url+"signer=bob", "")
	s.mu.Lock()
	s.failing = 4
	s.mu.Unlock()
	s.put("one", "CLAIMED", finished)
	r.want("one", "CLAIMED")
	s.mu.Lock()
	s.failing = 3
	s.mu.Unlock()
	s.put("bob/1", "CREATED")
	signer.want("bob/1", "CREATED")
}

// An unused quote that is deleted ends its stream.
func TestDeleted(t *testing.T) {
	t.Parallel()
	s := newSource()
	s.put("one", "CREATED", func(o *swapper.GetSwapStatusOutput) {
		o.Steps = []swapper.Step{{Confirmations: &swapper.Confirmations{Target: 1}}}
	})
	url, _ := serve(t, s, events.Options{Poll: 10 * time.Millisecond})
	r := connect(t, url+"swapId=one", "")
	r.want("one", "CREATED")
	s.remove("one")
	r.over()
}

func TestRefusals(t *testing.T) {
	t.Parallel()
	_, url, _ := serveOne(t, events.Options{})
	for _, tt := range []struct {
		method, query string
		status        int
		code, field   string
	}{
		{"GET", "", 400, "invalid_input", "swapId"},
		{"GET", "swapId=", 400, "invalid_input", "swapId"},
		{"GET", "swapId=one&signer=alice", 400, "invalid_input", "signer"},
		{"GET", "swapId=one&chainId=CITREA", 400, "invalid_input", "chainId"},
		{"GET", "swapId=one&swapId=two", 400, "invalid_input", "swapId"},
		{"GET", "swapId=one&swapid=two", 400, "invalid_input", "swapid"},
		{"GET", "swapId=%zz", 400, "invalid_input", "query"},
		{"GET", "swapId=" + strings.Repeat("a", 33<<10), 414, "invalid_input", "query"},
		{"GET", "swapId=" + strings.Repeat("a", 20<<10), 400, "invalid_input", "swapId"},
		{"GET", "swapId=two", 404, "not_found", ""},
		{"GET", "swapId=panic", 500, "internal", ""},
		{"GET", "signer=nobody", 400, "invalid_input", "signer"},
		{"POST", "swapId=one", 405, "unsupported", "method"},
		{"HEAD", "swapId=one", 405, "", ""},
	} {
		request := trial.Must(http.NewRequest(tt.method, url+tt.query, nil))(t)
		response := trial.Must(http.DefaultClient.Do(request))(t)
		body, _ := io.ReadAll(response.Body)
		response.Body.Close()
		var e struct{ Error, Code, Field string }
		if tt.method != "HEAD" {
			if err := json.Unmarshal(body, &e); err != nil {
				t.Errorf("%.60s: %q", tt.query, body)
			}
		}
		if response.StatusCode != tt.status || e.Code != tt.code || e.Field != tt.field || strings.Contains(string(body), "secret") {
			t.Errorf("%s %.60s: %d %s", tt.method, tt.query, response.StatusCode, body)
		}
	}
}

// One line takes its share of the streams, by whatever addresses, and none of those of
// callers who are known.
func TestStreamsOfALine(t *testing.T) {
	t.Parallel()
	_, url, _ := serveOne(t, events.Options{MaxStreams: 12, MaxPerCaller: 2, Sender: func(r *http.Request) limit.Sender {
		if name := r.Header.Get("caller"); name != "" {
			return limit.Named("backend", name)
		}
		return limit.Line("public", netip.MustParseAddr(r.Header.Get("address")))
	}})
	open := func(header, value string) (n int) {
		for i := range 20 {
			response := ask(t, url+"swapId=one", header, strings.Replace(value, "#", fmt.Sprintf("%x", i), 1))
			if response.StatusCode == http.StatusOK {
				n++
			} else if response.StatusCode != http.StatusTooManyRequests || response.Header.Get("Retry-After") == "" {
				t.Errorf("%s: %s", value, response.Status)
			}
		}
		return n
	}
	for _, tt := range []struct {
		header, value string
		want          int
	}{
		{"address", "2001:db8::#", 2}, {"address", "2001:db8:0:#::1", 0}, {"address", "2001:db8:0:#00::1", 6}, {"address", "203.0.113.9", 2}, {"address", "203.0.113.10", 2},
		{"address", "203.0.113.11", 0}, // the crowd has all its places
		{"caller", "backend", 2}, {"caller", "another", 2},
	} {
		if n := open(tt.header, tt.value); n != tt.want {
			t.Errorf("%s: %d streams, want %d", tt.value, n, tt.want)
		}
	}
}

func TestTooManyStreams(t *testing.T) {
	t.Parallel()
	_, url, _ := serveOne(t, events.Options{MaxStreams: 4, MaxPerCaller: 2})
	open := func(caller string) *http.Response { return ask(t, url+"swapId=one", "caller", caller) }
	streams := []*http.Response{open("alice"), open("alice"), open("bob")}
	for _, r := range streams {
		if r.StatusCode != http.StatusOK {
			t.Fatal(r.Status)
		}
	}
	if r := open("alice"); r.StatusCode != http.StatusTooManyRequests || r.Header.Get("Retry-After") == "" {
		t.Errorf("a third of one caller: %s", r.Status)
	}
	if r := open(""); r.StatusCode != http.StatusOK {
		t.Errorf("the fourth: %s", r.Status)
	}
	if r := open("carol"); r.StatusCode != http.StatusTooManyRequests {
		t.Errorf("a fifth: %s", r.Status)
	}
	_ = streams[0].Body.Close()
	for end := time.Now().Add(time.Minute); ; time.Sleep(10 * time.Millisecond) {
		if open("alice").StatusCode == http.StatusOK {
			break
		}
		if time.Now().After(end) {
			t.Fatal("a place is not free again")
		}
	}
}

// memory serves streams on a network in memory, for virtual time.
type memory struct {
	network *loopback.Network
	client  http.Client
	address string
}

func inMemory(t *testing.T, s *source, o events.Options, server *http.Server) *memory {
	t.Helper()
	o.Logger = slog.New(slog.DiscardHandler)
	streams := events.New(s, o)
	m := &memory{network: new(loopback.Network)}
	listener := trial.Must(m.network.Listen(""))(t)
	transport := m.network.Transport()
	m.client.Transport, m.address, server.Handler = transport, listener.Addr().String(), streams
	go func() { _ = server.Serve(listener) }()
	t.Cleanup(func() {
		streams.Close()
		_ = server.Close()
		transport.CloseIdleConnections()
	})
	synctest.Wait() // it is subscribed
	return m
}

func (m *memory) connect(t *testing.T, query string) *reader {
	t.Helper()
	response := trial.Must(m.client.Get("http://" + m.address + "/?" + query))(t)
	t.Cleanup(func() { _ = response.Body.Close() })
	return listen(t, response)
}

// slow is a connection that asks for the swaps of alice, reads how a stream begins, and then only
// when told.
func (m *memory) slow(t *testing.T) io.Reader {
	t.Helper()
	conn := trial.Must(m.network.DialContext(t.Context(), "tcp", m.address))(t)
	t.Cleanup(func() { _ = conn.Close() })
	trial.Must(io.WriteString(conn, "GET /?signer=alice HTTP/1.1\r\nHost: x\r\n\r\n"))(t)
	trial.Do(t, conn.SetReadDeadline(time.Now().Add(time.Hour)))
	read := bufio.NewReader(conn)
	for {
		if line := trial.Must(read.ReadString('\n'))(t); line == "retry: 3000\n" {
			return read
		}
	}
}

// The timeouts of the server do not end a stream, and neither does silence.
func TestServerTimeouts(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newSource()
		s.put("one", "CREATED")
		const soon = 50 * time.Second
		m := inMemory(t, s, events.Options{Heartbeat: 20 * time.Second}, &http.Server{ReadTimeout: soon, WriteTimeout: soon, ReadHeaderTimeout: soon, IdleTimeout: soon})
		r := m.connect(t, "swapId=one")
		r.want("one", "CREATED")
		time.Sleep(5*time.Minute - time.Second)
		s.put("one", "CLAIMED")
		r.want("one", "CLAIMED")
		if n := len(r.comments); n != 14 {
			t.Errorf("%d heartbeats", n)
		}
	})
}

func TestLifetime(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newSource()
		s.put("one", "CREATED")
		r := inMemory(t, s, events.Options{Lifetime: 10 * time.Second}, new(http.Server)).connect(t, "swapId=one")
		r.want("one", "CREATED")
		r.over()
	})
}

// A reader that does not read is cut off, harms no other, and goes on where it was.
func TestSlowReader(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newSource()
		wide := strings.Repeat("x", 100<<10)
		big := func(o *swapper.GetSwapStatusOutput) { o.State.Description = wide }
		s.put("one", "CREATED", big)
		m := inMemory(t, s, events.Options{WriteTimeout: 10 * time.Second, Heartbeat: 5 * time.Second}, new(http.Server))
		slow := m.slow(t)
		quick := m.connect(t, "swapId=one")
		first := quick.want("one", "CREATED")
		for i := range 200 { // 20 MB
			s.put(fmt.Sprint("swap ", i%50), fmt.Sprint("STATE ", i), big)
			time.Sleep(3 * time.Millisecond)
		}
		s.put("one", "CLAIMED", big)
		quick.want("one", "CLAIMED")
		time.Sleep(time.Minute)
		got, err := io.Copy(io.Discard, slow)
		if err != nil {
			t.Errorf("the slow reader was not cut off: %v", err)
		}
		if got >= 20<<20 {
			t.Errorf("%d bytes were held for the slow reader", got)
		}
		m.connect(t, "swapId=one&lastEventId="+first.id).want("one", "CLAIMED")
	})
}

// More swaps than a reader is waited for end its stream.
func TestTooMuchBehind(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newSource()
		slow := inMemory(t, s, events.Options{Heartbeat: time.Hour, WriteTimeout: time.Minute}, new(http.Server)).slow(t)
		wide := strings.Repeat("x", 100<<10)
		for i := range 400 { // 40 MB
			s.put(fmt.Sprint("swap ", i), "CREATED", func(o *swapper.GetSwapStatusOutput) { o.State.Description = wide })
		}
		synctest.Wait() // all were looked at
		got, err := io.Copy(io.Discard, slow)
		if err != nil || got >= 400*100<<10 {
			t.Errorf("%d bytes, %v", got, err)
		}
	})
}

func TestShutdown(t *testing.T) {
	t.Parallel()
	s := newSource()
	s.put("one", "CREATED")
	var config *http.Server
	var streams *events.Streams
	url, streams := serve(t, s, events.Options{}, func(c *http.Server) { config = c })
	config.RegisterOnShutdown(streams.Close)
	r := connect(t, url+"swapId=one", "")
	r.want("one", "CREATED")
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	trial.Do(t, config.Shutdown(ctx))
	r.over()
	w := httptest.NewRecorder()
	streams.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/?swapId=one", nil))
	if w.Code != http.StatusServiceUnavailable {
		t.Errorf("after the end: %d", w.Code)
	}
}

// gone is the context of a reader who has left.
func gone(t *testing.T) context.Context {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	return ctx
}

func TestDocument(t *testing.T) {
	t.Parallel()
	url, streams := serve(t, newSource(), events.Options{})
	response := trial.Must(http.Get(strings.TrimSuffix(url, "subscribe?") + "openapi.json"))(t)
	defer response.Body.Close()
	text := trial.Must(io.ReadAll(response.Body))(t)
	doc := trial.Must(openapi3.NewLoader().LoadFromData(text))(t)
	trial.Do(t, doc.Validate(t.Context()))
	get := doc.Paths.Find("/subscribe").Get
	if get.OperationID != "subscribe" || get.Responses.Status(200).Value.Content["text/event-stream"] == nil || len(get.Parameters) != 3 {
		t.Errorf("%+v", get)
	}
	stream, _ := get.Responses.Status(200).Value.Content["text/event-stream"].Example.(string)
	_, data, _ := strings.Cut(stream, "\nevent: swap\ndata: ")
	var status, again any
	var as swapper.GetSwapStatusOutput
	if err := errors.Join(json.Unmarshal([]byte(data), &status), json.Unmarshal([]byte(data), &as)); err != nil {
		t.Fatalf("%v in the example: %s", err, stream)
	}
	if err := doc.Components.Schemas["GetSwapStatusOutput"].Value.VisitJSON(status); err != nil {
		t.Error(err)
	}
	if text, err := json.Marshal(as); err != nil || json.Unmarshal(text, &again) != nil {
		t.Error(err)
	} else if diff := gocmp.Diff(status, again); diff != "" {
		t.Errorf("the example's status is read otherwise (-example +read):\n%s", diff)
	}
	of := get.Parameters.GetByInAndName("query", "of") // whose members are the parameters: style form, exploded
	if err := of.Schema.Value.VisitJSON(of.Example); err != nil {
		t.Error(err)
	}
	for query, valid := range map[string]bool{
		"swapId=one": true, "signer=0x1": true, "signer=0x1&chainId=CITREA": true,
		"": false, "swapId=": false, "signer=": false, "chainId=CITREA": false, "swapId=one&signer=0x1": false, "swapId=one&chainId=CITREA": false,
	} {
		r := httptest.NewRequest(http.MethodGet, "/subscribe?"+query, nil)
		members := map[string]any{}
		for name, values := range r.URL.Query() {
			members[name] = values[0]
		}
		if err := of.Schema.Value.VisitJSON(members); (err == nil) != valid {
			t.Errorf("%q by the document: %v", query, err)
		}
		w := httptest.NewRecorder()
		streams.ServeHTTP(w, r.WithContext(gone(t)))
		if (w.Code == http.StatusBadRequest) == valid {
			t.Errorf("%q by the handler: %d %s", query, w.Code, w.Body)
		}
	}
}

// When the client is closed under the streams, what they know still goes out, and Close
// does not hang.
func TestSourceClosed(t *testing.T) {
	t.Parallel()
	s, url, streams := serveOne(t, events.Options{Poll: 10 * time.Millisecond})
	r := connect(t, url+"swapId=one", "")
	r.want("one", "CREATED")
	s.close()
	s.close()
	s.put("one", "CLAIMED")
	r.want("one", "CLAIMED")
	streams.Close()
	r.over()
}
