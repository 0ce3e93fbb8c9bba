package scale

import (
	"bufio"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/swapper-go/swapper/httpapi"
	"github.com/swapper-go/swapper/httpapi/events"
	"github.com/swapper-go/swapper/internal/swap"
	"github.com/swapper-go/swapper/internal/trial"
	"github.com/swapper-go/swapper/storage"
)

// BenchmarkHistory is what requests take of a service with a history of a signer that nobody
// bounds: a list, thirty at once, and streams that go on after a break.
func BenchmarkHistory(t *testing.B) {
	const swaps = 60_704
	b := start(t)
	models := b.models()
	changed := b.net.Clock.Now().UnixMilli()
	var all sync.WaitGroup
	work := make(chan int)
	for range 256 {
		all.Go(func() {
			for i := range work {
				e := likeModel(t, models[i%len(models)], i, false)
				e.Keys = []storage.Key{{Index: swap.BySigner, Value: swap.SignerValue("CITREA", b.address()), Order: changed + int64(i)},
					{Index: swap.ByChange, Order: changed + int64(i)}, {Index: swap.ByChange, Value: swap.SignerValue("CITREA", b.address()), Order: changed + int64(i)}}
				if err := b.store.Create(t.Context(), e); err != nil {
					t.Error(err)
				}
			}
		})
	}
	for i := range swaps {
		work <- i
	}
	close(work)
	all.Wait()

	streams := events.New(b.client, events.Options{Now: b.net.Clock.Now})
	defer streams.Close()
	mux := http.NewServeMux()
	httpapi.Mount(mux, "/api", b.client, httpapi.Options{Operations: []httpapi.Operation{streams.Operation()}})
	server := httptest.NewServer(mux)
	defer server.Close()
	list := func() (bytes int64) {
		answer, err := http.Get(server.URL + "/api/listSwaps?" + url.Values{"signer": {b.address()}}.Encode())
		if err != nil {
			t.Fatal(err)
		}
		defer answer.Body.Close()
		if answer.StatusCode != http.StatusOK || answer.Header.Get("Link") == "" {
			t.Fatalf("%s, %q", answer.Status, answer.Header.Get("Link"))
		}
		bytes = trial.Must(io.Copy(io.Discard, answer.Body))(t)
		return bytes
	}
	t.Run("page", func(t *testing.B) {
		before, n, size := processor(), 0, int64(0)
		for t.Loop() {
			size = list()
			n++
		}
		t.ReportMetric(float64(processor()-before)/float64(n)/1e6, "cpu_ms/op")
		t.ReportMetric(float64(size)/1e6, "MB")
	})
	t.Run("thirty", func(t *testing.B) {
		heap := func() int64 {
			var m runtime.MemStats
			runtime.ReadMemStats(&m)
			return int64(m.HeapInuse)
		}
		for t.Loop() {
			runtime.GC()
			before := heap()
			var most atomic.Int64
			done := make(chan struct{})
			var watch sync.WaitGroup
			watch.Go(func() {
				for {
					select {
					case <-done:
						return
					case <-time.After(5 * time.Millisecond):
						most.Store(max(most.Load(), heap()-before))
					}
				}
			})
			var thirty sync.WaitGroup
			for range 30 {
				thirty.Go(func() { list() })
			}
			thirty.Wait()
			close(done)
			watch.Wait()
			t.ReportMetric(float64(most.Load())/1e6, "MB_more")
		}
	})
	t.Run("since", func(t *testing.B) {
		before, n := processor(), 0
		for t.Loop() {
			answer := trial.Must(http.Get(server.URL + "/api/subscribe?signer=" + url.QueryEscape(b.address()) + fmt.Sprintf("&lastEventId=%d.1.0123456789abcdef", changed)))(t)
			for lines := bufio.NewReader(answer.Body); ; {
				line := trial.Must(lines.ReadString('\n'))(t)
				if line == "event: reset\n" {
					break
				}
			}
			answer.Body.Close()
			n++
		}
		t.ReportMetric(float64(processor()-before)/float64(n)/1e6, "cpu_ms/op")
	})
}
