package main

import (
	"context"
	"flag"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/cdproto/target"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/swapper-go/swapper"
	"github.com/swapper-go/swapper/httpapi/events"
	"github.com/swapper-go/swapper/swappertest"
)

// shared is what the tests have in common: one browser, in which each test has a profile of
// its own, and one network with every chain, for those that break nothing.
var shared struct {
	sync.Mutex
	browser context.Context
	network *world
	folder  string // of what verifies in the page
	ends    []func()
}

func TestMain(m *testing.M) {
	_ = flag.Set("test.parallel", "4") // they wait for blocks and windows most of the time
	var err error
	if shared.folder, err = os.MkdirTemp("", "wallet"); err != nil {
		panic(err)
	}
	code := m.Run()
	if *sheets != "" && code == 0 {
		if err := writeSheets(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = 1
		}
	}
	for i := len(shared.ends) - 1; i >= 0; i-- {
		shared.ends[i]()
	}
	_ = os.RemoveAll(shared.folder)
	os.Exit(code)
}

// world is a network with the page's server in front of it.
type world struct {
	*swappertest.Network
	client *swapper.Client
	mux    http.Handler
	url    string
}

// start starts a network and serves the page for it; with between, requests pass that first.
func start(o swappertest.Options, between func(http.Handler) http.Handler) (*world, func(), error) {
	o.EVM.ChainID = evmChainID
	n, err := swappertest.New(context.Background(), o)
	if err != nil {
		return nil, nil, err
	}
	client, err := swapper.Open(context.Background(), n.Config())
	if err != nil {
		_ = n.Close()
		return nil, nil, err
	}
	ended := make(chan struct{})
	go func() { defer close(ended); _ = client.Run(context.Background()) }()
	streams := events.New(client, events.Options{Now: n.Now})
	pages, err := handler(n, client, streams, packed())
	if err != nil {
		return nil, nil, err
	}
	w := &world{Network: n, client: client, mux: pages}
	if between != nil {
		w.mux = between(w.mux)
	}
	server := httptest.NewServer(w.mux)
	w.url = server.URL
	return w, func() {
		streams.Close()
		server.CloseClientConnections()
		server.Close()
		client.Close()
		<-ended
		_ = n.Close()
	}, nil
}

// packed is what verifies in the page, compiled once for all tests.
var packed = sync.OnceValue(func() *verifier {
	v := prepare(context.Background(), shared.folder)
	<-v.done
	return v
})

// everyChain is the network that all tests share.
func everyChain(t *testing.T) *world {
	t.Helper()
	shared.Lock()
	defer shared.Unlock()
	if shared.network == nil {
		w, end, err := start(swappertest.Options{Solana: swappertest.SolanaOptions{Version: "v1"}, Starknet: swappertest.StarknetOptions{On: true}}, nil)
		if err != nil {
			t.Fatal(err)
		}
		shared.network, shared.ends = w, append(shared.ends, end)
	}
	return shared.network
}

// own is a network with Citrea alone, for a test that breaks something.
func own(t *testing.T, between func(http.Handler) http.Handler) *world {
	t.Helper()
	chromium(t) // or the test is skipped
	w, end, err := start(swappertest.Options{}, between)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(end)
	return w
}

// chromium finds a browser; $CHROMIUM names one that is elsewhere.
func chromium(t *testing.T) string {
	t.Helper()
	for _, name := range []string{os.Getenv("CHROMIUM"), "chromium", "chromium-browser", "google-chrome"} {
		if path, err := exec.LookPath(name); name != "" && err == nil {
			return path
		}
	}
	t.Skip("the page is tried in a real browser, and no Chromium is installed; name one with $CHROMIUM")
	return ""
}

// tab is a page of a browser in a profile of its own.
type tab struct {
	*testing.T
	ctx    context.Context
	tabbed map[string]bool // phases that the Tab key went through
}

// browse opens a page, and waits until it is there. The setup is done before.
func browse(t *testing.T, url string, setup ...chromedp.Action) tab {
	t.Helper()
	p := browseUnready(t, url, setup...)
	p.do(chromedp.WaitReady(`body[data-ready="true"]`))
	return p
}

