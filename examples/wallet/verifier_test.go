package main

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"

	"github.com/swapper-go/swapper"
	"github.com/swapper-go/swapper/internal/trial"
)

// address is the shop's Lightning address, as a direction of a swap.
const address = "a Lightning address"

// What is to be signed or paid is verified in the page, which says in plain words what it is:
// at full depth in each direction on each chain.
func TestVerified(t *testing.T) {
	t.Parallel()
	chromium(t)
	for _, c := range trial.Of(5, []struct {
		from, to, field string
		says            []string // one for each thing that is signed or paid; R is the recipient, U the user
	}{ // first each type of swap once
		{"LIGHTNING-BTC", "CITREA-WBTC", "pay", []string{"Pays 0.0025 .* over Lightning. The payment is held until the wallet's own nodes show .* WBTC for R in the swap contract, and comes back if they do not."}},
		{"BITCOIN-BTC", "CITREA-WBTC", "pay", []string{"Pays 0.0025 .* to the provider, in a transaction that makes the vault .* pay .* WBTC to R. Miners get .* BTC, and the rest comes back as change."}},
		{"CITREA-WBTC", "LIGHTNING-BTC", "receive", []string{"into the swap contract, which gives it to a provider for the payment of 0.0025 .* to R, or back to U, at the latest from "}},
		{"BITCOIN-BTC", "SOLANA-WBTC", "pay", []string{"Opens an escrow of .* WBTC, which is paid out to R once 0.0025 .* were paid to bcrt1", "Pays 0.0025 .* to bcrt1.*, for which the swap contract gives .* to R."}},
		{"LIGHTNING-BTC", "SOLANA-WBTC", "pay", []string{"Pays 0.0025 .* over Lightning", "Opens an escrow of .* WBTC, which is paid out to R by the secret of the Lightning payment", "Takes .* WBTC out of the swap contract, for R."}},
		{"SOLANA-WBTC", "BITCOIN-BTC", "receive", []string{"into the swap contract, which gives it to a provider for the payment of 0.0025 .* to R, or back to U, at the latest from "}},
		{"STARKNET-WBTC", "LIGHTNING-BTC", "receive", []string{"into the swap contract, which gives it to a provider for the payment of 0.0025 .* to R, or back to U, at the latest from "}},
		{"LIGHTNING-BTC", "STARKNET-WBTC", "pay", []string{"over Lightning. The payment is held until the wallet's own nodes show .* WBTC for R in the swap contract"}},
		{"BITCOIN-BTC", "STARKNET-WBTC", "pay", []string{"in a transaction that makes the vault .* pay .* WBTC to R. Miners get .* BTC, and the rest comes back as change."}},
		{"CITREA-WBTC", "BITCOIN-BTC", "receive", []string{"into the swap contract, which gives it to a provider for the payment of 0.0025 .* to R, or back to U, at the latest from "}},
		{"SOLANA-WBTC", "LIGHTNING-BTC", "receive", []string{"into the swap contract, which gives it to a provider for the payment of 0.0025 .* to R, or back to U, at the latest from "}},
		{"STARKNET-WBTC", "BITCOIN-BTC", "receive", []string{"into the swap contract, which gives it to a provider for the payment of 0.0025 .* to R, or back to U, at the latest from "}},
		{"CITREA-WBTC", address, "receive", []string{"into the swap contract, which gives it to a provider for the payment of 0.0025 .* to lnbcrt.*, or back to U, at the latest from "}},
	}) {
		t.Run(c.from+" to "+c.to, func(t *testing.T) {
			t.Parallel()
			if c.from == "BITCOIN-BTC" {
				onlyBitcoin.Lock()
				defer onlyBitcoin.Unlock()
			}
			w := everyChain(t)
			p := browse(t, w.url)
			chainOf := func(token string) string { chain, _, _ := strings.Cut(token, "-"); return chain }
			user, recipient := w.User.Address(chainOf(c.from)), w.User.Address(chainOf(c.to))
			switch c.to {
			case "LIGHTNING-BTC":
				recipient = w.Invoice(250_000)
			case address:
				c.to, recipient = "LIGHTNING-BTC", w.LightningAddress()
			}
			p.do(chromedp.Evaluate(`window.words = []; new MutationObserver(() => { const now = document.getElementById('verified-words').textContent; if (document.getElementById('verified-title').textContent === 'Verified by this page' && window.words.at(-1) !== now) window.words.push(now); }).observe(document.getElementById('verified'), { subtree: true, childList: true, characterData: true })`, nil))
			p.order(c.from, c.to, c.field, recipient)
			if got := p.finish(); got != "received" {
				t.Errorf("ended as %q: %s", got, p.text("lead"))
			}
			words := strings.ReplaceAll(strings.Join(get[[]string](p, `window.words`), "\n"), "\u00a0", " ")
			for _, says := range c.says {
				says = regexp.MustCompile(`\b[RU]\b`).ReplaceAllStringFunc(says, func(who string) string { return short(map[string]string{"R": recipient, "U": user}[who]) })
				if !regexp.MustCompile(says).MatchString(words) {
					t.Errorf("it says %s\nwant %s", words, says)
				}
			}
		})
	}
}

