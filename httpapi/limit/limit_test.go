package limit

import (
	"fmt"
	"math"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

func TestWindows(t *testing.T) {
	now := time.UnixMilli(1_000_000)
	l := New(func() time.Time { return now })
	at := Rate{Requests: 2, Window: 10 * time.Second}
	expect := func(key string, ok bool, retry time.Duration) {
		t.Helper()
		if gotOK, got := l.Allow(key, at); gotOK != ok || got != retry {
			t.Errorf("%s: %v, %v; want %v, %v", key, gotOK, got, ok, retry)
		}
	}
	expect("a", true, 0)
	now = now.Add(4 * time.Second)
	expect("a", true, 0)
	expect("a", false, 6*time.Second)
	expect("b", true, 0)
	now = now.Add(6*time.Second - 1)
	expect("a", false, 1)
	now = now.Add(1)
	expect("a", true, 0)
	expect("a", true, 0)
	expect("a", false, 10*time.Second)
	for range 1000 {
		if ok, _ := l.Allow("c", Rate{}); !ok {
			t.Fatal("no limit has a limit")
		}
	}
	if l.Len() != 2 {
		t.Errorf("%d are counted", l.Len())
	}
}

// A flood from ever new senders with names of any length takes a bounded amount of
// memory, and what it leaves behind is forgotten.
func TestFloodIsBounded(t *testing.T) {
	now := time.Now()
	l := New(func() time.Time { return now })
	at := Rate{Requests: 1, Window: time.Minute}
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	for i := range 3 * maxBuckets {
		l.Allow(fmt.Sprint(i, strings.Repeat("x", 100)), at)
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	if took := int64(after.HeapAlloc) - int64(before.HeapAlloc); l.Len() > maxBuckets || took > 32<<20 {
		t.Errorf("%d buckets, %d bytes", l.Len(), took)
	}
	now = now.Add(2 * time.Minute)
	l.Allow("new", at)
	if l.Len() != 1 {
		t.Errorf("%d buckets are left of a window long gone", l.Len())
	}
}

// A line is one sender, whatever addresses it takes of its network, and the lines around it
// have a share that is larger, and bounded.
func TestLine(t *testing.T) {
	for in, want := range map[string][]part{
		"203.0.113.9": {{"203.0.113.9", 1}}, "::ffff:203.0.113.9": {{"203.0.113.9", 1}}, "": {{"invalid IP", 1}},
		"2001:db8::1": {{"2001:db8::/56", 1}, {"2001:db8::/48", 4}}, "2001:db8:0:ff::2%eth0": {{"2001:db8::/56", 1}, {"2001:db8::/48", 4}},
		"2001:db8:0:100::1": {{"2001:db8:0:100::/56", 1}, {"2001:db8::/48", 4}},
	} {
		a, _ := netip.ParseAddr(in)
		if got := Line("public", a); got.Crowd != "public" || !slices.Equal(got.parts, want) {
			t.Errorf("%s: %+v, want %v", in, got, want)
		}
	}
	// So many requests and so many places as one sender has are one line's, whatever it
	// does, and four times as many are its neighbours' together with it.
	const own = 5
	inside, rates, at := NewCrowds(Places{Total: 1000, Each: own}), New(nil), Rate{Requests: own, Window: time.Hour}
	try := func(crowd, form string, n int) (places, requests int) {
		for i := range n {
			s := Line(crowd, netip.MustParseAddr(fmt.Sprintf(form, i)))
			if _, err := inside.Enter(s); err == nil {
				places++
			}
			if ok, _ := rates.AllowSender(s, at, 1); ok {
				requests++
			}
		}
		return
	}
	for _, tt := range []struct {
		name, crowd, form string
		want              int
	}{
		{"addresses of a /64", "public", "2001:db8::%x", own},
		{"more networks of the /56", "public", "2001:db8:0:%02x::1", 0},
		{"more networks of the /48", "public", "2001:db8:0:%02x00::1", 3 * own},
		{"another /48", "public", "2001:db8:1::%x", own},
		{"the same line as somebody known", "backend", "2001:db8::%x", own},
	} {
		if places, requests := try(tt.crowd, tt.form, 256); places != tt.want || requests != tt.want {
			t.Errorf("%s: %d places and %d requests, want %d", tt.name, places, requests, tt.want)
		}
	}
}

// What costs more counts as more, and is possible however low the rate is.
func TestCosts(t *testing.T) {
	now := time.UnixMilli(0)
	l := New(func() time.Time { return now })
	s, at := Named("", "a"), Rate{Requests: 10, Window: time.Second}
	for i, step := range []struct {
		cost int64
		ok   bool
	}{{4, true}, {4, true}, {4, false}, {2, true}, {1, false}} {
		if ok, _ := l.AllowSender(s, at, step.cost); ok != step.ok {
			t.Errorf("step %d: %v", i, ok)
		}
	}
	if l.Left(s, at) {
		t.Error("there is something left")
	}
	now = now.Add(time.Second)
	for i, want := range []bool{true, false} {
		if ok, _ := l.AllowSender(s, at, 100); ok != want {
			t.Errorf("more than the whole rate, %d: %v", i, ok)
		}
	}
	now = now.Add(time.Second)
	for range 100 {
		if !l.Left(s, at) {
			t.Fatal("a question counts")
		}
	}
	if ok, _ := l.AllowSender(Line("", netip.MustParseAddr("2001:db8::1")), Rate{Requests: math.MaxInt64, Window: time.Hour}, math.MaxInt64); !ok {
		t.Error("the largest rate is none")
	}
}

func TestRequests(t *testing.T) {
	now := time.Now()
	h := Requests(New(func() time.Time { return now }), func(r *http.Request) (Sender, Rate) {
		return Named("", r.RemoteAddr), Rate{Requests: 1, Window: 1500 * time.Millisecond}
	}, nil)(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	ask := func() *httptest.ResponseRecorder {
		w := httptest.NewRecorder()
		h.ServeHTTP(w, httptest.NewRequest("GET", "/", nil))
		return w
	}
	if w := ask(); w.Code != 200 {
		t.Errorf("%d", w.Code)
	}
	if w := ask(); w.Code != 429 || w.Header().Get("Retry-After") != "2" || !strings.Contains(w.Body.String(), `"error":"Rate limit exceeded","code":"rate_limited","retryAfter":2`) {
		t.Errorf("%d %v %s", w.Code, w.Header(), w.Body)
	}
}

// What is in progress is bounded, for all and for each; nobody waits, and a place is
// given back whatever becomes of the request.
func TestInFlight(t *testing.T) {
	hold, entered := make(chan struct{}), make(chan struct{}, 10)
	h := InFlight(Places{Total: 3, Each: 2}, func(r *http.Request) Sender { return Named(r.Header.Get("Crowd"), r.Header.Get("From")) })(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/panic" {
			panic(http.ErrAbortHandler)
		}
		if r.URL.Path == "/hold" {
			entered <- struct{}{}
			<-hold
		}
	}))
	ask := func(from, path string) int {
		w := httptest.NewRecorder()
		r := httptest.NewRequest("GET", path, nil)
		if crowd, name, ok := strings.Cut(from, "/"); ok {
			r.Header.Set("Crowd", crowd)
			from = name
		}
		r.Header.Set("From", from)
		func() {
			defer func() { _ = recover() }()
			h.ServeHTTP(w, r)
		}()
		return w.Code
	}
	var all sync.WaitGroup
	for _, from := range []string{"a", "a"} {
		all.Go(func() { ask(from, "/hold") })
		<-entered
	}
	if got := ask("a", "/"); got != 429 {
		t.Errorf("a third of one sender: %d", got)
	}
	if got := ask("b", "/"); got != 200 {
		t.Errorf("another sender: %d", got)
	}
	all.Go(func() { ask("b", "/hold") })
	<-entered
	if got := ask("c", "/"); got != 503 {
		t.Errorf("a fourth of all: %d", got)
	}
	if got := ask("known/c", "/"); got != 200 {
		t.Errorf("one of another crowd: %d", got)
	}
	close(hold)
	all.Wait()
	for range 10 {
		ask("a", "/panic")
	}
	if got := ask("a", "/"); got != 200 {
		t.Errorf("places are lost: %d", got)
	}
}

// Several processes together allow what one would, or one request each.
func TestShare(t *testing.T) {
	for _, c := range []struct{ requests, instances, want int64 }{{100, 0, 100}, {100, 1, 100}, {100, 3, 33}, {100, 100, 1}, {100, 1000, 1}, {0, 3, 0}, {-1, 3, -1}} {
		if got := (Rate{Requests: c.requests, Window: time.Second}).Share(int(c.instances)); got != (Rate{Requests: c.want, Window: time.Second}) {
			t.Errorf("%d among %d: %d, want %d", c.requests, c.instances, got.Requests, c.want)
		}
	}
	l, at := New(nil), Rate{Requests: 6, Window: time.Hour}
	for i := range 4 {
		if ok, _ := l.Allow("a", at.Share(2)); ok != (i < 3) {
			t.Errorf("request %d of 3: %v", i+1, ok)
		}
	}
	for i := range 4 { // the other process is gone
		if ok, _ := l.Allow("a", at.Share(1)); ok != (i < 3) {
			t.Errorf("request %d of the other 3: %v", i+1, ok)
		}
	}
}