// browseUnready opens a page whose service may be away.
func browseUnready(t *testing.T, url string, setup ...chromedp.Action) tab {
	t.Helper()
	path := chromium(t)
	shared.Lock()
	if shared.browser == nil {
		options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(path), chromedp.NoSandbox,
			chromedp.Flag("force-prefers-reduced-motion", true)) // what turns without end costs a processor in each window
		allocator, stop := chromedp.NewExecAllocator(context.Background(), options...)
		browser, quit := chromedp.NewContext(allocator)
		if err := chromedp.Run(browser); err != nil {
			shared.Unlock()
			t.Fatal(err)
		}
		shared.browser, shared.ends = browser, append(shared.ends, stop, quit)
	}
	browser := shared.browser
	shared.Unlock()
	id, err := window(browser)
	if err != nil {
		t.Fatal(err)
	}
	ctx, closeTab := chromedp.NewContext(browser, chromedp.WithTargetID(id))
	t.Cleanup(closeTab)
	ctx, cancel := context.WithTimeout(ctx, 9*patience()) // of which each wait takes one at most
	t.Cleanup(cancel)
	p := tab{t, ctx, nil}
	chromedp.ListenTarget(ctx, func(event any) { // what the page must never meet
		switch e := event.(type) {
		case *runtime.EventExceptionThrown:
			t.Errorf("the page fails: %v", e.ExceptionDetails)
		case *log.EventEntryAdded:
			if e.Entry.Source == log.SourceSecurity || e.Entry.Source == log.SourceViolation {
				t.Errorf("the browser says: %s", e.Entry.Text)
			}
		}
	})
	p.do(chromedp.ActionFunc(func(ctx context.Context) error { return emulation.SetFocusEmulationEnabled(true).Do(ctx) }))
	p.do(append(setup, chromedp.Navigate(url))...)
	return p
}

// window opens a window of a new profile.
func window(browser context.Context) (id target.ID, err error) {
	c := cdp.WithExecutor(browser, chromedp.FromContext(browser).Browser)
	profile, err := target.CreateBrowserContext().WithDisposeOnDetach(true).Do(c)
	if err != nil {
		return "", err
	}
	return target.CreateTarget("about:blank").WithBrowserContextID(profile).WithNewWindow(true).Do(c)
}

func (p tab) do(actions ...chromedp.Action) {
	p.Helper()
	if err := chromedp.Run(p.ctx, actions...); err != nil {
		var fault string
		why, cancel := context.WithTimeout(context.WithoutCancel(p.ctx), 5*time.Second)
		defer cancel()
		_ = chromedp.Run(why, chromedp.Evaluate(`location.hash + '\n' + document.body.innerText`, &fault))
		p.Fatalf("%v; the page shows\n%s", err, fault)
	}
}

// get evaluates an expression of the page.
func get[T any](p tab, expression string) (v T) {
	p.Helper()
	p.do(chromedp.Evaluate(expression, &v))
	return v
}

func (p tab) text(id string) string {
	p.Helper()
	return get[string](p, fmt.Sprintf(`document.getElementById(%q).textContent`, id))
}

// patience is how long the page may take for what it does. Where the machine has other work, half of the minute goes
// to what verifies, which each profile compiles anew.
func patience() time.Duration {
	if seen() {
		return 3 * time.Minute
	}
	return time.Minute
}

// until waits for a condition of the page.
func (p tab) until(condition string) {
	p.Helper()
	if err := chromedp.Run(p.ctx, chromedp.Poll(condition, nil, chromedp.WithPollingInterval(50*time.Millisecond), chromedp.WithPollingTimeout(patience()))); err != nil {
		p.do(chromedp.ActionFunc(func(context.Context) error { return fmt.Errorf("wait for %s: %w", condition, err) }))
	}
}

// phase waits until the swap that is shown is in a phase.
func (p tab) phase(name string) {
	p.Helper()
	p.until(fmt.Sprintf(`!document.getElementById('view-swap').hidden && document.getElementById('view-swap').dataset.phase === %q`, name))
}

// press presses a key.
func (p tab) press(keys ...string) {
	p.Helper()
	for _, k := range keys {
		p.do(chromedp.KeyEvent(k))
	}
}

