package mempoolspace

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/btcsuite/btcd/wire"

	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/internal/btc/rawtx"
	"github.com/swapper-go/swapper/internal/trial"
)

const (
	tipA = "GET https://a.example/api/blocks/tip/height"
	tipB = "GET https://b.example/api/blocks/tip/height"
)

func twoURLs(t *testing.T, answers map[string][]answer) (*canned, *Client) {
	t.Helper()
	c := &canned{network: bitcoin.Mainnet, answers: answers}
	client := trial.Must(New(Options{Network: bitcoin.Mainnet, HTTP: &http.Client{Transport: c}, TipAge: -1,
		URLs: []string{"https://a.example/api/", "https://b.example/api/"}}))(t)
	return c, client
}

// TestHealth: a URL that failed is left alone for a minute, then asked first again. The log says
// for how long, in a text for people.
func TestHealth(t *testing.T) {
	for _, test := range []struct {
		name string
		bad  answer
		rest time.Duration
	}{
		{"5xx", text("oops", 500), time.Minute},
		{"unreachable", answer{NetworkError: true}, time.Minute},
		{"429", text("Too Many Requests", 429), shortestRest},
		{"429 with a wait", answer{Status: 429, header: http.Header{"Retry-After": {"90"}}}, 90 * time.Second},
		{"503 with a wait", answer{Status: 503, header: http.Header{"Retry-After": {"20"}}}, 20 * time.Second},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c, client := twoURLs(t, map[string][]answer{tipA: {test.bad, text("7")}, tipB: {text("6")}})
				var log bytes.Buffer
				client.log = slog.New(slog.NewJSONHandler(&log, nil))
				asked := func(want ...string) {
					t.Helper()
					c.log = nil
					if _, err := client.TipHeight(t.Context()); err != nil {
						t.Fatal(err)
					}
					if got := c.requests(); !slices.Equal(got, want) {
						t.Errorf("asked %q, want %q", got, want)
					}
				}
				asked(tipA, tipB)
				if want := fmt.Sprintf(`"rest":"%s"`, test.rest); !strings.Contains(log.String(), want) {
					t.Errorf("got the log %s, want %s", &log, want)
				}
				asked(tipB)
				time.Sleep(test.rest - time.Millisecond)
				asked(tipB)
				time.Sleep(2 * time.Millisecond)
				asked(tipA)
				asked(tipA)
			})
		})
	}
}

// TestSlowURL: the next URL is asked when the first one is silent, and stays the
// first choice for a minute.
func TestSlowURL(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, client := twoURLs(t, map[string][]answer{tipA: {text("7")}, tipB: {text("6")}})
		client.http.Transport = delayed{c, "a.example", 10 * time.Second}
		for i, want := range []time.Duration{1500 * time.Millisecond, 0} {
			begun := time.Now()
			height, err := client.TipHeight(t.Context())
			if took := time.Since(begun); err != nil || height != 6 || took != want {
				t.Errorf("call %d: %d, %v after %s; want it after %s", i+1, height, err, took, want)
			}
		}
		synctest.Wait()
	})
}

// TestCallersInAHurry: when callers give up before the next URL is asked, it is
// asked first the next time.
func TestCallersInAHurry(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, client := twoURLs(t, map[string][]answer{tipA: {text("7")}, tipB: {text("6")}})
		client.http.Transport = delayed{c, "a.example", time.Hour}
		hurried := func(patience time.Duration) error {
			ctx, cancel := context.WithTimeout(t.Context(), patience)
			defer cancel()
			_, err := client.TipHeight(ctx)
			synctest.Wait()
			return err
		}
		for i, patience := range []time.Duration{100 * time.Millisecond, time.Second} {
			if err := hurried(patience); !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("call %d: %v", i+1, err)
			}
		}
		if err := hurried(time.Second); err != nil {
			t.Error(err)
		}
	})
}

type delayed struct {
	http.RoundTripper
	host string
	by   time.Duration
}

func (d delayed) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.URL.Host == d.host {
		select {
		case <-time.After(d.by):
		case <-r.Context().Done():
			return nil, r.Context().Err()
		}
	}
	return d.RoundTripper.RoundTrip(r)
}

