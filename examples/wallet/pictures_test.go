package main

import (
	"context"
	"flag"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"

	"github.com/swapper-go/swapper/internal/trial"
)

// What the states of the page are looked at with.
var (
	pictures = flag.String("pictures", "", "folder for a picture of each state, on a phone and a desktop, light and dark")
	sheets   = flag.String("sheets", "", "folder for phone.webp and desktop.webp, all pictures on a sheet, and form.webp")
	axe      = flag.String("axe", "", "file of axe-core, axe.min.js, which judges every state for people who do not see or use a mouse")
)

// seen reports that the states are looked at by somebody, which takes longer.
func seen() bool { return *pictures != "" || *axe != "" }

// states are what is kept of the page, in the order in which a user meets it.
var states = []string{
	"start", "form", "bounds", "quoting", "no quote", "refused quote", "verifying", "deposit", "sign", "fees", "open", "bitcoin", "declined", "elsewhere", "switching", "refused", "dropped", "expired",
	"asking", "sending", "sent", "progress", "claim", "received", "refund", "refunded", "away", "waiting", "gone", "swaps", "no swaps",
}

// screen is a size of a screen. Of a picture so much of its height as part is shown, so wide, in so many columns.
type screen struct {
	name                 string
	width, height        int64
	part, shown, columns int64
}

var screens = []screen{{"phone", 390, 844, 900, 210, 8}, {"desktop", 1280, 860, 860, 432, 4}, {"narrow", 320, 640, 0, 0, 0}, {"wide", 1600, 900, 0, 0, 0}}

// raw is what no reader is shown: words of the service's own, base units, codes, names of tokens with their chain, times for machines,
// addresses and ids at their whole length, and words of the trade.
const raw = `/base units|\(LIGHTNING\)|\b[a-z]+_[a-z]+\b|\b[A-Z]+_[A-Z_]+\b|\b[A-Z]{3,}-[A-Z]{2,}\b|\d-\d\dT\d|undefined|NaN|\[object|\b\w{27,}\b|\b(?:preimage|HTLC|PSBT|LP|RPC|nonce|calldata)\b/.exec(document.body.innerText)?.[0] ?? ''`

// flaws are what no screen has: something wider than it, a text that is cut off, a sentence that is said twice, and more than
// one button that is the next thing to do.
const flaws = `(() => {
	const found = [];
	if (document.documentElement.scrollWidth > innerWidth) found.push('it is ' + document.documentElement.scrollWidth + ' wide');
	for (const e of document.querySelectorAll('header *, main *, footer *, .banner')) {
		if (!e.checkVisibility() || e.closest('.unseen, .skip, .brand, select, svg')) continue;
		for (const n of e.childNodes) {
			if (n.nodeType !== Node.TEXT_NODE || !n.data.trim()) continue;
			const range = document.createRange();
			range.selectNodeContents(n);
			const is = range.getBoundingClientRect();
			for (let a = e; a && a !== document.body; a = a.parentElement) {
				const box = a.getBoundingClientRect();
				if (getComputedStyle(a).overflowX !== 'visible' && (is.right > box.right + 1 || is.left < box.left - 1 || is.bottom > box.bottom + 2)) found.push('cut off is ' + n.data);
			}
			if (is.right > innerWidth) found.push('beside the screen is ' + n.data);
		}
	}
	for (const line of document.querySelectorAll('header, .side > .line:first-child')) {
		if (line.checkVisibility() && innerWidth >= 390 && line.offsetHeight > 72) found.push('in more than one line is ' + line.innerText);
	}
	const said = ['headline', 'lead', 'verified-words', 'fault', 'with', 'problem', 'offline'].map((id) => document.getElementById(id)).filter((e) => e.checkVisibility()).flatMap((e) => e.innerText.split(/[.:;] |\.$/)).map((s) => s.trim()).filter((s) => s.length > 12);
	const twice = said.find((s, i) => said.indexOf(s) < i);
	if (twice) found.push('twice it says ' + twice);
	const next = [...document.querySelectorAll('.primary')].filter((e) => e.checkVisibility());
	if (next.length > 1) found.push('the buttons are ' + next.map((e) => e.textContent));
	return found.join('; ');
})()`