// tabTo goes on with the Tab key until an element has the focus.
func (p tab) tabTo(id string) {
	p.Helper()
	if !p.reaches(id) {
		p.do(chromedp.ActionFunc(func(context.Context) error { return fmt.Errorf("%s is not reached with the Tab key", id) }))
	}
}

// reaches is tabTo for what may be gone meanwhile.
func (p tab) reaches(id string) bool {
	p.Helper()
	for range 60 {
		if get[string](p, `document.activeElement.id`) == id {
			return true
		}
		p.press(kb.Tab)
	}
	return false
}

// key goes to a button with the Tab key and presses Enter.
func (p tab) key(id string) {
	p.Helper()
	p.tabTo(id)
	p.press(kb.Enter)
}

// leave starts another swap with the keyboard, from a swap under way or one that has ended
// meanwhile: another test of the same network may mine its blocks.
func (p tab) leave() {
	p.Helper()
	if !p.reaches("another") {
		p.phaseIs("received", "refunded", "failed", "expired", "late", "dropped")
		p.tabTo("go")
	}
	p.press(kb.Enter)
	p.until(`!document.getElementById('view-form').hidden`)
}

// choose goes to a list and chooses a token with the arrow keys.
func (p tab) choose(id, token string) {
	p.Helper()
	p.tabTo(id)
	p.until(fmt.Sprintf(`[...document.getElementById(%q).options].some((o) => o.value === %q)`, id, token))
	for range 20 {
		by := get[int](p, fmt.Sprintf(`(() => { const s = document.getElementById(%q); return [...s.options].findIndex((o) => o.value === %q) - s.selectedIndex; })()`, id, token))
		switch {
		case by > 0:
			p.press(kb.ArrowDown)
		case by < 0:
			p.press(kb.ArrowUp)
		default:
			p.until(`document.getElementById('limits').textContent !== ''`)
			return
		}
	}
	p.Fatalf("%s is not chosen with the arrow keys", token)
}

// write replaces what is in a field, at the keyboard.
func (p tab) write(id, text string) {
	p.Helper()
	p.tabTo(id)
	p.do(chromedp.Evaluate(`document.activeElement.select()`, nil), chromedp.KeyEvent(kb.Backspace), chromedp.ActionFunc(func(ctx context.Context) error { return input.InsertText(text).Do(ctx) }))
}

// ask chooses a pair and an amount, and asks for a quote.
func (p tab) ask(from, to, field, amount string) {
	p.Helper()
	p.until(`document.getElementById('limits').textContent !== ''`)
	p.choose("from", from)
	p.choose("to", to)
	p.write(field, amount)
	p.press(kb.Enter)
	p.until(`['deposit', 'sign', 'elsewhere'].includes(document.getElementById('view-swap').dataset.phase) || document.querySelector('#order .problem:not(:empty)')`)
	p.phaseIs("deposit", "sign", "elsewhere")
	p.until(`!document.getElementById('go').hidden || document.getElementById('verified').classList.contains('refused')`)
}

// phaseIs demands a phase.
func (p tab) phaseIs(names ...string) {
	p.Helper()
	got := get[string](p, `document.getElementById('view-swap').dataset.phase ?? ''`)
	for _, n := range names {
		if n == got {
			return
		}
	}
	p.do(chromedp.ActionFunc(func(context.Context) error { return fmt.Errorf("the phase is %q, want one of %q", got, names) }))
}

// finish presses, with the keyboard, whatever the swap asks for until it is over: its last phase.
func (p tab) finish() string {
	p.Helper()
	p.until(`!document.getElementById('view-swap').hidden`)
	for {
		switch phase := get[string](p, `document.getElementById('view-swap').dataset.phase`); phase {
		case "received", "refunded", "failed", "expired", "late", "dropped":
			return phase
		case "deposit", "sign", "claim", "refund", "elsewhere":
			if p.reaches("go") { // unless the swap has moved on by itself
				p.press(kb.Enter)
			}
		}
		if get[bool](p, `!document.getElementById('mine').hidden`) {
			p.do(chromedp.Evaluate(`document.getElementById('mine').focus()`, nil), chromedp.KeyEvent(kb.Enter))
		}
		p.do(chromedp.Sleep(150 * time.Millisecond))
	}
}
