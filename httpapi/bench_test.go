//go:build unix

package httpapi_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/swapper-go/swapper"
	"github.com/swapper-go/swapper/httpapi"
	"github.com/swapper-go/swapper/internal/trial"
)

const benchTarget = "/api/parseAddress?address=bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq"

// trivial answers without work, so that what is measured is the mount.
type trivial struct {
	fake
	parsed  swapper.ParseAddressOutput
	created swapper.CreateSwapOutput
	status  swapper.GetSwapStatusOutput
}

func newTrivial() *trivial {
	return &trivial{
		parsed:  swapper.ParseAddressOutput{Address: "bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq", Type: "BITCOIN"},
		created: swapper.CreateSwapOutput{SwapOutputBase: base("new"), SwapKey: "0f1e2d3c4b5a69788796a5b4c3d2e1f0"},
		status:  statuses()["sign"],
	}
}

func (s *trivial) ParseAddress(context.Context, swapper.ParseAddressInput) (*swapper.ParseAddressOutput, error) {
	return &s.parsed, nil
}

func (s *trivial) CreateSwap(context.Context, swapper.CreateSwapInput) (*swapper.CreateSwapOutput, error) {
	return &s.created, nil
}

func (s *trivial) GetSwapStatus(context.Context, swapper.GetSwapStatusInput) (*swapper.GetSwapStatusOutput, error) {
	return &s.status, nil
}

// discard is a response that nobody reads.
type discard struct {
	header http.Header
	status int
}

func (d *discard) Header() http.Header         { return d.header }
func (d *discard) Write(p []byte) (int, error) { return len(p), nil }
func (d *discard) WriteHeader(status int)      { d.status = status }

// What the handler itself costs, without net/http.
func BenchmarkHandler(b *testing.B) {
	h := httpapi.New(newTrivial(), httpapi.Options{BasePath: "/api"})
	for _, bb := range []struct{ name, method, target, body string }{
		{"parseAddress", "GET", benchTarget, ""},
		{"getSwapStatus", "GET", "/api/getSwapStatus?swapId=sign", ""},
		{"createSwap", "POST", "/api/createSwap", "{" + good + "}"},
		{"refused", "GET", "/api/parseAddress?adress=bc1", ""},
	} {
		b.Run(bb.name, func(b *testing.B) {
			r := httptest.NewRequest(bb.method, bb.target, nil)
			r.Header.Set("Content-Type", "application/json")
			w := &discard{header: http.Header{}}
			body := &readAgain{}
			b.ReportAllocs()
			for b.Loop() {
				body.Reset([]byte(bb.body))
				r.Body = body
				h.ServeHTTP(w, r)
			}
			if want := http.StatusOK; w.status != want && bb.name != "refused" {
				b.Fatalf("status %d", w.status)
			}
		})
	}
}

type readAgain struct{ bytes.Reader }

func (*readAgain) Close() error { return nil }

// parseAddress over loopback sockets: each connection sends a request when the
// answer to the one before has come. The client's work is part of the figure, so it
// is as little as possible. On a busy machine the processor time per request, both
// sides together, says more than the rate. The same with a handler that writes fixed bytes shows
// what of it is net/http.
func BenchmarkParseAddressHTTP(b *testing.B) {
	mux := http.NewServeMux()
	httpapi.Mount(mux, "/api", newTrivial(), httpapi.Options{})
	fixed := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write([]byte(`{"address":"bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq","type":"BITCOIN"}`))
	})
	for _, connections := range []int{1, 16, 64} {
		b.Run(fmt.Sprintf("mount/connections=%d", connections), func(b *testing.B) { overSockets(b, mux, connections) })
		b.Run(fmt.Sprintf("fixed/connections=%d", connections), func(b *testing.B) { overSockets(b, fixed, connections) })
	}
}

func overSockets(b *testing.B, h http.Handler, connections int) {
	server := httptest.NewServer(h)
	defer server.Close()
	conns := make([]net.Conn, connections)
	for i := range conns {
		conns[i] = trial.Must(net.Dial("tcp", server.Listener.Addr().String()))(b)
		defer conns[i].Close()
	}
	request := []byte("GET " + benchTarget + " HTTP/1.1\r\nHost: localhost\r\n\r\n")
	// All answers have the same length: nothing has to be parsed.
	if _, err := conns[0].Write(request); err != nil {
		b.Fatal(err)
	}
	answer := make([]byte, 4096)
	length, err := conns[0].Read(answer)
	if err != nil || !bytes.HasPrefix(answer, []byte("HTTP/1.1 200")) || !bytes.HasSuffix(bytes.TrimSpace(answer[:length]), []byte("}")) {
		b.Fatalf("answer %q: %v", answer[:length], err)
	}
	var left atomic.Int64
	left.Store(int64(b.N))
	before := cpuTime(b)
	b.ResetTimer()
	var wait sync.WaitGroup
	for _, conn := range conns {
		wait.Go(func() {
			answer := make([]byte, length)
			for left.Add(-1) >= 0 {
				if _, err := conn.Write(request); err != nil {
					b.Error(err)
					return
				}
				if _, err := io.ReadFull(conn, answer); err != nil {
					b.Error(err)
					return
				}
			}
		})
	}
	wait.Wait()
	b.StopTimer()
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "req/s")
	b.ReportMetric(float64((cpuTime(b)-before).Microseconds())/float64(b.N), "cpu-µs/req")
}

// cpuTime is the processor time of this process so far.
func cpuTime(b *testing.B) time.Duration {
	var u syscall.Rusage
	trial.Do(b, syscall.Getrusage(syscall.RUSAGE_SELF, &u))
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
