package figures

import (
	"bufio"
	"context"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/swapper-go/swapper"
	"github.com/swapper-go/swapper/httpapi"
	"github.com/swapper-go/swapper/httpapi/events"
)

// BenchmarkHeard measures how long it takes from a Bitcoin block that confirms a swap's payment
// to the event at a reader of the stream of changes, with and without nodes that tell of events.
func BenchmarkHeard(t *testing.B) {
	for _, c := range []struct {
		name string
		told bool
	}{{"asking", false}, {"hearing", true}} {
		t.Run(c.name, func(t *testing.B) {
			b := start(t)
			if b.told = c.told; c.told {
				b.close()
				b.open()
			}
			ctx, cancel := context.WithCancel(t.Context())
			done := make(chan struct{})
			go func() {
				defer close(done)
				_ = b.client.Run(ctx)
			}()
			streams := events.New(b.client, events.Options{})
			mux := http.NewServeMux()
			httpapi.Mount(mux, "/api", b.client, httpapi.Options{Operations: []httpapi.Operation{streams.Operation()}})
			server := httptest.NewServer(mux)
			defer func() {
				streams.Close()
				server.Close()
				cancel()
				<-done
			}()
			var all []time.Duration
			for t.Loop() {
				id := b.underWay(swapper.SwapSPVVaultFromBTC, "BROADCASTED")
				moved := reader(t, server.URL+"/api/subscribe?swapId="+id)
				time.Sleep(3 * time.Second) // so that it is not looked at just now
				for len(moved) > 0 {
					<-moved
				}
				began := time.Now()
				if _, err := b.net.Bitcoin.Mine(1); err != nil {
					t.Fatal(err)
				}
				select {
				case at := <-moved:
					all = append(all, at.Sub(began))
				case <-time.After(2 * time.Minute):
					t.Fatal("no event within two minutes")
				}
				if _, err := b.net.Bitcoin.Mine(6); err != nil {
					t.Fatal(err)
				}
				if _, err := b.user.Finish(t.Context(), id, nil); err != nil { // its vault can be used again
					t.Fatal(err)
				}
			}
			slices.Sort(all)
			t.ReportMetric(all[len(all)/2].Seconds()*1000, "ms-median")
			t.ReportMetric(all[(len(all)-1)*99/100].Seconds()*1000, "ms-99%")
			t.ReportMetric(0, "ns/op")
		})
	}
}

// reader reads a stream, and says when events come.
func reader(t *testing.B, url string) <-chan time.Time {
	t.Helper()
	resp, err := http.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	if resp.StatusCode != http.StatusOK {
		t.Fatalf("the stream has status %d", resp.StatusCode)
	}
	moved := make(chan time.Time, 100)
	go func() {
		defer resp.Body.Close()
		lines := bufio.NewScanner(resp.Body)
		lines.Buffer(nil, 1<<20)
		for lines.Scan() {
			if strings.HasPrefix(lines.Text(), "data: ") {
				moved <- time.Now()
			}
		}
	}()
	return moved
}