// short is how the page shows an address.
func short(address string) string { return address[:8] + "…" + address[len(address)-6:] }

// order asks for a quote of 0.0025 BTC to a recipient.
func (p tab) order(from, to, field, recipient string) {
	p.Helper()
	p.until(`document.getElementById('limits').textContent !== ''`)
	p.choose("from", from)
	p.choose("to", to)
	p.write(field, "0.0025")
	p.write("recipient", recipient)
	p.key("ask")
}

// meddler is between the page and an honest service.
type meddler struct {
	*world
	request, answer func(text string) string // what passes becomes; nil: what it was
	asked, heard    atomic.Int32             // how often a wallet was asked to sign or pay, and the service was told a secret
}

func meddle(t *testing.T) *meddler {
	t.Helper()
	m := &meddler{}
	m.world = own(t, func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			switch r.URL.Path {
			case "/local/sign", "/local/pay":
				m.asked.Add(1)
			case "/api/createSwap", "/api/getSwapStatus":
				m.pass(t, w, r, next)
				return
			case "/api/subscribe":
				http.NotFound(w, r) // the status says all of it
				return
			}
			next.ServeHTTP(w, r)
		})
	})
	return m
}

func (m *meddler) pass(t *testing.T, w http.ResponseWriter, r *http.Request, next http.Handler) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		t.Error(err)
	}
	if strings.Contains(string(body), `"secret"`) {
		m.heard.Add(1)
	}
	if m.request != nil {
		body = []byte(m.request(string(body)))
	}
	r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	honest := httptest.NewRecorder()
	next.ServeHTTP(honest, r)
	answer := honest.Body.String()
	if m.answer != nil {
		answer = m.answer(answer)
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(honest.Code)
	_, _ = io.WriteString(w, answer)
}

