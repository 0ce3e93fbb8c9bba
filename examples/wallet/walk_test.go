package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/swapper-go/swapper/internal/trial"
	"github.com/swapper-go/swapper/swappertest"
)

// direction is one in which the page swaps.
type direction struct {
	from, to string
	via      string // what pays or is paid on Lightning: link, or address; "" is an invoice
	version  string // of the program on Solana, "" is v1
}

func (d direction) String() string {
	return strings.TrimSpace(strings.ReplaceAll(d.from+" to "+d.to+" "+d.via+" "+d.version, "  ", " "))
}

// directions are all that the page offers, first one for each type of swap.
func directions() []direction {
	all := []direction{
		{"CITREA-WBTC", "BITCOIN-BTC", "", ""}, {"BITCOIN-BTC", "CITREA-WBTC", "", ""}, {"LIGHTNING-BTC", "CITREA-USDC", "", ""},
		{"BITCOIN-BTC", "SOLANA-WBTC", "", ""}, {"LIGHTNING-BTC", "SOLANA-USDC", "", ""}, {"CITREA-CBTC", "LIGHTNING-BTC", "", ""},
		{"SOLANA-WBTC", "BITCOIN-BTC", "", ""}, {"STARKNET-WBTC", "BITCOIN-BTC", "", ""}, {"BITCOIN-BTC", "STARKNET-WBTC", "", ""}, {"LIGHTNING-BTC", "STARKNET-USDC", "", ""},
		{"SOLANA-USDC", "BITCOIN-BTC", "", "v2"}, {"SOLANA-WBTC", "LIGHTNING-BTC", "", "v2"}, {"BITCOIN-BTC", "SOLANA-WBTC", "", "v2"}, {"LIGHTNING-BTC", "SOLANA-WBTC", "", "v2"},
	}
	for _, token := range []string{"CITREA-WBTC", "SOLANA-WBTC", "STARKNET-WBTC"} {
		all = append(all, direction{token, "LIGHTNING-BTC", "", ""}, direction{token, "LIGHTNING-BTC", "address", ""}, direction{"LIGHTNING-BTC", token, "link", ""})
	}
	return all
}

// walk is a service that shows swaps in the stages that it is told to.
type walk struct {
	*world
	mu    sync.Mutex
	shown map[string]map[string]any // statuses, by the id of the swap
}

// pretending is a page's verifier and test wallet that do what window.walk says: nothing is verified, signed or paid.
const pretending = `const named = (a) => Number(a.rawAmount) / 10 ** a.decimals + ' ' + a.chain + '-' + a.symbol;
export const load = async () => ({
	verify: async (request, s, action, wallet) => {
		if (wallet.bitcoinAddress && action?.chain === 'BITCOIN') action = { ...action, type: 'SignPSBT' };
		if (walk.does === 'refuse') throw new Error('currentAction.txs[0]: the transaction pays another address');
		return { currentAction: action && action.type !== 'Wait' ? { ...action, description: 'Puts ' + named(s.quote.inputAmount) + ' into the swap contract, which gives it to a provider for the payment of ' + named(s.quote.outputAmount) + ' to ' + s.quote.outputAddress + ', or back to you, at the latest from 2031-02-03T04:05:06Z.' } : action };
	},
	call: async () => { await walk.free('send'); return {}; },
});`

const pretended = `window.walk = { does: '', free: async (what) => { while (walk.does === what) await new Promise((next) => setTimeout(next, 20)); } };
window.ask = window.fetch;
window.fetch = async (url, options) => {
	const path = new URL(url, location.href).pathname;
	if (walk.does === 'away' && !path.endsWith('.js')) throw new TypeError('Failed to fetch');
	if (!path.startsWith('/local/sign') && !path.startsWith('/local/pay')) return ask(url, options);
	await walk.free(path === '/local/pay' ? 'send' : 'sign');
	if (walk.does === 'decline') return new Response('{"code":4001,"error":"User rejected the request."}', { status: 400 });
	return new Response('{"signedTxs":["00"]}');
};
window.ethereum = { heard: {}, on(name, f) { this.heard[name] = f; }, request: async ({ method }) => ({ eth_requestAccounts: [walk.account], eth_chainId: '0x1' })[method] };`

