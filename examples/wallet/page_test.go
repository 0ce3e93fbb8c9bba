package main

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/swapper-go/swapper"
	"github.com/swapper-go/swapper/httpapi/events"
	"github.com/swapper-go/swapper/lnurl"
	"github.com/swapper-go/swapper/swappertest"
)

// The page's files and the local network's user answer, and nobody from another page is heard.
func TestHandler(t *testing.T) {
	n := swappertest.Start(t, swappertest.Options{})
	client, err := swapper.Open(t.Context(), n.Config())
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	streams := events.New(client, events.Options{})
	defer streams.Close()
	verifies := &verifier{done: make(chan struct{})} // is being compiled
	h, err := handler(n, client, streams, verifies)
	if err != nil {
		t.Fatal(err)
	}
	link, err := lnurl.URL(n.PayLink())
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		method, path, body, site string
		status                   int
		says                     string
	}{
		{"GET", "/", "", "", 200, "<title>Swap</title>"},
		{"GET", "/swap.js", "", "", 200, "EventSource"},
		{"GET", "/site", "", "", 200, `"chainId":"0x7a69"`},
		{"GET", "/rates", "", "", 200, `"LIGHTNING-BTC":"100000000000000"`},
		{"GET", "/local/balance?token=LIGHTNING-BTC", "", "", 200, `"rawAmount":"`},
		{"GET", "/local/balance?token=CITREA-X", "", "", 400, "has no token CITREA-X"},
		{"GET", "/api/getSupportedTokens?side=INPUT", "", "", 200, "CITREA-WBTC"},
		{"GET", "/local/user", "", "same-origin", 200, n.User.Address("CITREA")},
		{"POST", "/local/invoice", `{"sats":1000}`, "same-origin", 200, "lnbcrt10u"},
		{"POST", "/local/invoice", `{"sats":-1}`, "", 400, "must be a number of sats above 0"},
		{"POST", "/local/invoice", `sats`, "", 400, "sats"},
		{"POST", "/local/pay", `{"invoice":"` + n.Invoice(1000) + `"}`, "same-origin", 200, "{}"},
		{"POST", "/local/pay", `{"invoice":"lnbc"}`, "", 400, "invalid_input"},
		{"POST", "/local/pay", `{"invoice":"` + n.Invoice(1000) + `"}`, "cross-site", 403, "own page"},
		{"POST", "/local/sign", `{"swapId":"00"}`, "", 404, "not_found"},
		{"POST", "/local/mine", `{}`, "", 200, "{}"},
		{"GET", "/local/mine", "", "", 405, ""},
		{"GET", "/site", "", "", 200, `"verifier":"preparing"`},
		{"GET", "/verify/verify.wasm", "", "", 503, "preparing"},
		{"POST", "/nodes/CITREA/", `{"jsonrpc":"2.0","id":1,"method":"eth_chainId"}`, "", 200, `"0x7a69"`},
		{"GET", "/nodes/BITCOIN/blocks/tip/height", "", "", 200, ""},
		{"GET", "/nodes/GOAT/", "", "", 404, ""},
		{"GET", "/links?url=" + url.QueryEscape(link), "", "", 200, `"payRequest"`},
		{"GET", "/links?url=http://127.0.0.1:1/", "", "", 502, ""},
		{"GET", "/links?url=%25", "", "", 502, ""},
		{"GET", "/qr?text=lnbc1", "", "", 200, "<svg"},
		{"GET", "/qr", "", "", 400, "1 to 2000"},
		{"GET", "/qr?text=" + strings.Repeat("a", 2001), "", "", 400, "1 to 2000"},
	} {
		r := httptest.NewRequestWithContext(t.Context(), c.method, c.path, strings.NewReader(c.body))
		if c.site != "" {
			r.Header.Set("Sec-Fetch-Site", c.site)
		}
		if c.method == "POST" {
			r.Header.Set("Content-Type", "application/json")
		}
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		if w.Code != c.status || !strings.Contains(w.Body.String(), c.says) {
			t.Errorf("%s %.40s: %d %.200s", c.method, c.path, w.Code, w.Body)
		}
		if c.path == "/" && !strings.HasPrefix(w.Header().Get("Content-Security-Policy"), "default-src 'none'") {
			t.Error("the page may load from anywhere")
		}
	}
}

// The program serves the page until it is interrupted.
func TestRun(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	r, w := io.Pipe()
	ended := make(chan error, 1)
	go func() { ended <- run(ctx, w, "127.0.0.1:0") }()
	line := make([]byte, 200)
	n, err := r.Read(line)
	if err != nil {
		t.Fatal(err)
	}
	url, ok := strings.CutPrefix(strings.TrimSpace(string(line[:n])), "The wallet is at ")
	if !ok {
		t.Fatalf("it says %q", line[:n])
	}
	resp, err := http.Get(url)
	if err != nil || resp.StatusCode != http.StatusOK {
		t.Fatalf("%v, %v", resp, err)
	}
	resp.Body.Close()
	cancel()
	select {
	case err := <-ended:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(20 * time.Second):
		t.Error("it does not end")
	}
}