// What a service has changed is refused before its user sees something to pay or to sign.
func TestTamperedIsRefused(t *testing.T) {
	t.Parallel()
	chromium(t)
	replaced := func(from, to string) func(string) string {
		return func(text string) string { return strings.ReplaceAll(text, from, to) }
	}
	for _, c := range trial.Of(10, []struct {
		name, from, to string
		// tamper says what passes becomes: mine is the recipient that the user wants, and theirs another one.
		tamper func(m *meddler, mine, theirs string)
		says   string
	}{
		{"an invoice in the answers", "CITREA-WBTC", "LIGHTNING-BTC", func(m *meddler, mine, theirs string) { m.answer = replaced(mine, theirs) }, "quote.outputAddress"},
		{"the invoice that is paid, under the right name", "CITREA-WBTC", "LIGHTNING-BTC", func(m *meddler, mine, theirs string) {
			m.request, m.answer = replaced(mine, theirs), replaced(theirs, mine)
		}, "the opening of another escrow"},
		{"an escrow without what it takes to verify it", "CITREA-WBTC", "BITCOIN-BTC", func(m *meddler, _, _ string) { m.answer = replaced(`"nonce"`, `"once"`) }, "cannot be verified"},
		{"the recipient of a Lightning payment", "LIGHTNING-BTC", "CITREA-WBTC", func(m *meddler, mine, theirs string) { m.answer = replaced(mine, theirs) }, "quote.outputAddress"},
		{"the amount of a Lightning payment", "LIGHTNING-BTC", "CITREA-WBTC", func(m *meddler, _, _ string) { m.answer = replaced(`"rawAmount":"250000"`, `"rawAmount":"260000"`) }, "quote"},
		{"the invoice", "LIGHTNING-BTC", "CITREA-WBTC", func(m *meddler, _, _ string) {
			invoice := m.Invoice(250_000)
			m.answer = func(text string) string { return regexp.MustCompile(`lnbcrt\w+`).ReplaceAllString(text, invoice) }
		}, "currentAction.txs[0].address"},
		{"a swap in which the provider is trusted", "LIGHTNING-BTC", "CITREA-WBTC", func(m *meddler, _, _ string) {
			m.answer = replaced(string(swapper.SwapFromBTCLNAuto), string(swapper.SwapTrustedFromLN))
		}, ""},
		{"the recipient of a vault, under the right name", "BITCOIN-BTC", "CITREA-WBTC", func(m *meddler, mine, theirs string) {
			m.request, m.answer = replaced(mine, theirs), replaced(theirs, mine)
		}, "currentAction.txs[0]"},
		{"the amount of a vault", "BITCOIN-BTC", "CITREA-WBTC", func(m *meddler, _, _ string) {
			m.request, m.answer = replaced(`"250000"`, `"260000"`), replaced(`"260000"`, `"250000"`)
		}, "requested was 250000"},
		{"a vault of another owner", "BITCOIN-BTC", "CITREA-WBTC", func(m *meddler, _, theirs string) {
			m.answer = func(text string) string {
				return regexp.MustCompile(`("vault":\{"owner":")0x\w+`).ReplaceAllString(text, "${1}"+theirs)
			}
		}, "vault"},
		{"the invoice of a Lightning address", "CITREA-WBTC", address, func(m *meddler, _, theirs string) {
			m.answer = func(text string) string { return regexp.MustCompile(`lnbcrt\w+`).ReplaceAllString(text, theirs) }
		}, "quote.outputAddress"},
	}) {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			m := meddle(t)
			other, err := m.NewUser()
			if err != nil {
				t.Fatal(err)
			}
			mine, theirs := m.User.Address("CITREA"), other.Address("CITREA")
			field := "pay"
			switch c.to {
			case "LIGHTNING-BTC":
				mine, theirs, field = m.Invoice(250_000), m.Invoice(250_000), "receive"
			case "BITCOIN-BTC":
				mine, theirs, field = m.User.Address("BITCOIN"), other.Address("BITCOIN"), "receive"
			case address:
				c.to, mine, theirs, field = "LIGHTNING-BTC", m.LightningAddress(), m.Invoice(250_000), "receive"
			}
			c.tamper(m, mine, theirs)
			p := browse(t, m.url)
			p.order(c.from, c.to, field, mine)
			p.until(`document.getElementById('verified-title').textContent === 'Refused' || document.getElementById('problem').textContent !== ''`)
			if c.says == "currentAction.txs[0]" {
				p.look("refused")
			} else if p.text("problem") != "" {
				p.look("refused quote")
			}
			if words := p.text("verified-words") + p.text("problem"); !strings.Contains(words, c.says) {
				t.Errorf("it says %q, want something about %q", words, c.says)
			}
			for _, id := range []string{"deposit", "go"} {
				if !get[bool](p, `document.getElementById('`+id+`').hidden`) {
					t.Errorf("the page shows %q", p.text(id))
				}
			}
			if n := m.asked.Load(); n != 0 || p.text("deposit-address") != "" {
				t.Errorf("the wallet was asked %d times, and the page has shown %q", n, p.text("deposit-address"))
			}
		})
	}
}

// A service whose provider pays somebody else, under the right name, does not hear the secret:
// the payment comes back.
func TestSecretIsKept(t *testing.T) {
	t.Parallel()
	chromium(t)
	m := meddle(t)
	other, err := m.NewUser()
	if err != nil {
		t.Fatal(err)
	}
	mine, theirs := m.User.Address("CITREA"), other.Address("CITREA")
	wants := make(chan struct{})
	var once sync.Once
	m.request = func(text string) string { return strings.ReplaceAll(text, mine, theirs) }
	m.answer = func(text string) string {
		if strings.Contains(text, `"requiresSecretReveal":true`) {
			once.Do(func() { close(wants) })
		}
		return strings.ReplaceAll(text, theirs, mine)
	}
	p := browse(t, m.url)
	p.order("LIGHTNING-BTC", "CITREA-WBTC", "pay", mine)
	p.until(`!document.getElementById('go').hidden`)
	p.key("go")
	select {
	case <-wants:
	case <-time.After(30 * time.Second):
		t.Fatal("the service does not ask for the secret")
	}
	p.until(`document.getElementById('verified-words').textContent.includes('nodes do not show the escrow open and final')`)
	p.do(chromedp.Sleep(3 * time.Second)) // the page looks again
	if n := m.heard.Load(); n != 0 {
		t.Errorf("the service heard the secret %d times", n)
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
