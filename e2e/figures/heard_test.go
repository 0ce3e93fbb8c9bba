package figures

import (
	"bufio"
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/common"

	"github.com/swapper-go/swapper"
	"github.com/swapper-go/swapper/httpapi/events"
	"github.com/swapper-go/swapper/internal/devnet/lp"
)

// What a service without swaps asks its nodes, and how long after the block with a provider's claim a reader
// of events is told of it: without subscriptions, and with them. A block comes every five seconds.
func BenchmarkHeard(t *testing.B) {
	for name, hears := range map[string]bool{"asking": false, "hearing": true} {
		t.Run(name, func(t *testing.B) {
			b := &bed{tb: t, far: new(distance), hears: hears}
			b.startNet()
			b.reach(func(url string) string { return b.far.before(t, url) })
			b.keep()
			defer b.net.EVM.Pace(5 * time.Second)()
			ctx, cancel := context.WithCancel(t.Context())
			var running sync.WaitGroup
			running.Go(func() { _ = b.client.Run(ctx) })
			defer running.Wait()
			defer cancel()
			const idle = 3 * time.Minute
			time.Sleep(20 * time.Second) // it has begun
			n := b.far.requests.Load()
			time.Sleep(idle)
			t.ReportMetric(float64(b.far.requests.Load()-n)*float64(time.Hour/idle), "idle_requests/h")

			streams := httptest.NewServer(events.New(b.client, events.Options{}))
			defer streams.Close()
			seen := b.sawBlocks(ctx, &running)
			var late []time.Duration
			for range t.N {
				late = append(late, b.claimIsTold(streams.URL, seen))
			}
			slices.Sort(late)
			t.ReportMetric(0, "ns/op")
			t.ReportMetric(float64(late[len(late)/2].Milliseconds()), "median_ms")
			t.ReportMetric(float64(late[(len(late)-1)*99/100].Milliseconds()), "99_of_100_ms")
		})
	}
}

// sawBlocks returns when each block of the chain was there.
func (b *bed) sawBlocks(ctx context.Context, running *sync.WaitGroup) func(number uint64) time.Time {
	var mu sync.Mutex
	at := map[uint64]time.Time{}
	running.Go(func() {
		last := b.net.EVM.Head().Number.Uint64()
		for tick := time.NewTicker(time.Millisecond); ctx.Err() == nil; <-tick.C {
			for head := b.net.EVM.Head().Number.Uint64(); last < head; {
				last++
				mu.Lock()
				at[last] = time.Now()
				mu.Unlock()
			}
		}
	})
	return func(number uint64) time.Time {
		mu.Lock()
		defer mu.Unlock()
		return at[number]
	}
}

// claimIsTold returns how long after the block of a provider's claim a reader of events was told of it.
func (b *bed) claimIsTold(streams string, seen func(uint64) time.Time) time.Duration {
	b.tb.Helper()
	b.net.LPs[0].Misbehave(lp.Fault{NeverPay: true})
	id := b.underWay(swapper.SwapToBTCLN, "COMMITED")
	r, err := http.Get(streams + "?swapId=" + id)
	if err != nil {
		b.tb.Fatal(err)
	}
	defer r.Body.Close()
	time.Sleep(stale)
	b.net.LPs[0].Misbehave(lp.Fault{})
	for lines := bufio.NewScanner(r.Body); lines.Scan(); {
		text, ok := strings.CutPrefix(lines.Text(), "data: ")
		var s swapper.ListSwapOutput
		if !ok || json.Unmarshal([]byte(text), &s) != nil || s.State.Name != "CLAIMED" {
			continue
		}
		told := time.Now()
		claim := ""
		for _, step := range s.Steps {
			if step.Type == "Payment" {
				claim = step.SettleTxID
			}
		}
		receipt, err := b.net.EVM.Wait(b.tb.Context(), common.HexToHash(claim))
		if err != nil {
			b.tb.Fatalf("%q: %v", claim, err)
		}
		return told.Sub(seen(receipt.BlockNumber.Uint64()))
	}
	b.tb.Fatal("the stream ended")
	return 0
}
