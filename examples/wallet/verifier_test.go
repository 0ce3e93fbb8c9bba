package main

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

// What is to be signed is verified in the page, which says in plain words what it is.
func TestVerified(t *testing.T) {
	t.Parallel()
	chromium(t)
	for _, c := range []struct{ from, to string }{
		{"CITREA-WBTC", "LIGHTNING-BTC"},
		{"SOLANA-WBTC", "BITCOIN-BTC"},
		{"STARKNET-WBTC", "LIGHTNING-BTC"},
	} {
		t.Run(c.from+" to "+c.to, func(t *testing.T) {
			t.Parallel()
			w := everyChain(t)
			p := browse(t, w.url)
			recipient := w.User.Address("BITCOIN")
			if c.to == "LIGHTNING-BTC" {
				recipient = w.Invoice(250_000)
			}
			p.order(c.from, c.to, recipient)
			p.phase("sign")
			p.until(`!document.getElementById('go').hidden`)
			if title, words := p.text("verified-title"), p.text("verified-words"); title != "Verified by this page" || !strings.Contains(words, "into the swap contract, which gives it to a provider for the payment of 0.00250000 BTC") || !strings.Contains(words, " to "+recipient+", or back to "+w.User.Address(strings.Split(c.from, "-")[0])+", at the latest from ") {
				t.Errorf("it says %q: %q", title, words)
			}
			if got := p.finish(); got != "received" {
				t.Errorf("ended as %q: %s", got, p.text("lead"))
			}
		})
	}
}

// order asks for a quote of 0.0025 BTC to a recipient.
func (p tab) order(from, to, recipient string) {
	p.Helper()
	p.until(`document.getElementById('limits').textContent !== ''`)
	p.choose("from", from)
	p.choose("to", to)
	p.write("receive", "0.0025")
	p.write("recipient", recipient)
	p.key("ask")
}

// What a service has changed is refused before a wallet is asked.
func TestTamperedIsRefused(t *testing.T) {
	t.Parallel()
	chromium(t)
	for _, c := range []struct {
		name string
		// request and answer are what the service makes of what passes; own is the invoice that is to be paid.
		request, answer func(text, own, other string) string
		says            string
	}{
		{"another recipient in its answers", nil, func(text, own, other string) string { return strings.ReplaceAll(text, own, other) }, "quote.outputAddress"},
		{"a swap that pays somebody else, under the right name", func(text, own, other string) string { return strings.ReplaceAll(text, own, other) },
			func(text, own, other string) string { return strings.ReplaceAll(text, other, own) }, "the opening of another escrow"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			var asked atomic.Int32
			var mine, theirs string
			w := own(t, func(next http.Handler) http.Handler {
				return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					if r.URL.Path == "/local/sign" {
						asked.Add(1)
					}
					if r.URL.Path != "/api/createSwap" && r.URL.Path != "/api/getSwapStatus" {
						next.ServeHTTP(w, r)
						return
					}
					body, err := io.ReadAll(r.Body)
					if err != nil {
						t.Error(err)
					}
					if c.request != nil {
						body = []byte(c.request(string(body), mine, theirs))
					}
					r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
					honest := httptest.NewRecorder()
					next.ServeHTTP(honest, r)
					w.Header().Set("Content-Type", "application/json")
					w.WriteHeader(honest.Code)
					_, _ = io.WriteString(w, c.answer(honest.Body.String(), mine, theirs))
				})
			})
			mine, theirs = w.Invoice(250_000), w.Invoice(250_000)
			p := browse(t, w.url)
			p.order("CITREA-WBTC", "LIGHTNING-BTC", mine)
			p.until(`document.getElementById('verified-title').textContent === 'Refused'`)
			if words := p.text("verified-words"); !strings.Contains(words, c.says) {
				t.Errorf("it says %q, want something about %q", words, c.says)
			}
			if !get[bool](p, `document.getElementById('go').hidden`) {
				t.Error("the button asks for a signature")
			}
			if n := asked.Load(); n != 0 {
				t.Errorf("the wallet was asked %d times", n)
			}
		})
	}
}

// The verifier loads in a page of its own; what is logged is in docs/benchmarks.md.
func TestVerifierLoads(t *testing.T) {
	t.Parallel()
	p := browse(t, everyChain(t).url)
	const load = `(async () => {
		const instantiate = WebAssembly.instantiate;
		let instance;
		WebAssembly.instantiate = async (...a) => (instance = await instantiate(...a));
		const began = performance.now();
		const { load } = await import('/verify/index.js');
		const verifier = await load({ service: location.origin + '/api', network: 'regtest', bitcoin: [location.origin + '/nodes/BITCOIN/'], chains: (await (await fetch('site')).json()).wallet.chains });
		const loaded = performance.now() - began;
		const tokens = await verifier.call('getSupportedTokens', { side: 'INPUT' }).catch((e) => e);
		return { loaded, says: tokens.message ?? '', memory: instance.exports.mem.buffer.byteLength };
	})()`
	var got struct {
		Loaded, Memory float64
		Says           string
	}
	p.do(chromedp.Evaluate(load, &got, func(q *runtime.EvaluateParams) *runtime.EvaluateParams { return q.WithAwaitPromise(true) }))
	if got.Says != "rpc: is required" {
		t.Errorf("without nodes it says %q", got.Says)
	}
	t.Logf("loaded in %.0f ms; memory of the program %.1f MB", got.Loaded, got.Memory/1e6)
}