// look sees a state on every screen, light and dark: it has no flaws, nothing
// moves for those who do not want it, and every word is for readers.
func (p tab) look(state string) {
	p.Helper()
	for i, s := range screens {
		for _, scheme := range []string{"light", "dark"} {
			write := *pictures != "" && i < 2 && p.asked(s, scheme)
			if scheme == "dark" && !write && *axe == "" {
				continue // of the same width
			}
			if scheme == "light" {
				p.do(chromedp.EmulateViewport(s.width, s.height))
			}
			p.do(emulation.SetEmulatedMedia().WithFeatures([]*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}, {Name: "prefers-reduced-motion", Value: "reduce"}}))
			if wrong := get[string](p, flaws); wrong != "" {
				p.Errorf("%s, %s: %s", state, s.name, wrong)
			}
			if write {
				p.keep(state, s, scheme)
			}
			if *axe != "" && i < 2 && p.asked(s, scheme) {
				p.judge(state + " " + s.name + " " + scheme)
			}
		}
	}
	if word := get[string](p, raw); word != "" {
		p.Errorf("%s: the page shows %q", state, word)
	}
	p.until(`document.getAnimations().length === 0`) // when those that ran before are over
	p.do(chromedp.EmulateViewport(1280, 860))
}

// asked reports whether a state is kept and judged on a screen: in the walk through every direction, whose pictures are in no
// sheet, each on the phone in the dark and on the desktop in the light.
func (p tab) asked(on screen, scheme string) bool {
	return p.tabbed == nil || (on.name == "phone") == (scheme == "dark")
}

// judge has axe-core find what keeps people out.
func (p tab) judge(name string) {
	p.Helper()
	script, err := os.ReadFile(*axe)
	if err != nil {
		p.Fatal(err)
	}
	var found string
	p.do(chromedp.Evaluate(string(script), nil), chromedp.Evaluate(`axe.run().then((r) => r.violations.map((v) => v.id + ': ' + v.help + ': ' + v.nodes.map((n) => n.target + ' ' + n.failureSummary).join('; ')).join('\n'))`,
		&found, func(e *runtime.EvaluateParams) *runtime.EvaluateParams { return e.WithAwaitPromise(true) }))
	if found != "" {
		p.Errorf("%s: %s", name, found)
	}
}

// keep takes a picture of a state.
func (p tab) keep(state string, on screen, scheme string) {
	p.Helper()
	var shot []byte
	p.until(`[...document.images].every((i) => i.complete)`)
	p.do(chromedp.Evaluate(`scrollTo(0, 0)`, nil), chromedp.FullScreenshot(&shot, 100))
	if err := os.WriteFile(picture(state, on.name, scheme), shot, 0o644); err != nil {
		p.Fatal(err)
	}
}

func picture(state, on, scheme string) string {
	return filepath.Join(*pictures, strings.Join([]string{state, on, scheme}, "-")+".png")
}

// writeSheets writes the pictures of all states as one for each screen, and the form as one of its own.
func writeSheets() error {
	for _, on := range screens[:2] {
		var of strings.Builder
		fmt.Fprintf(&of, `<body style="margin:12px;background:#8b8791;font:600 13px system-ui;display:grid;grid-template-columns:repeat(%d,%dpx);gap:14px 10px;width:max-content">`, on.columns, on.shown)
		for _, state := range states {
			for _, scheme := range []string{"light", "dark"} {
				source := picture(state, on.name, scheme)
				if _, err := os.Stat(source); err != nil {
					return err
				}
				fmt.Fprintf(&of, `<div>%s<img style="display:block;width:100%%;height:%dpx;object-fit:cover;object-position:top;border-radius:8px" src="%s"></div>`, state, on.shown*on.part/on.width, filepath.Base(source))
			}
		}
		if err := draw(on.name, of.String()); err != nil {
			return err
		}
	}
	return draw("form", `<body style="margin:0"><img style="display:block;width:960px" src="`+filepath.Base(picture("form", "desktop", "light"))+`">`)
}

// draw has the browser draw a document beside the pictures, and keeps it as WebP.
func draw(name, document string) error {
	file, err := filepath.Abs(filepath.Join(*pictures, name+".html"))
	if err == nil {
		err = os.WriteFile(file, []byte(document), 0o644)
	}
	if err != nil {
		return err
	}
	ctx, done := chromedp.NewContext(shared.browser)
	defer done()
	return chromedp.Run(ctx, chromedp.EmulateViewport(100, 100), chromedp.Navigate("file://"+file), chromedp.ActionFunc(func(ctx context.Context) error {
		_, _, _, _, _, size, err := page.GetLayoutMetrics().Do(ctx)
		if err != nil {
			return err
		}
		shot, err := page.CaptureScreenshot().WithFormat(page.CaptureScreenshotFormatWebp).WithQuality(40).WithCaptureBeyondViewport(true).
			WithClip(&page.Viewport{Width: size.Width, Height: size.Height, Scale: 1}).Do(ctx)
		if err != nil {
			return err
		}
		return os.WriteFile(filepath.Join(*sheets, name+".webp"), shot, 0o644)
	}))
}

