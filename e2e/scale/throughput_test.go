package scale

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"math/big"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"golang.org/x/sync/errgroup"

	"github.com/swapper-go/swapper"
	"github.com/swapper-go/swapper/internal/devnet/lp"
	"github.com/swapper-go/swapper/internal/trial"
)

// Figures of the reference implementation on a comparable machine and network, two
// cores shared by all parties: requests per second at 64 connections, and how long one
// createSwap takes at a time. referenceSpent is the processor time of its process for each
// createSwap, measured on this machine, see docs/benchmarks.md.
var (
	referenceWaiting  = map[swapper.SwapType]float64{swapper.SwapToBTC: 122, swapper.SwapToBTCLN: 92, swapper.SwapFromBTCLNAuto: 99, swapper.SwapSPVVaultFromBTC: 1114}
	referenceUnderWay = map[swapper.SwapType]float64{swapper.SwapToBTC: 297, swapper.SwapSPVVaultFromBTC: 177}
	referenceSpent    = map[swapper.SwapType]float64{swapper.SwapToBTC: 15.5, swapper.SwapToBTCLN: 35.4, swapper.SwapFromBTCLNAuto: 26.9, swapper.SwapSPVVaultFromBTC: 39.3} // ms
	referenceCreate   = map[swapper.SwapType]float64{swapper.SwapToBTC: 28, swapper.SwapToBTCLN: 45, swapper.SwapFromBTCLNAuto: 37, swapper.SwapSPVVaultFromBTC: 61}         // ms, p50
)

// connection is one kept connection to the service: what a caller costs shall not hide
// what the service does, so that it writes its requests itself.
type connection struct {
	net.Conn
	in *bufio.Reader
}

func dial(base string) (*connection, error) {
	c, err := net.Dial("tcp", strings.TrimPrefix(base, "http://"))
	if err != nil {
		return nil, err
	}
	return &connection{c, bufio.NewReader(c)}, nil
}

func (c *connection) ask(request []byte) error {
	if _, err := c.Write(request); err != nil {
		return err
	}
	resp, err := http.ReadResponse(c.in, nil)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		text, _ := io.ReadAll(resp.Body)
		return fmt.Errorf("%s: %s", resp.Status, text)
	}
	_, err = io.Copy(io.Discard, resp.Body)
	return err
}

func statusRequest(id string) []byte {
	return fmt.Appendf(nil, "GET /getSwapStatus?swapId=%s HTTP/1.1\r\nHost: service\r\n\r\n", url.QueryEscape(id))
}

func createRequest(tb testing.TB, in swapper.CreateSwapInput) []byte {
	body := trial.Must(json.Marshal(map[string]string{"srcToken": in.SrcToken, "dstToken": in.DstToken, "amount": in.Amount.String(),
		"amountType": string(in.AmountType), "srcAddress": in.SrcAddress, "dstAddress": in.DstAddress}))(tb)
	return fmt.Appendf(nil, "POST /createSwap HTTP/1.1\r\nHost: service\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", len(body), body)
}

// drive sends each request once, from all connections, and reports how many a second,
// the processor time of all sides for each, and that of the service alone, which it returns.
func drive(b *testing.B, base string, requests [][]byte) (perSecond, all, service float64) {
	b.Helper()
	if dir := os.Getenv(profilesEnv); dir != "" {
		profile := func(file string) {
			resp := trial.Must(http.Get(base + "/profile?" + url.Values{"file": {file}}.Encode()))(b)
			resp.Body.Close()
		}
		profile(filepath.Join(dir, strings.ReplaceAll(b.Name(), "/", "_")))
		defer profile("")
	}
	lines := make([]*connection, connections)
	for i := range lines {
		c := trial.Must(dial(base))(b)
		defer c.Close()
		lines[i] = c
	}
	var next atomic.Int64
	var failed atomic.Pointer[error]
	var callers sync.WaitGroup
	ours, its := processor(), spentBy(b, base)
	b.ResetTimer()
	for _, c := range lines {
		callers.Go(func() {
			for failed.Load() == nil {
				n := int(next.Add(1)) - 1
				if n >= len(requests) {
					return
				}
				if err := c.ask(requests[n]); err != nil {
					failed.Store(&err)
				}
			}
		})
	}
	callers.Wait()
	b.StopTimer()
	if err := failed.Load(); err != nil {
		b.Fatal(*err)
	}
	ours, its = processor()-ours, spentBy(b, base)-its
	n := float64(len(requests))
	perSecond, all, service = n/b.Elapsed().Seconds(), float64((ours+its).Microseconds())/n, float64(its.Microseconds())/n
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(perSecond, "per_second")
	b.ReportMetric(all, "cpu_us/op")
	b.ReportMetric(service, "service_us/op")
	return perSecond, all, service
}