// walking starts a walk in front of a network.
func walking(t *testing.T, n *world) *walk {
	w := &walk{world: n, shown: make(map[string]map[string]any)}
	mux := http.NewServeMux()
	mux.HandleFunc("/api/getSwapStatus", w.status)
	mux.HandleFunc("/api/subscribe", http.NotFound) // the status says all of it
	mux.HandleFunc("/verify/index.js", func(rw http.ResponseWriter, _ *http.Request) {
		rw.Header().Set("Content-Type", "text/javascript")
		_, _ = rw.Write([]byte(pretending))
	})
	mux.Handle("/", n.mux)
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	w.world = &world{Network: n.Network, client: n.client, mux: n.mux, url: server.URL}
	return w
}

func (w *walk) status(rw http.ResponseWriter, r *http.Request) {
	w.mu.Lock()
	defer w.mu.Unlock()
	s := w.shown[r.URL.Query().Get("swapId")]
	if s == nil {
		w.world.mux.ServeHTTP(rw, r)
		return
	}
	rw.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(rw).Encode(s)
}

// quote asks the service for a quote, and returns its status.
func (w *walk) quote(t *testing.T, d direction) map[string]any {
	t.Helper()
	chain := func(token string) string { c, _, _ := strings.Cut(token, "-"); return c }
	request := map[string]any{"srcToken": d.from, "dstToken": d.to, "amount": "250000", "amountType": "EXACT_OUT", "dstAddress": w.User.Address(chain(d.to))}
	signs := w.User.Address(chain(d.from))
	switch {
	case d.via == "address":
		request["dstAddress"] = w.LightningAddress()
	case d.to == "LIGHTNING-BTC":
		request["dstAddress"] = w.Invoice(250_000)
	case chain(d.from) == "LIGHTNING" || chain(d.from) == "BITCOIN":
		signs, request["amountType"] = w.User.Address(chain(d.to)), "EXACT_IN"
	}
	if chain(d.from) != "LIGHTNING" && chain(d.from) != "BITCOIN" {
		request["srcAddress"] = signs
	}
	if d.via == "link" {
		link, err := w.WithdrawLink()
		if err != nil {
			t.Fatal(err)
		}
		request["srcAddress"] = link
	}
	made := w.call(t, "createSwap", request)
	status := w.call(t, "getSwapStatus", map[string]any{"swapId": made["swapId"]})
	status["signs"] = signs
	return status
}

// call calls an operation of the service.
func (w *walk) call(t *testing.T, operation string, in map[string]any) map[string]any {
	t.Helper()
	body, err := json.Marshal(in)
	if err != nil {
		t.Fatal(err)
	}
	r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/api/"+operation, bytes.NewReader(body))
	r.Header.Set("Content-Type", "application/json")
	answer := httptest.NewRecorder()
	w.mux.ServeHTTP(answer, r)
	var out map[string]any
	if err := json.Unmarshal(answer.Body.Bytes(), &out); err != nil || answer.Code != http.StatusOK {
		t.Fatalf("%s: %d %s", operation, answer.Code, answer.Body)
	}
	return out
}

// Every direction is walked through every state in which the service can show it, and through what happens in between:
// each on every screen, with its words, its one button, and the way through it with the Tab key.
func TestWalk(t *testing.T) {
	t.Parallel()
	chromium(t)
	v2 := sync.OnceValues(func() (*world, error) {
		w, end, err := start(swappertest.Options{Solana: swappertest.SolanaOptions{Version: "v2"}}, nil)
		if err == nil {
			shared.Lock()
			shared.ends = append(shared.ends, end)
			shared.Unlock()
		}
		return w, err
	})
	for _, d := range trial.Of(1, directions()) {
		t.Run(d.String(), func(t *testing.T) {
			t.Parallel()
			n := everyChain(t)
			if d.version == "v2" {
				var err error
				if n, err = v2(); err != nil {
					t.Fatal(err)
				}
			}
			walkThrough(t, walking(t, n), d)
		})
	}
}

func walkThrough(t *testing.T, w *walk, d direction) {
	created := w.quote(t, d)
	p := browse(t, w.url, before(pretended))
	p.tabbed = make(map[string]bool)
	p.filled(d)
	all := stages[created["swapType"].(string)]
	if len(all) == 0 {
		t.Fatalf("there are no stages of %s", created["swapType"])
	}
	for i, s := range all {
		id := fmt.Sprintf("%096x", i+1)
		w.show(t, s, created, id)
		p.enter(id, d)
		if get[string](p, `document.getElementById('view-swap').dataset.phase`) != s.phase {
			t.Errorf("%s: the phase is %q, want %q: %s", s.name, get[string](p, `document.getElementById('view-swap').dataset.phase`), s.phase, p.text("headline"))
			continue
		}
		p.complete(d, s)
		if s.phase == "sign" || s.phase == "claim" && s.name == "claim" || s.phase == "refund" || s.phase == "deposit" {
			p.moments(w, d, s, created, 1000*(i+1))
		}
	}
}