// The page fits from 320 to 1600 pixels in its states. What is seen here and in other tests can be
// kept; the pictures of the documentation are made with
//
//	go test ./examples/wallet -timeout 1h -pictures "$(mktemp -d)" -sheets "$PWD/docs/images"
func TestScreens(t *testing.T) {
	t.Parallel()
	p := browse(t, everyChain(t).url)
	p.until(`document.getElementById('limits').textContent !== ''`)
	p.look("start")
	p.write("pay", "0.5")
	p.press("\r")
	p.until(`document.getElementById('pay-problem').textContent !== ''`)
	p.look("bounds")
	p.write("pay", "0.0005")
	p.look("form")
	p.press("\r")
	p.phase("deposit")
	p.look("deposit")
	p.key("go")
	p.finish()
	p.look("received")
	p.key("go")
	p.ask("CITREA-WBTC", "BITCOIN-BTC", "receive", "0.002")
	p.look("sign")
	p.do(chromedp.Evaluate(`document.getElementById('s-fees').open = true`, nil))
	p.look("fees")
	p.finish()
	if seen() || trial.Full() {
		p.key("go")
		onlyBitcoin.Lock()
		defer onlyBitcoin.Unlock()
		p.ask("BITCOIN-BTC", "CITREA-WBTC", "pay", "0.002")
		p.key("go")
		p.phase("progress")
		p.do(chromedp.Sleep(2 * time.Second))
		p.look("progress")
		p.leave()
		p.ask("LIGHTNING-BTC", "SOLANA-WBTC", "pay", "0.0005")
		p.key("go")
		p.phase("claim")
		p.until(`!document.getElementById('go').hidden`)
		p.look("claim")
		p.leave()
		p.ask("BITCOIN-BTC", "SOLANA-WBTC", "pay", "0.002")
		p.look("open")
		p.key("go")
		p.phase("deposit")
		p.until(`!document.getElementById('deposit').hidden`)
		p.look("bitcoin")
	}
	p.do(chromedp.Evaluate(`location.hash = '#/swaps'`, nil))
	p.until(`document.querySelectorAll('#swaps li').length >= 2`)
	p.look("swaps")
	p.do(chromedp.Evaluate(`location.hash = '#/swap/'+'00'.repeat(48)`, nil))
	p.until(`!document.getElementById('view-gone').hidden`)
	p.look("gone")
}

// What lasts a moment is looked at while what it waits for is held.
func TestScreensOfAMoment(t *testing.T) {
	t.Parallel()
	var held atomic.Value // the path that is held
	held.Store("/api/createSwap")
	w := own(t, func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/api/subscribe" {
				http.NotFound(w, r) // the status says all of it
				return
			}
			for path := r.URL.Path; strings.HasPrefix(path, held.Load().(string)) && r.Context().Err() == nil; {
				time.Sleep(20 * time.Millisecond)
			}
			next.ServeHTTP(w, r)
		})
	})
	t.Cleanup(func() { held.Store("-") }) // or the server does not end
	p := browse(t, w.url)
	p.do(chromedp.Evaluate(`location.hash = '#/swaps'`, nil))
	p.until(`!document.getElementById('no-swaps').hidden`)
	p.look("no swaps")
	p.do(chromedp.NavigateBack())
	p.until(`document.getElementById('limits').textContent !== ''`)
	for _, c := range []struct{ from, to, field, held, phase string }{
		{"CITREA-WBTC", "BITCOIN-BTC", "receive", "/local/sign", "asking"},
		{"LIGHTNING-BTC", "CITREA-WBTC", "pay", "/local/pay", "sending"},
	} {
		held.Store("/api/createSwap")
		p.choose("from", c.from)
		p.choose("to", c.to)
		p.write(c.field, "0.002")
		p.press("\r")
		p.until(`document.getElementById('ask').textContent === 'Asking the providers…'`)
		if c.field == "receive" {
			p.look("quoting")
			held.Store("/nodes/")
			p.phase("sign")
			p.look("verifying")
		}
		held.Store(c.held)
		p.until(`!document.getElementById('go').hidden`)
		p.key("go")
		p.phase(c.phase)
		p.look(c.phase)
		if c.phase == "sending" {
			held.Store("/api/getSwapStatus") // the payment goes on, and nothing is heard of it
			p.phase("sent")
			p.look("sent")
		}
		held.Store("-")
		if got := p.finish(); got != "received" {
			t.Errorf("ended as %q", got)
		}
		p.key("go")
	}
}
