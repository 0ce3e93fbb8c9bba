package scale

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/swapper-go/swapper"
	"github.com/swapper-go/swapper/internal/devnet/lp"
	"github.com/swapper-go/swapper/internal/trial"
)

// connections is how many callers there are at once.
const connections = 64

// caller asks over HTTP, each of its connections one question at a time.
type caller struct {
	base string
	http *http.Client
}

func (b *bed) caller() *caller {
	t := http.DefaultTransport.(*http.Transport).Clone()
	t.MaxIdleConnsPerHost = connections
	b.tb.Cleanup(t.CloseIdleConnections)
	return &caller{b.server.URL, &http.Client{Transport: t}}
}

func (c *caller) get(path string, query url.Values) error {
	resp, err := c.http.Get(c.base + path + "?" + query.Encode())
	return drain(resp, err)
}

func (c *caller) post(path string, body []byte) error {
	resp, err := c.http.Post(c.base+path, "application/json", bytes.NewReader(body))
	return drain(resp, err)
}

func drain(resp *http.Response, err error) error {
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err == nil && resp.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s: %s", resp.Status, body)
	}
	return err
}

// load runs do b.N times from all connections and reports how often per second.
func load(b *testing.B, do func(n int) error) {
	b.Helper()
	var next atomic.Int64
	var failed atomic.Pointer[error]
	var all sync.WaitGroup
	before := processor()
	b.ResetTimer()
	for range connections {
		all.Go(func() {
			for {
				n := int(next.Add(1)) - 1
				if n >= b.N || failed.Load() != nil {
					return
				}
				if err := do(n); err != nil {
					failed.Store(&err)
					return
				}
			}
		})
	}
	all.Wait()
	b.StopTimer()
	if err := failed.Load(); err != nil {
		b.Fatal(*err)
	}
	spent := processor() - before
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "per_second")
	b.ReportMetric(float64(spent.Microseconds())/float64(b.N), "cpu_us/op")
}

// processor is the processor time of this process, in which everybody is: the
// callers, the library and the network. It hardly depends on what else the
// machine does.
func processor() time.Duration {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// many is how many swaps are asked about where each has another answer.
const many = 256

func (b *bed) createMany(typ swapper.SwapType) []string {
	b.tb.Helper()
	ids := make([]string, many)
	work := make(chan int)
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			for i := range work {
				s, err := b.client.CreateSwap(b.tb.Context(), b.request(typ))
				if err != nil {
					b.tb.Errorf("createSwap %s: %v", typ, err)
					continue
				}
				ids[i] = s.SwapID
			}
		})
	}
	for i := range ids {
		work <- i
	}
	close(work)
	all.Wait()
	return ids
}

// One swap that all ask about, and many. Raw: a swap from Bitcoin whose caller
// names no wallet.
func BenchmarkLoadWaiting(t *testing.B) {
	b := start(t)
	c := b.caller()
	for _, typ := range types {
		ids := b.createMany(typ)
		for name, of := range map[string][]string{"one": ids[:1], "many": ids} {
			t.Run(fmt.Sprintf("%s/%s", typ, name), func(t *testing.B) {
				load(t, func(n int) error { return c.get("/getSwapStatus", url.Values{"swapId": {of[n%len(of)]}}) })
			})
		}
	}
}

func BenchmarkLoadUnderWay(t *testing.B) {
	b := start(t)
	b.net.LPs[0].Misbehave(lp.Fault{NeverPay: true, NeverSettle: true})
	c := b.caller()
	for _, s := range underWays {
		id := b.underWay(s.typ, s.state)
		t.Run(string(s.typ)+"/"+s.state, func(t *testing.B) {
			load(t, func(int) error { return c.get("/getSwapStatus", url.Values{"swapId": {id}}) })
		})
	}
}

func BenchmarkLoadCreate(t *testing.B) {
	b := start(t)
	c := b.caller()
	for _, typ := range types {
		if typ == swapper.SwapSPVVaultFromBTC {
			continue // the provider's vaults serve a few hundred at a time
		}
		t.Run(string(typ), func(t *testing.B) {
			bodies := make([][]byte, t.N)
			for i := range bodies {
				in := b.request(typ)
				text := trial.Must(json.Marshal(map[string]string{"srcToken": in.SrcToken, "dstToken": in.DstToken, "amount": in.Amount.String(),
					"amountType": string(in.AmountType), "srcAddress": in.SrcAddress, "dstAddress": in.DstAddress}))(t)
				bodies[i] = text
			}
			load(t, func(n int) error { return c.post("/createSwap", bodies[n]) })
		})
	}
}

func (b *bed) addresses() map[string]string {
	return map[string]string{"bitcoin": b.net.Wallet.Address.String(), "evm": b.address(), "bolt11": b.request(swapper.SwapToBTCLN).DstAddress}
}

func BenchmarkLoadParseAddress(t *testing.B) {
	b := start(t)
	c := b.caller()
	for name, text := range b.addresses() {
		t.Run(name, func(t *testing.B) {
			load(t, func(int) error { return c.get("/parseAddress", url.Values{"address": {text}}) })
		})
	}
}

func BenchmarkLoadBalance(t *testing.B) {
	b := start(t)
	c := b.caller()
	for name, q := range map[string]url.Values{
		"bitcoin": {"wallet": {b.net.Wallet.Address.String()}, "token": {"BITCOIN-BTC"}, "targetChain": {"CITREA"}},
		"native":  {"wallet": {b.address()}, "token": {"CITREA-CBTC"}},
	} {
		t.Run(name, func(t *testing.B) { load(t, func(int) error { return c.get("/getSpendableBalance", q) }) })
	}
}