// show has the service show a swap in a stage from now on.
func (w *walk) show(t *testing.T, s stage, created map[string]any, id string) {
	t.Helper()
	status := s.at(t, created, id)
	expiry := time.Now().Add(20 * time.Minute)
	if s.phase == "late" && s.fault == "" || s.phase == "expired" {
		expiry = time.Now().Add(-time.Minute)
	}
	quote := make(map[string]any)
	for name, v := range status["quote"].(map[string]any) {
		quote[name] = v
	}
	quote["expiry"], status["quote"], status["createdAt"] = expiry.UnixMilli(), quote, time.Now().Add(-time.Minute).UnixMilli()
	w.mu.Lock()
	defer w.mu.Unlock()
	w.shown[id] = status
}

// filled fills in the form of a direction.
func (p tab) filled(d direction) {
	p.Helper()
	p.until(`document.getElementById('limits').textContent !== ''`)
	p.choose("from", d.from)
	p.choose("to", d.to)
	p.write("pay", "0.001")
	if d.via == "address" || d.to == "LIGHTNING-BTC" {
		p.until(`document.getElementById('recipient').value !== ''`)
	}
	p.until(`document.getElementById('receive').value !== ''`)
	p.look(d.String() + ", form")
	p.tabs("the form of " + d.String())
}

// enter opens a swap that this browser has asked for, and waits until what it asks for is verified.
func (p tab) enter(id string, d direction) {
	p.Helper()
	p.do(chromedp.Evaluate(fmt.Sprintf(`localStorage.setItem('swap %s', JSON.stringify({ key: '%032x', request: {}, link: %t, at: 0 })); location.hash = '#/swap/%[1]s'`, id, 1, d.via == "link"), nil))
	p.until(fmt.Sprintf(`!document.getElementById('view-swap').hidden && document.querySelector('#s-id button')?.title === %q && document.getElementById('verified-title').textContent !== 'Being verified' && (!document.getElementById('go').hidden || !['deposit', 'sign', 'claim', 'refund'].includes(document.getElementById('view-swap').dataset.phase))`, id))
}

// primary counts the buttons that are the next thing to do.
const primary = `[...document.querySelectorAll('.primary')].filter((e) => e.checkVisibility()).length`

// complete demands what a stage has to have, and looks at it.
func (p tab) complete(d direction, s stage) {
	p.Helper()
	name := d.String() + ", " + s.name
	if title := p.text("headline"); !strings.Contains(strings.ReplaceAll(title, "\u00a0", " "), s.title) {
		p.Errorf("%s: the title is %q", name, title)
	}
	if all := get[string](p, `document.getElementById('view-swap').innerText`); s.nothing != "" && strings.Contains(all, s.nothing) {
		p.Errorf("%s: it says %q", name, s.nothing)
	}
	want := 1
	if s.phase == "progress" || s.phase == "over" || s.phase == "asking" || s.phase == "sending" || s.phase == "sent" {
		want = 0
	}
	if got := get[int](p, primary); got != want {
		p.Errorf("%s: it has %d buttons to go on with, want %d", name, got, want)
	}
	p.look(name)
	if !p.tabbed[s.phase] { // the same may be used in each of a phase
		p.tabs(name)
		p.tabbed[s.phase] = true
	}
}

// moments walks through what happens while a swap asks for something.
func (p tab) moments(w *walk, d direction, s stage, created map[string]any, number int) {
	p.Helper()
	does := func(what string) { p.do(chromedp.Evaluate(fmt.Sprintf(`walk.does = %q`, what), nil)) }
	fresh := func() {
		number++
		id := fmt.Sprintf("%096x", number)
		w.show(p.T, s, created, id)
		p.enter(id, d)
	}
	see := func(name, phase, title string) {
		p.Helper()
		p.phase(phase)
		p.complete(d, stage{name: s.name + ", " + name, phase: phase, title: title})
	}
	signs := s.phase != "deposit" || strings.HasPrefix(d.from, "BITCOIN")
	fresh()
	if signs {
		does("sign")
		p.key("go")
		see("asking", "asking", "Confirm in your wallet")
		does("send")
	} else {
		does("send")
		p.key("go")
	}
	see("sending", "sending", "Sending")
	does("")
	see("sent", "sent", "Sent")
	if far := get[[2]int](p, `[Number(document.getElementById('bar').getAttribute('aria-valuenow')), document.querySelector('#flow .now') ? [...document.getElementById('flow').children].indexOf(document.querySelector('#flow .now')) : 0]`); s.phase == "claim" && (far[0] < 70 || far[1] != 2) {
		p.Errorf("%s, %s: what is sent is %d %% far, in stage %d", d, s.name, far[0], far[1])
	}
	if d.via != "link" {
		fresh()
		does("decline")
		p.key("go")
		p.until(`document.getElementById('fault').textContent.startsWith('You declined')`)
		see("declined", s.phase, s.title)
		if at := get[string](p, `document.activeElement.id`); at != "go" {
			p.Errorf("%s: the focus is at %q, not at the button that tries again", d, at)
		}
	}
	fresh()
	does("away")
	p.until(`!document.getElementById('offline').hidden`)
	see("away", s.phase, s.title)
	does("")
	p.until(`document.getElementById('offline').hidden`)
	p.refusals(w, d, s, fresh, does, see)
}

