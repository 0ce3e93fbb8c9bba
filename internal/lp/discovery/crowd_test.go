package discovery

import (
	"context"
	"fmt"
	"maps"
	"math/big"
	"net"
	"net/http"
	"runtime"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/swapper-go/swapper/internal/async"
	"github.com/swapper-go/swapper/internal/flowtest"
	"github.com/swapper-go/swapper/internal/lp"
	"github.com/swapper-go/swapper/internal/lp/lphttp"
	"github.com/swapper-go/swapper/internal/trial"
)

// crowd starts n LPs of which the last good ones answer /info and quotes; the
// others misbehave at every quote, each in its way.
func crowd(t testing.TB, n, good int) []string {
	t.Helper()
	ways := slices.Sorted(maps.Keys(flowtest.Hostile))
	var urls []string
	for i := range n {
		price := 100 + i
		urls = append(urls, flowtest.Serve(t, func(w http.ResponseWriter, r *http.Request) {
			switch {
			case r.URL.Path == "/info":
				infoHandler("good")(w, r)
			case i < n-good:
				if r.Header.Get("Content-Type") == lp.StreamType {
					_, _ = flowtest.ReadFrame(r.Body)
				}
				flowtest.Hostile[ways[i%len(ways)]](w, r)
			default:
				flowtest.ReadAll(r)
				flowtest.Send(w, fmt.Sprintf(`{"code":20000,"msg":"","data":{"amount":"%d","address":"0xA","satsPervByte":"8","networkFee":"1","swapFee":"2","totalFee":"3","total":"100",`+
					`"minRequiredExpiry":"1700000000","data":{"t":1},"prefix":"initialize","timeout":"1700000000","signature":"0x00"}}`, price))
			}
		}))
	}
	return urls
}

// counting is a transport that counts its connections.
func counting(t testing.TB) (*http.Transport, *atomic.Int64) {
	t.Helper()
	transport := lphttp.NewTransport(lphttp.TransportOptions{AllowLocal: true})
	var dialed atomic.Int64
	dial := transport.DialContext
	transport.DialContext = func(ctx context.Context, network, address string) (net.Conn, error) {
		dialed.Add(1)
		return dial(ctx, network, address)
	}
	t.Cleanup(transport.CloseIdleConnections)
	return transport, &dialed
}

func crowdRound(c *lphttp.Client, wait time.Duration) Round[lp.ToBTCQuote] {
	return Round[lp.ToBTCQuote]{
		Ask: func(ctx context.Context, x Candidate) (lp.ToBTCQuote, error) {
			return c.ToBTC(ctx, x.LP.URL, lp.ToBTCRequest{Chain: "CITREA", Amount: big.NewInt(5000), Token: x.Token, FeeRate: async.Known("1")}, lp.Early{})
		},
		Better: func(a, b lp.ToBTCQuote) bool { return a.Amount.Cmp(b.Amount) > 0 },
		Wait:   wait,
	}
}

// peak samples the heap while f runs and returns by how much it grew at most.
func peak(f func()) uint64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	before := m.HeapAlloc
	most := before
	stop, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		for {
			select {
			case <-stop:
				return
			case <-time.After(5 * time.Millisecond):
				runtime.ReadMemStats(&m)
				most = max(most, m.HeapAlloc)
			}
		}
	}()
	f()
	close(stop)
	<-done
	return most - before
}

// Ninety of a hundred LPs misbehave: the best quote of the rest comes in time,
// and memory stays small (the servers' own, in this process, included).
func TestCrowdOfLiars(t *testing.T) {
	t.Parallel()
	transport, dialed := counting(t)
	c := newClient(t, lphttp.Options{Transport: transport})
	d := NewDirectory(Setup{Client: c, Chains: clientChains(), URLs: crowd(t, 100, 10)})
	if err := d.Reload(t.Context()); err != nil || len(d.LPs()) != 100 {
		t.Fatalf("%d LPs, %v", len(d.LPs()), err)
	}
	loadedWith := dialed.Load()
	start := time.Now()
	var offer Offer[lp.ToBTCQuote]
	var err error
	grown := peak(func() {
		offer, err = Collect(t.Context(), d, Query{Service: lp.ToBTC, Chain: "CITREA", Token: "T", Amount: big.NewInt(5000)}, crowdRound(c, 0))
	})
	took := time.Since(start)
	if err != nil || offer.Quote.Amount.Int64() != 199 {
		t.Fatalf("quote %v, %v", offer.Quote.Amount, err)
	}
	t.Logf("%v, heap grew by %d kB at most, %d connections to load, %d more for the round, %d failures", took, grown>>10, loadedWith, dialed.Load()-loadedWith, len(offer.Failures))
	if took > time.Minute || grown > 256<<20 { // those that never end would fill gigabytes
		t.Errorf("took %v and %d MB", took, grown>>20)
	}
}

func BenchmarkQuoteRound(b *testing.B) {
	for _, n := range []int{1, 10, 100} {
		b.Run(fmt.Sprintf("LPs=%d", n), func(b *testing.B) {
			transport, dialed := counting(b)
			c := newClient(b, lphttp.Options{Transport: transport})
			d := NewDirectory(Setup{Client: c, Chains: clientChains(), URLs: crowd(b, n, n)})
			trial.Do(b, d.Reload(b.Context()))
			before := dialed.Load()
			b.ReportAllocs()
			for b.Loop() {
				if _, err := Collect(b.Context(), d, Query{Service: lp.ToBTC, Chain: "CITREA", Token: "T", Amount: big.NewInt(5000)}, crowdRound(c, 500*time.Millisecond)); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(dialed.Load()-before)/float64(b.N), "conns/op")
		})
	}
}

// Ninety of a hundred misbehave; the time is that of the wait for better quotes.
func BenchmarkQuoteRoundWithLiars(b *testing.B) {
	transport, dialed := counting(b)
	c := newClient(b, lphttp.Options{Transport: transport})
	d := NewDirectory(Setup{Client: c, Chains: clientChains(), URLs: crowd(b, 100, 10)})
	trial.Do(b, d.Reload(b.Context()))
	before := dialed.Load()
	var most uint64
	for b.Loop() {
		most = max(most, peak(func() {
			if _, err := Collect(b.Context(), d, Query{Service: lp.ToBTC, Chain: "CITREA", Token: "T", Amount: big.NewInt(5000)}, crowdRound(c, 500*time.Millisecond)); err != nil {
				b.Fatal(err)
			}
		}))
	}
	b.ReportMetric(float64(most)/(1<<20), "peak-MB")
	b.ReportMetric(float64(dialed.Load()-before)/float64(b.N), "conns/op")
}
