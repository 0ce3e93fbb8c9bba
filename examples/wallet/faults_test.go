package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/swapper-go/swapper"
	"github.com/swapper-go/swapper/httpapi/events"
	"github.com/swapper-go/swapper/swappertest"
)

// A swap that is not known, by a link that is cut off or a wrong id, has a screen of its own.
func TestUnknownSwap(t *testing.T) {
	t.Parallel()
	w := everyChain(t)
	for name, id := range map[string]string{"an id of nothing": strings.Repeat("0", 96), "a link that is cut off": "abc"} {
		p := browse(t, w.url+"/#/swap/"+id)
		p.until(`!document.getElementById('view-gone').hidden`)
		if got := p.text("gone-title"); got != "This swap was not found" {
			t.Errorf("%s: %q", name, got)
		}
		p.key("gone-new")
		p.until(`!document.getElementById('view-form').hidden`)
	}
}

// A page whose service goes away says so and goes on by itself, wherever it stands; one that
// comes before the service starts with it.
func TestOffline(t *testing.T) {
	t.Parallel()
	var down atomic.Bool
	w := own(t, func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if path := r.URL.Path; down.Load() && (strings.HasPrefix(path, "/api/") || strings.HasPrefix(path, "/local/") || path == "/site" || path == "/rates") {
				panic(http.ErrAbortHandler) // cuts the connection
			}
			next.ServeHTTP(w, r)
		})
	})
	p := browse(t, w.url)
	p.until(`document.getElementById('limits').textContent !== ''`)
	p.write("pay", "0.0005")
	down.Store(true)
	p.key("ask")
	p.until(`!document.getElementById('offline').hidden`)
	p.look("away")
	if got := p.text("problem"); got != "The service cannot be reached. The page tries again by itself." {
		t.Errorf("the form says %q", got)
	}
	down.Store(false)
	p.until(`document.getElementById('offline').hidden`)
	p.key("ask")
	p.phase("deposit")
	down.Store(true)
	p.until(`!document.getElementById('offline').hidden`)
	link := get[string](p, `location.href`)
	late := browseUnready(t, link)
	late.until(`document.getElementById('gone-title').textContent === 'Waiting for the service'`)
	late.look("waiting")
	down.Store(false)
	p.until(`document.getElementById('offline').hidden`)
	late.phase("deposit")
	if got := p.finish(); got != "received" {
		t.Errorf("ended as %q", got)
	}
	late.phase("received") // which has followed
}

// A quote that nobody paid ends with a screen that leads to a new one of the same values.
func TestExpired(t *testing.T) {
	t.Parallel()
	w := own(t, nil)
	p := browse(t, w.url)
	p.ask("CITREA-WBTC", "BITCOIN-BTC", "receive", "0.0025")
	if err := w.Advance(time.Hour); err != nil {
		t.Fatal(err)
	}
	p.until(`['late', 'expired'].includes(document.getElementById('view-swap').dataset.phase)`)
	if got := p.text("headline"); got != "The quote has expired" {
		t.Errorf("the screen is %q", got)
	}
	if !get[bool](p, `document.getElementById('timer').hidden`) {
		t.Error("the clock of a quote that is over goes on")
	}
	p.look("expired")
	p.key("go")
	p.until(`!document.getElementById('view-form').hidden && document.getElementById('receive').value === '0.0025' && document.getElementById('from').value === 'CITREA-WBTC'`)
	p.until(`document.getElementById('limits').textContent !== ''`)
	p.key("ask")
	p.phase("sign")
}

// What the provider does not pay is taken back, with screens for it.
func TestRefund(t *testing.T) {
	t.Parallel()
	w := own(t, nil)
	w.Misbehave(swappertest.LPFault{NotPayable: true})
	p := browse(t, w.url)
	p.ask("CITREA-WBTC", "LIGHTNING-BTC", "receive", "0.0003")
	p.key("go")
	p.phase("refund")
	p.look("refund")
	if got := p.finish(); got != "refunded" {
		t.Errorf("ended as %q: %s", got, p.text("lead"))
	}
	if got := p.text("headline"); got != "Your money is back" {
		t.Errorf("the last screen is %q", got)
	}
	p.look("refunded")
}