// refusals walks through what keeps a swap from being signed: it is being verified, or is refused, or was given up, or the
// wallet is on another chain.
func (p tab) refusals(w *walk, d direction, s stage, fresh func(), does func(string), see func(name, phase, title string)) {
	p.Helper()
	does("refuse")
	number := get[string](p, `location.hash`)
	p.do(chromedp.Evaluate(`location.hash = '#/swaps'`, nil))
	p.until(`!document.getElementById('view-swaps').hidden`)
	p.do(chromedp.Evaluate(fmt.Sprintf(`location.hash = %q`, number), nil))
	p.until(`document.getElementById('verified-title').textContent === 'Refused' && !document.getElementById('verified').hidden`)
	if got := get[int](p, primary); got != 0 {
		p.Errorf("%s, %s: what is refused has a button", d, s.name)
	}
	p.look(d.String() + ", " + s.name + ", refused")
	does("")
	if s.name == "quote" {
		fresh()
		p.do(chromedp.Evaluate(`(() => { const name = 'swap ' + document.querySelector('#s-id button').title; localStorage.setItem(name, JSON.stringify({ ...JSON.parse(localStorage.getItem(name)), dropped: true })); })()`, nil))
		see("dropped", "dropped", "This quote was replaced")
	}
	if signer := w.User.Address("CITREA"); strings.Contains(d.String(), "CITREA") && s.phase != "deposit" && !(s.phase == "sign" && strings.HasPrefix(d.from, "BITCOIN")) {
		fresh()
		p.do(chromedp.Evaluate(fmt.Sprintf(`walk.account = %q`, signer), nil))
		p.key("connect")
		see("elsewhere", "elsewhere", "Your wallet is on Ethereum")
		p.do(chromedp.Evaluate(`window.ethereum.heard.chainChanged('0x3039')`, nil))
		see("elsewhere, unknown", "elsewhere", "Your wallet is on another network")
		p.do(chromedp.Evaluate(`window.ethereum.heard.accountsChanged([])`, nil))
		p.phase(s.phase)
	}
}

// tabs goes through the page with the Tab key: whatever can be used is reached, in the order in which it is read, and
// shows that it has the focus.
func (p tab) tabs(name string) {
	p.Helper()
	const usable = `[...document.querySelectorAll('a[href], button, input, select, summary')].filter((e) => e.checkVisibility({ visibilityProperty: true }) && !e.disabled)`
	p.do(chromedp.Evaluate(`window.passed = []; window.pass = ({ target: e }) => window.passed.push([e, [e, e.closest('.token'), e.closest('.side'), e.closest('.joined')].some((x) => x && getComputedStyle(x).outlineStyle !== 'none')]);
		document.activeElement.blur(); document.addEventListener('focusin', pass); document.getElementById('skip').focus()`, nil),
		chromedp.KeyEvent(strings.Repeat(kb.Tab, get[int](p, usable+`.length`)-1)))
	if wrong := get[string](p, `(() => {
		document.removeEventListener('focusin', pass);
		const all = `+usable+`, at = all.findIndex((e, i) => e !== window.passed[i]?.[0]), says = (e) => e?.outerHTML.slice(0, 80);
		if (at >= 0) return 'Tab ' + at + ' reaches ' + says(window.passed[at]?.[0]) + ', not ' + says(all[at]);
		return window.passed.slice(1).filter(([, seen]) => !seen).map(([e]) => 'the focus is not seen on ' + says(e)).join('; ');
	})()`); wrong != "" {
		p.Errorf("%s: %s", name, wrong)
	}
}