// small is the request for a swap of which hundreds fit what everybody has.
func (b *bed) small(typ swapper.SwapType) swapper.CreateSwapInput {
	in := b.request(typ)
	if typ == swapper.SwapFromBTCLNAuto || typ == swapper.SwapSPVVaultFromBTC {
		in.Amount = big.NewInt(20_000)
	}
	return in
}

func (b *bed) createApart(typ swapper.SwapType) (string, error) {
	s, err := b.api.CreateSwap(b.tb.Context(), b.small(typ))
	if err != nil {
		return "", err
	}
	return s.SwapID, nil
}

// Throughput of the service as a process of its own, everybody on the processors that the
// machine has: 64 connections over 256 different swaps of each type, and createSwap, for
// which each type has a service and a network of its own: what was made before is looked at
// in the background half a minute later.
func BenchmarkThroughput(t *testing.B) {
	b := startNear(t)
	base := b.apart()
	b.net.LPs[0].Misbehave(lp.Fault{NeverPay: true, NeverSettle: true})
	statuses := func(t *testing.B, ids []string, reference float64) {
		requests := make([][]byte, t.N)
		for i := range requests {
			requests[i] = statusRequest(ids[i%len(ids)])
		}
		perSecond, _, _ := drive(t, base, requests)
		if reference > 0 {
			t.ReportMetric(perSecond/reference, "times")
		}
	}
	for _, typ := range types {
		var ids []string
		t.Run(fmt.Sprintf("waiting/%s", typ), func(t *testing.B) {
			if ids == nil {
				ids = b.manyApart(t, many, 16, func() (string, error) { return b.createApart(typ) })
			}
			statuses(t, ids, referenceWaiting[typ])
		})
	}
	for _, u := range underWays {
		var ids []string
		t.Run(fmt.Sprintf("under_way/%s", u.typ), func(t *testing.B) {
			if ids == nil {
				ids = b.manyUnderWay(t, u, manyPaid)
			}
			statuses(t, ids, referenceUnderWay[u.typ])
		})
	}
	for _, typ := range types {
		var fresh *bed
		var base string
		t.Run(fmt.Sprintf("create/%s", typ), func(one *testing.B) {
			if fresh == nil {
				fresh = startNear(t)
				base = fresh.apart()
				fresh.manyApart(one, warmUp, 4, func() (string, error) { return fresh.createApart(typ) })
			}
			requests := make([][]byte, one.N)
			for i := range requests {
				requests[i] = createRequest(one, fresh.small(typ))
			}
			_, all, service := drive(one, base, requests)
			one.ReportMetric(referenceSpent[typ]*1000/service, "times")
			one.ReportMetric(referenceSpent[typ]*1000/all, "times_all")
			one.ReportMetric(referenceCreate[typ]*1000/service, "times_p50")
		})
	}
}

// warmUp is how many swaps are made before createSwap is measured, as for the reference.
const warmUp = 30

// manyPaid is how many swaps are under way at once.
const manyPaid = 64

// manyApart makes n swaps, so many at a time.
func (b *bed) manyApart(t *testing.B, n, atOnce int, one func() (string, error)) []string {
	t.Helper()
	ids := make([]string, n)
	var next atomic.Int64
	var all errgroup.Group
	for range atOnce {
		all.Go(func() (err error) {
			for i := int(next.Add(1)) - 1; i < n && err == nil; i = int(next.Add(1)) - 1 {
				ids[i], err = one()
			}
			return err
		})
	}
	trial.Do(t, all.Wait())
	return ids
}

// manyUnderWay brings many swaps to where they wait for others.
func (b *bed) manyUnderWay(t *testing.B, u underWay, n int) []string {
	t.Helper()
	ctx := b.tb.Context()
	if u.typ == swapper.SwapSPVVaultFromBTC {
		n = 1 // the provider quotes its vault again once the newest withdrawal is in a block
	}
	var turn sync.Mutex // the transactions of one sender are signed and sent one after the other
	return b.manyApart(t, n, 16, func() (string, error) {
		id, err := b.createApart(u.typ)
		if err == nil && (u.typ == swapper.SwapToBTC || u.typ == swapper.SwapToBTCLN) {
			turn.Lock()
			var s *swapper.GetSwapStatusOutput
			if s, err = b.user.Look(ctx, id); err == nil {
				err = b.user.Do(ctx, id, s.CurrentAction)
			}
			turn.Unlock()
		}
		if err == nil {
			_, err = b.user.Finish(ctx, id, func(s *swapper.GetSwapStatusOutput) bool { return s.State.Name == u.state })
		}
		return id, err
	})
}
