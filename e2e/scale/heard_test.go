package scale

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
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
			b := startFollowing(t, "", hears, 5*time.Second)
			const idle = 3 * time.Minute
			time.Sleep(20 * time.Second) // it has begun
			n := b.far.requests.Load()
			time.Sleep(idle)
			t.ReportMetric(float64(b.far.requests.Load()-n)*float64(time.Hour/idle), "idle_requests/h")

			streams := httptest.NewServer(events.New(b.client, events.Options{}))
			defer streams.Close()
			seen := b.sawBlocks()
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

// tellers is how many swaps go on at a time in BenchmarkTold.
const tellers = 2

// How long after the block in which a provider opens an escrow a reader of events is told of it, of swaps
// from Lightning of which no caller asks for the status. A block comes every second.
func BenchmarkTold(t *testing.B) {
	for name, hears := range map[string]bool{"asking": false, "hearing": true} {
		t.Run(name, func(t *testing.B) {
			b := startFollowing(t, "", hears, time.Second)
			streams := httptest.NewServer(events.New(b.client, events.Options{}))
			defer streams.Close()
			seen := b.sawBlocks()
			var mu sync.Mutex
			var late []time.Duration
			b.manyApart(t, t.N, tellers, func() (string, error) {
				made, err := b.client.CreateSwap(t.Context(), b.small(swapper.SwapFromBTCLNAuto))
				if err != nil {
					return "", err
				}
				id := made.SwapID
				s, err := b.user.Look(t.Context(), id)
				if err != nil {
					return "", err
				}
				stream, err := http.Get(streams.URL + "?swapId=" + id)
				if err != nil {
					return "", err
				}
				defer stream.Body.Close()
				if err := b.user.Do(t.Context(), id, s.CurrentAction); err != nil {
					return "", err
				}
				d := b.isTold(stream.Body, seen, "CLAIM_COMMITED", func(s swapper.Step) string { return s.InitTxID })
				mu.Lock()
				late = append(late, d)
				mu.Unlock()
				return id, nil
			})
			slices.Sort(late)
			t.ReportMetric(0, "ns/op")
			for name, part := range map[string]float64{"median_ms": 0.5, "99_of_100_ms": 0.99, "most_ms": 1} {
				t.ReportMetric(float64(late[int(part*float64(len(late)-1))].Microseconds())/1000, name)
			}
		})
	}
}

// How often a second 64 callers are told the status of 256 different swaps under way, and how many requests to
// nodes and providers that causes.
func BenchmarkStatusAsking(t *testing.B)  { statusUnderWay(t, false) }
func BenchmarkStatusHearing(t *testing.B) { statusUnderWay(t, true) }

func statusUnderWay(t *testing.B, hears bool) {
	b := startFollowing(t, "", hears, 0)
	b.net.LPs[0].Misbehave(lp.Fault{NeverPay: true})
	ids := b.manyUnderWay(t, underWay{swapper.SwapToBTCLN, "COMMITED"}, many)
	t.Cleanup(b.net.EVM.Pace(5 * time.Second))
	time.Sleep(6 * time.Second) // a block has shown that the node is heard
	c := b.caller()
	t.Run("256", func(t *testing.B) {
		before := b.far.requests.Load()
		load(t, func(n int) error { return c.get("/getSwapStatus", url.Values{"swapId": {ids[n%len(ids)]}}) })
		t.ReportMetric(0, "ns/op")
		t.ReportMetric(float64(b.far.requests.Load()-before)/t.Elapsed().Seconds(), "requests/s")
	})
}

// sawBlocks returns when each block of the chain was there.
func (b *bed) sawBlocks() func(number uint64) time.Time {
	ctx, cancel := context.WithCancel(b.tb.Context())
	var running sync.WaitGroup
	b.tb.Cleanup(func() { cancel(); running.Wait() })
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
	return b.isTold(r.Body, seen, "CLAIMED", func(s swapper.Step) string {
		if s.Type != "Payment" {
			return ""
		}
		return s.SettleTxID
	})
}

// isTold reads events until a swap is in a state, and returns how long that is after the block with the
// transaction that brought it there.
func (b *bed) isTold(stream io.Reader, seen func(uint64) time.Time, state string, tx func(swapper.Step) string) time.Duration {
	b.tb.Helper()
	for lines := bufio.NewScanner(stream); lines.Scan(); {
		text, ok := strings.CutPrefix(lines.Text(), "data: ")
		var s swapper.ListSwapOutput
		if !ok || json.Unmarshal([]byte(text), &s) != nil || s.State.Name != state {
			continue
		}
		told := time.Now()
		id := ""
		for _, step := range s.Steps {
			if of := tx(step); of != "" {
				id = of
			}
		}
		receipt, err := b.net.EVM.Wait(b.tb.Context(), common.HexToHash(id))
		if err != nil {
			b.tb.Errorf("%s by %q: %v", state, id, err)
			return 0
		}
		at := seen(receipt.BlockNumber.Uint64())
		for ; at.IsZero() && b.tb.Context().Err() == nil; at = seen(receipt.BlockNumber.Uint64()) {
			time.Sleep(time.Millisecond) // until it is noted
		}
		return told.Sub(at)
	}
	b.tb.Errorf("the stream ended before %s", state)
	return 0
}
