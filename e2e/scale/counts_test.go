//go:build unix

package scale

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/swapper-go/swapper/internal/trial"
)

// once is what must not be done twice: a call to somebody outside, by what it is about.
type once struct {
	kind, about string // "post" and the quote; "withdraw" and the service's name
	by          string // the process
	from, to    time.Time
	answered    bool // whole, as far as the counter can tell
}

// counter stands before a server and notes the calls that must not be made twice. It
// holds them up for a while, so that there is time for everything to happen meanwhile.
type counter struct {
	delay time.Duration

	mu    sync.Mutex
	calls []*once
	all   map[string]int // requests, by their path's first parts
}

// before returns the URL of a proxy that stands before a server.
func (c *counter) before(t testing.TB, base string) string {
	t.Helper()
	u := trial.Must(url.Parse(base))(t)
	proxy := httputil.NewSingleHostReverseProxy(u)
	proxy.FlushInterval = -1
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.MaxIdleConnsPerHost = 256
	proxy.Transport = transport
	proxy.ErrorHandler = func(http.ResponseWriter, *http.Request, error) { panic(http.ErrAbortHandler) }
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_ = http.NewResponseController(w).EnableFullDuplex() // requests to LPs are streamed
		call, body := c.note(r)
		defer func() { c.end(call, body) }()
		proxy.ServeHTTP(w, r)
		if call != nil && r.Context().Err() == nil {
			c.mu.Lock()
			call.answered = true
			c.mu.Unlock()
		}
	}))
	t.Cleanup(func() { server.CloseClientConnections(); server.Close(); transport.CloseIdleConnections() })
	return server.URL
}

var quoteID = regexp.MustCompile(`"quoteId"\s*:\s*"([^"]+)"`)

// note begins to note a call, if it is one of those.
func (c *counter) note(r *http.Request) (call *once, body *heard) {
	c.mu.Lock()
	if c.all == nil {
		c.all = map[string]int{}
	}
	c.all[r.URL.Path]++
	c.mu.Unlock()
	switch {
	case strings.HasSuffix(r.URL.Path, "/postQuote"):
		call, body = &once{kind: "post"}, new(heard)
		r.Body = struct {
			io.Reader
			io.Closer
		}{io.TeeReader(r.Body, body), r.Body}
	case strings.HasPrefix(r.URL.Path, "/withdraw/") && strings.HasSuffix(r.URL.Path, "/pay"):
		call = &once{kind: "withdraw", about: strings.TrimSuffix(strings.TrimPrefix(r.URL.Path, "/withdraw/"), "/pay")}
	default:
		return nil, nil
	}
	call.by, call.from = r.Header.Get(byHeader), time.Now()
	time.Sleep(c.delay)
	return call, body
}

func (c *counter) end(call *once, body *heard) {
	if call == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	call.to = time.Now()
	if body != nil {
		m := quoteID.FindSubmatch(body.bytes())
		if m == nil {
			return // the caller died before it said what about: nothing was asked
		}
		call.about = string(m[1])
	}
	c.calls = append(c.calls, call)
}

// twice returns the calls that were repeated, each with the one before.
func (c *counter) twice() (pairs [][2]*once) {
	c.mu.Lock()
	defer c.mu.Unlock()
	last := map[string]*once{}
	for _, call := range c.calls {
		key := call.kind + " " + call.about
		if before := last[key]; before != nil {
			if before.from.After(call.from) {
				before, call = call, before
			}
			pairs = append(pairs, [2]*once{before, call})
		}
		last[key] = call
	}
	return pairs
}

// call returns the last call about something.
func (c *counter) call(kind, about string) (call once, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, one := range slices.Backward(c.calls) {
		if one.kind == kind && one.about == about {
			return *one, true
		}
	}
	return once{}, false
}

func (c *counter) number(kind string) (n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, call := range c.calls {
		if call.kind == kind {
			n++
		}
	}
	return n
}

// heard is what was sent; it may still be written when the answer is there.
type heard struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (h *heard) Write(b []byte) (int, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.text.Write(b)
}

func (h *heard) bytes() []byte {
	h.mu.Lock()
	defer h.mu.Unlock()
	return bytes.Clone(h.text.Bytes())
}