// TestRejectedByOne: nodes differ in what they relay, so one refusal is not the
// last word; when all refuse, their words are the answer.
func TestRejectedByOne(t *testing.T) {
	m := wire.NewMsgTx(2)
	m.AddTxIn(wire.NewTxIn(&bitcoin.OutPoint{Hash: bitcoin.Hash{1}}, []byte{1}, nil))
	m.AddTxOut(wire.NewTxOut(1000, []byte{0x51}))
	raw := trial.Must(rawtx.Encode(m))(t)
	id := m.TxHash().String()
	full := text(`sendrawtransaction RPC error: {"code":-26,"message":"mempool min fee not met"}`, 400)
	for _, test := range []struct {
		name   string
		second answer
		ok     bool
	}{{"the other takes it", text(id), true}, {"the other refuses too", full, false}, {"the other names another transaction", text(bitcoin.Hash{2}.String()), false}} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				_, client := twoURLs(t, map[string][]answer{
					"POST https://a.example/api/tx": {full}, "POST https://b.example/api/tx": {test.second},
					"GET https://a.example/api/tx/" + id: {text("Transaction not found", 404)}, "GET https://b.example/api/tx/" + id: {text("Transaction not found", 404)},
				})
				_, err := client.Broadcast(t.Context(), raw)
				if test.ok {
					if err != nil {
						t.Error(err)
					}
					return
				}
				if e, ok := errors.AsType[*bitcoin.RejectedError](err); !ok || e.Code != -26 {
					t.Errorf("%v", err)
				}
			})
		})
	}
}

// TestAllResting: while every URL has asked for a rest, nobody is asked.
func TestAllResting(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		limit := answer{Status: 429, header: http.Header{"Retry-After": {"300"}}}
		c, client := twoURLs(t, map[string][]answer{tipA: {limit}, tipB: {limit}})
		if _, err := client.TipHeight(t.Context()); err == nil {
			t.Fatal("no error")
		}
		if got := c.requests(); !slices.Equal(got, []string{tipA, tipB}) {
			t.Errorf("asked %q", got)
		}
	})
}

// TestOneRequestForMany: identical questions share a request, and one caller who
// gives up does not end it for the others.
func TestOneRequestForMany(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, client := twoURLs(t, map[string][]answer{tipA: {text("7")}})
		client.http.Transport = delayed{c, "a.example", time.Second}
		client.o.TipAge = time.Nanosecond // those that are asked anew share nothing
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		defer cancel()
		var wg sync.WaitGroup
		wg.Go(func() {
			if _, err := client.TipHeight(ctx); !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("impatient caller: %v", err)
			}
		})
		for range 20 {
			wg.Go(func() {
				if height, err := client.TipHeight(t.Context()); err != nil || height != 7 {
					t.Errorf("%d, %v", height, err)
				}
			})
		}
		wg.Wait()
		if got := c.requests(); len(got) != 1 {
			t.Errorf("asked %q", got)
		}
	})
}

// TestBoundedRequests: never more at once to one URL than the options say.
func TestBoundedRequests(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, client := twoURLs(t, nil)
		gauge := &gauge{RoundTripper: c}
		client.http.Transport = gauge
		ops := make([]bitcoin.OutPoint, 50)
		for i := range ops {
			ops[i].Hash[0] = byte(i)
			c.answers = map[string][]answer{}
		}
		for _, op := range ops {
			c.answers["GET https://a.example/api/tx/"+op.Hash.String()+"/outspends"] = []answer{{Body: []byte(`[{"spent":false}]`)}}
		}
		for i, r := range client.Outspends(t.Context(), ops) {
			if r.Err != nil || r.Value.State != bitcoin.Unspent {
				t.Fatalf("output %d: %+v", i, r)
			}
		}
		if gauge.most != 6 {
			t.Errorf("%d requests at once", gauge.most)
		}
	})
}

type gauge struct {
	http.RoundTripper
	mu        sync.Mutex
	now, most int
}

func (g *gauge) RoundTrip(r *http.Request) (*http.Response, error) {
	g.mu.Lock()
	g.now++
	g.most = max(g.most, g.now)
	g.mu.Unlock()
	time.Sleep(time.Millisecond)
	defer func() { g.mu.Lock(); g.now--; g.mu.Unlock() }()
	return g.RoundTripper.RoundTrip(r)
}
