package main

import (
	"bytes"
	"flag"
	"image"
	"image/color"
	"image/png"
	"os"
	"path/filepath"
	"slices"
	"sort"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"

	"github.com/swapper-go/swapper/internal/depth"
)

// What the states of the page are looked at with.
var (
	pictures = flag.String("pictures", "", "folder for pictures of the page in every state, in which they are written")
	inDocs   = flag.Bool("pictures.docs", false, "write only those of the documentation")
	axe      = flag.String("axe", "", "file of axe-core, axe.min.js, which judges every state for people who do not see or use a mouse")
)

// docsImages are the pictures of docs/images, by state, screen and scheme.
var docsImages = map[string]bool{
	"form-desktop-light": true, "form-phone-dark": true, "deposit-phone-light": true, "deposit-desktop-dark": true, "sign-phone-light": true,
	"progress-desktop-light": true, "claim-phone-dark": true, "received-phone-light": true, "refund-phone-light": true, "swaps-desktop-dark": true, "bounds-phone-light": true, "expired-phone-dark": true,
}

type screen struct {
	name          string
	width, height int64
}

// raw is what no reader is shown: words of the service's own, base units, and codes.
const raw = `/base units|\(LIGHTNING\)|\b[a-z]+_[a-z]+\b|\b[A-Z]+_[A-Z_]+\b|undefined|NaN|\[object/.exec(document.body.innerText)?.[0] ?? ''`

// look sees a state on every screen, light and dark: nothing is wider than the screen, nothing
// moves for those who do not want it, and every word is for readers.
func (p tab) look(state string) {
	p.Helper()
	screens := []screen{{"phone", 390, 844}, {"desktop", 1280, 860}, {"narrow", 320, 640}, {"wide", 1600, 900}}
	for i, s := range screens {
		for _, scheme := range []string{"light", "dark"} {
			name := state + "-" + s.name + "-" + scheme
			write := *pictures != "" && i < 2 && (docsImages[name] || !*inDocs)
			if scheme == "dark" && !write && *axe == "" {
				continue // of the same width
			}
			p.do(chromedp.EmulateViewport(s.width, s.height), emulation.SetEmulatedMedia().WithFeatures([]*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}, {Name: "prefers-reduced-motion", Value: "reduce"}}))
			if wide := get[int64](p, `document.documentElement.scrollWidth`); wide > s.width {
				p.Errorf("%s: the page is %d wide on a screen of %d", state, wide, s.width)
			}
			if write {
				p.keep(name)
			}
			if *axe != "" && i < 2 {
				p.judge(name)
			}
		}
	}
	if word := get[string](p, raw); word != "" {
		p.Errorf("%s: the page shows %q", state, word)
	}
	p.until(`document.getAnimations().length === 0`) // when those that ran before are over
	p.do(chromedp.EmulateViewport(1280, 860))
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

func (p tab) keep(name string) {
	p.Helper()
	var shot []byte
	p.until(`[...document.images].every((i) => i.complete)`)
	p.do(chromedp.Evaluate(`scrollTo(0, 0)`, nil), chromedp.FullScreenshot(&shot, 100))
	small, err := reduce(shot)
	if err == nil {
		err = os.WriteFile(filepath.Join(*pictures, name+".png"), small, 0o644)
	}
	if err != nil {
		p.Fatal(err)
	}
}

// reduce writes a picture with 128 colours, which is enough for a page.
func reduce(shot []byte) ([]byte, error) {
	from, err := png.Decode(bytes.NewReader(shot))
	if err != nil {
		return nil, err
	}
	type counted struct {
		c color.RGBA
		n int
	}
	count := make(map[color.RGBA]int)
	b := from.Bounds()
	coarse := func(x, y int) color.RGBA {
		c := color.RGBAModel.Convert(from.At(x, y)).(color.RGBA)
		return color.RGBA{c.R &^ 3, c.G &^ 3, c.B &^ 3, 255}
	}
	for y := b.Min.Y; y < b.Max.Y; y++ {
		for x := b.Min.X; x < b.Max.X; x++ {
			count[coarse(x, y)]++
		}
	}
	var most []counted
	for c, n := range count {
		most = append(most, counted{c, n})
	}
	sort.Slice(most, func(i, j int) bool {
		a, b := most[i], most[j]
		return a.n > b.n || a.n == b.n && (int(a.c.R)<<16|int(a.c.G)<<8|int(a.c.B)) < (int(b.c.R)<<16|int(b.c.G)<<8|int(b.c.B))
	})
	var palette color.Palette
	for i, m := range most {
		alike := slices.ContainsFunc(palette, func(c color.Color) bool { return distance(c.(color.RGBA), m.c) < 300 })
		if i < 96 || len(palette) < 128 && !alike { // a colour of a mark is rare and has none like it
			palette = append(palette, m.c)
		}
	}
	to, near := image.NewPaletted(b, palette), make(map[color.RGBA]uint8)
	for y := b.Min.Y; y < b.Max.Y; y++ {
		for x := b.Min.X; x < b.Max.X; x++ {
			c := coarse(x, y)
			i, ok := near[c]
			if !ok {
				i = uint8(palette.Index(c))
				near[c] = i
			}
			to.SetColorIndex(x, y, i)
		}
	}
	var out bytes.Buffer
	err = (&png.Encoder{CompressionLevel: png.BestCompression}).Encode(&out, to)
	return out.Bytes(), err
}

// distance is the square of how far two colours are apart.
func distance(a, b color.RGBA) int {
	r, g, l := int(a.R)-int(b.R), int(a.G)-int(b.G), int(a.B)-int(b.B)
	return r*r + g*g + l*l
}

// The page fits from 320 to 1600 pixels in its states. What is seen can be kept; the pictures
// of the documentation are made with
//
//	go test ./examples/wallet -run 'TestScreens|TestRefund|TestExpired' -pictures "$PWD/docs/images" -pictures.docs
func TestScreens(t *testing.T) {
	t.Parallel()
	p := browse(t, everyChain(t).url)
	p.until(`document.getElementById('limits').textContent !== ''`)
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
	p.look("sent")
	p.finish()
	p.look("received")
	p.key("go")
	p.ask("CITREA-WBTC", "BITCOIN-BTC", "receive", "0.002")
	p.look("sign")
	p.do(chromedp.Evaluate(`document.getElementById('s-fees').open = true`, nil))
	p.look("fees")
	p.finish()
	if *pictures != "" || *axe != "" || depth.Full() {
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
		p.look("claim")
		p.leave()
		p.ask("BITCOIN-BTC", "SOLANA-WBTC", "pay", "0.002")
		p.look("open")
		p.key("go")
		p.phase("deposit")
		p.look("bitcoin")
	}
	p.do(chromedp.Evaluate(`location.hash = '#/swaps'`, nil))
	p.until(`document.querySelectorAll('#swaps li').length >= 2`)
	p.look("swaps")
	p.do(chromedp.Evaluate(`location.hash = '#/swap/'+'00'.repeat(48)`, nil))
	p.until(`!document.getElementById('view-gone').hidden`)
	p.look("gone")
}
