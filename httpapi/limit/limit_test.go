package limit

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"runtime"
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

func TestAddress(t *testing.T) {
	for in, want := range map[string]string{"203.0.113.9": "203.0.113.9", "::ffff:203.0.113.9": "203.0.113.9", "2001:db8::1": "2001:db8::/64", "2001:db8::2%eth0": "2001:db8::/64", "2001:db8:0:1::1": "2001:db8:0:1::/64"} {
		if got := Address(netip.MustParseAddr(in)); got != want {
			t.Errorf("%s: %s, want %s", in, got, want)
		}
	}
	if got := Address(netip.Addr{}); got == "" {
		t.Error("no address has no key")
	}
}

func TestRequests(t *testing.T) {
	now := time.Now()
	h := Requests(New(func() time.Time { return now }), func(r *http.Request) (string, Rate) {
		return r.RemoteAddr, Rate{Requests: 1, Window: 1500 * time.Millisecond}
	})(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
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
	h := InFlight(Places{Total: 3, Each: 2}, func(r *http.Request) string { return r.Header.Get("From") })(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
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