// A page that is open while the service ends and starts again, on the same store, goes
// on by itself with the payment that was under way.
func TestRestart(t *testing.T) {
	t.Parallel()
	chromium(t)
	n := swappertest.Start(t, swappertest.Options{})
	config := n.Config()
	address := net.JoinHostPort("127.0.0.1", strconv.Itoa(10_000+rand.IntN(20_000))) // no outgoing connection takes it meanwhile
	serve := func() (end func()) {
		t.Helper()
		client, err := swapper.Open(t.Context(), config)
		if err != nil {
			t.Fatal(err)
		}
		ended := make(chan struct{})
		go func() { defer close(ended); _ = client.Run(context.Background()) }()
		streams := events.New(client, events.Options{})
		socket, err := net.Listen("tcp", address)
		if err != nil {
			t.Fatal(err)
		}
		pages, err := handler(n, client, streams, packed())
		if err != nil {
			t.Fatal(err)
		}
		server := &http.Server{Handler: pages}
		go func() { _ = server.Serve(socket) }()
		return sync.OnceFunc(func() {
			_ = server.Close() // cuts every connection
			streams.Close()
			client.Close()
			<-ended
		})
	}
	end := serve()
	defer func() { end() }()
	p := browse(t, "http://"+address)
	n.Misbehave(swappertest.WatchtowerFault{Off: true})
	p.ask("LIGHTNING-BTC", "CITREA-WBTC", "pay", "0.0005")
	p.key("go")
	p.until(`document.getElementById('steps').textContent.includes('is being paid out')`)
	end()
	p.until(`!document.getElementById('offline').hidden`)
	n.Misbehave()
	end = serve()
	p.until(`document.getElementById('offline').hidden`)
	p.phase("received")
}

// Links to explorers stand where the network has some, and nowhere on the local one.
func TestExplorers(t *testing.T) {
	t.Parallel()
	var network atomic.Value
	network.Store("local")
	w := own(t, func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if name := network.Load().(string); r.URL.Path == "/site" && name != "local" {
				_, _ = fmt.Fprintf(w, `{"network":%q,"chains":{}}`, name)
				return
			}
			next.ServeHTTP(w, r)
		})
	})
	p := browse(t, w.url)
	p.ask("LIGHTNING-BTC", "CITREA-WBTC", "pay", "0.0005")
	if got := p.finish(); got != "received" {
		t.Fatalf("ended as %q", got)
	}
	links := func() []string {
		return get[[]string](p, `[...document.querySelectorAll('#view-swap .out')].map((a) => a.href)`)
	}
	if got := links(); len(got) != 0 {
		t.Errorf("the local network has the links %q", got)
	}
	network.Store("testnet4")
	p.do(chromedp.Reload())
	p.phase("received")
	got := links()
	if !slices.Contains(got, "https://explorer.testnet.citrea.xyz/address/"+w.User.Address("CITREA")) || !slices.ContainsFunc(got, func(l string) bool { return strings.HasPrefix(l, "https://explorer.testnet.citrea.xyz/tx/0x") }) {
		t.Errorf("the links are %q", got)
	}
}

// Everything that can be used has a name for screen readers, and changes are announced.
func TestScreenReader(t *testing.T) {
	t.Parallel()
	p := browse(t, everyChain(t).url)
	p.until(`document.getElementById('limits').textContent !== ''`)
	used := p.roles()
	p.ask("LIGHTNING-BTC", "CITREA-WBTC", "pay", "0.0005")
	for role, n := range p.roles() {
		used[role] = max(used[role], n)
	}
	for role, least := range map[string]int{"button": 5, "textbox": 3, "combobox": 3, "image": 1, "region": 1, "status": 1, "form": 1, "navigation": 1, "main": 1, "heading": 1} {
		if used[role] < least {
			t.Errorf("%d of role %s, want at least %d", used[role], role, least)
		}
	}
	p.key("go")
	p.until(`document.getElementById('announce').textContent !== ''`)
	p.finish()
	p.until(`document.getElementById('announce').textContent.includes(' received')`)
}

// roles counts what the page has for screen readers, and demands names.
func (p tab) roles() map[string]int {
	p.Helper()
	used := make(map[string]int)
	var tree struct {
		Nodes []struct {
			Ignored bool `json:"ignored"`
			Role    struct {
				Value any `json:"value"`
			} `json:"role"`
			Name struct {
				Value any `json:"value"`
			} `json:"name"`
		} `json:"nodes"`
	}
	p.do(chromedp.ActionFunc(func(ctx context.Context) error {
		return chromedp.FromContext(ctx).Target.Execute(ctx, "Accessibility.getFullAXTree", nil, &tree)
	}))
	for _, n := range tree.Nodes {
		role, _ := n.Role.Value.(string)
		if n.Ignored {
			continue
		}
		used[role]++
		switch role {
		case "button", "textbox", "combobox", "image", "form", "region", "link", "heading", "progressbar", "dialog":
			if name, _ := n.Name.Value.(string); name == "" {
				p.Errorf("a %s has no name", role)
			}
		}
	}
	return used
}
