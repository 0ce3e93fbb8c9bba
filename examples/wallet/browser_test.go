package main

import (
	"context"
	"encoding/json"
	"fmt"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/crypto"

	"github.com/swapper-go/swapper"
	"github.com/swapper-go/swapper/httpapi/events"
	"github.com/swapper-go/swapper/swappertest"
)

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

// tab opens the page, on a network of its own, in a browser of its own.
func tab(t *testing.T, screen ...chromedp.Action) (context.Context, *swappertest.Network, string) {
	t.Helper()
	chromium(t) // or the test is skipped
	n := swappertest.StartWith(t, swappertest.Options{Solana: swappertest.SolanaOptions{Version: "v1"}, Starknet: swappertest.StarknetOptions{On: true}})
	client, err := swapper.Open(t.Context(), n.Config())
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() { defer close(ended); _ = client.Run(context.Background()) }()
	t.Cleanup(func() { client.Close(); <-ended })
	streams := events.New(client, events.Options{})
	server := httptest.NewServer(handler(n, client, streams))
	t.Cleanup(server.Close)
	t.Cleanup(streams.Close)

	return browse(t, server.URL, screen...), n, server.URL
}

// browse opens a page in a browser of its own.
func browse(t *testing.T, url string, screen ...chromedp.Action) context.Context {
	t.Helper()
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(chromium(t)), chromedp.NoSandbox)
	browser, stop := chromedp.NewExecAllocator(t.Context(), options...)
	t.Cleanup(stop)
	ctx, closeTab := chromedp.NewContext(browser)
	t.Cleanup(closeTab)
	ctx, cancel := context.WithTimeout(ctx, 90*time.Second)
	t.Cleanup(cancel)
	do(t, ctx, append(screen, chromedp.Navigate(url), chromedp.WaitReady(`body[data-ready="true"]`))...)
	return ctx
}

func do(t *testing.T, ctx context.Context, actions ...chromedp.Action) {
	t.Helper()
	if err := chromedp.Run(ctx, actions...); err != nil {
		var problem, fault string
		why, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
		defer cancel()
		_ = chromedp.Run(why, chromedp.Text("#problem", &problem, chromedp.ByID), chromedp.Evaluate(`document.body.innerText`, &fault))
		t.Fatalf("%v; the page says %q\n%s", err, problem, fault)
	}
}

// choose selects a pair of tokens, as a user does, and waits for its limits.
func choose(from, to string) chromedp.Action {
	change := func(id, value string) chromedp.Action {
		return chromedp.Evaluate(fmt.Sprintf(`(() => { const s = document.getElementById(%q); s.value = %q; s.dispatchEvent(new Event('change')); return s.value; })()`, id, value), nil)
	}
	return chromedp.Tasks{
		change("from", from),
		chromedp.Poll(fmt.Sprintf(`[...document.getElementById('to').options].some((o) => o.value === %q) && document.getElementById('limits').textContent !== ''`, to), nil),
		change("to", to),
		chromedp.Poll(`document.getElementById('limits').textContent !== ''`, nil),
	}
}

// write types into an empty field.
func write(field, text string) chromedp.Action {
	return chromedp.Tasks{chromedp.Evaluate(fmt.Sprintf(`document.querySelector(%q).value = ''`, field), nil), chromedp.SendKeys(field, text, chromedp.ByID)}
}

// ended presses what there is to press until the swap is over.
func ended(t *testing.T, ctx context.Context) string {
	t.Helper()
	for {
		var state string
		var over, can bool
		do(t, ctx, chromedp.Evaluate(`!document.getElementById('again').hidden`, &over), chromedp.Evaluate(`document.getElementById('state').textContent`, &state),
			chromedp.Evaluate(`!document.getElementById('go').hidden && !document.getElementById('go').disabled && document.getElementById('fault').textContent === ''`, &can))
		if over {
			return state
		}
		press := "mine" // which is hidden, and does nothing, where no block is waited for
		if can {
			press = "go"
		}
		do(t, ctx, chromedp.Evaluate(fmt.Sprintf(`(() => { const b = document.getElementById(%q); if (!b.hidden) b.click(); })()`, press), nil), chromedp.Sleep(300*time.Millisecond))
	}
}

// Each direction is swapped in a real browser, by the page's own buttons.
func TestEveryDirection(t *testing.T) {
	for _, d := range []struct {
		from, to, pay, receive string
	}{
		{"LIGHTNING-BTC", "CITREA-WBTC", "0.0005", ""},
		{"BITCOIN-BTC", "CITREA-WBTC", "0.002", ""},
		{"CITREA-WBTC", "LIGHTNING-BTC", "", "0.0003"},
		{"CITREA-WBTC", "BITCOIN-BTC", "", "0.002"},
		{"LIGHTNING-BTC", "SOLANA-WBTC", "0.0005", ""},
		{"SOLANA-WBTC", "BITCOIN-BTC", "", "0.002"},
		{"LIGHTNING-BTC", "STARKNET-WBTC", "0.0005", ""},
		{"STARKNET-WBTC", "BITCOIN-BTC", "", "0.002"},
	} {
		t.Run(d.from+" to "+d.to, func(t *testing.T) {
			ctx, _, _ := tab(t)
			field, amount := "#pay", d.pay
			if d.receive != "" {
				field, amount = "#receive", d.receive
			}
			do(t, ctx, choose(d.from, d.to), write(field, amount),
				chromedp.Click("#ask", chromedp.ByID), chromedp.WaitVisible("#quote", chromedp.ByID), chromedp.WaitVisible("#steps li", chromedp.ByQuery))
			var fee string
			do(t, ctx, chromedp.Text("#q-fee", &fee, chromedp.ByID))
			if !strings.Contains(fee, "BTC") {
				t.Errorf("the provider's fee is shown as %q", fee)
			}
			if state := ended(t, ctx); !strings.HasPrefix(state, "Done: ") {
				t.Errorf("ended with %q", state)
			}
		})
	}
}

// With the keyboard alone a quote is asked for and paid; a reload in between loses nothing.
func TestKeyboardAndReload(t *testing.T) {
	ctx, _, _ := tab(t)
	do(t, ctx, chromedp.Focus("#recipient", chromedp.ByID), chromedp.KeyEvent(kb.Enter), chromedp.WaitVisible("#deposit", chromedp.ByID))
	var at string
	do(t, ctx, chromedp.Evaluate(`document.activeElement.id`, &at))
	if at != "quote-title" {
		t.Errorf("the focus is at %q, not at the quote", at)
	}
	do(t, ctx, chromedp.Reload(), chromedp.WaitVisible("#deposit", chromedp.ByID), chromedp.WaitReady(`body[data-ready="true"]`))
	for range 20 {
		do(t, ctx, chromedp.KeyEvent(kb.Tab), chromedp.Evaluate(`document.activeElement.id`, &at))
		if at == "go" {
			break
		}
	}
	if at != "go" {
		t.Fatalf("the button is not reached by the keyboard; the focus is at %q", at)
	}
	do(t, ctx, chromedp.KeyEvent(kb.Enter))
	if state := ended(t, ctx); !strings.HasPrefix(state, "Done: ") {
		t.Errorf("ended with %q", state)
	}
}

// Everything that can be used has a name for screen readers, and changes are announced.
func TestScreenReader(t *testing.T) {
	ctx, _, _ := tab(t)
	do(t, ctx, chromedp.Click("#ask", chromedp.ByID), chromedp.WaitVisible("#deposit", chromedp.ByID))
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
	do(t, ctx, chromedp.ActionFunc(func(ctx context.Context) error {
		return chromedp.FromContext(ctx).Target.Execute(ctx, "Accessibility.getFullAXTree", nil, &tree)
	}))
	used := map[string]int{}
	for _, n := range tree.Nodes {
		role, _ := n.Role.Value.(string)
		name, _ := n.Name.Value.(string)
		if n.Ignored {
			continue
		}
		switch role {
		case "button", "textbox", "combobox", "image", "form", "region", "group", "list":
			used[role]++
			if name == "" && role != "list" && role != "group" {
				t.Errorf("a %s has no name", role)
			}
		case "status", "alert":
			used[role]++
		}
	}
	for role, least := range map[string]int{"button": 5, "textbox": 3, "combobox": 2, "image": 1, "region": 2, "status": 1, "alert": 1} {
		if used[role] < least {
			t.Errorf("%d of role %s, want at least %d", used[role], role, least)
		}
	}
}

// A page that is open while the service ends and starts again, on the same store, goes
// on by itself with the payment that was under way.
func TestRestart(t *testing.T) {
	chromium(t)
	n := swappertest.Start(t)
	config := n.Config()
	var address string
	serve := func() (end func()) {
		t.Helper()
		client, err := swapper.Open(t.Context(), config)
		if err != nil {
			t.Fatal(err)
		}
		ended := make(chan struct{})
		go func() { defer close(ended); _ = client.Run(context.Background()) }()
		streams := events.New(client, events.Options{})
		if address == "" {
			address = "127.0.0.1:0"
		}
		socket, err := net.Listen("tcp", address)
		if err != nil {
			t.Fatal(err)
		}
		address = socket.Addr().String()
		server := &http.Server{Handler: handler(n, client, streams)}
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
	ctx := browse(t, "http://"+address)
	n.Misbehave(swappertest.WatchtowerFault{Off: true})
	do(t, ctx, choose("LIGHTNING-BTC", "CITREA-WBTC"), write("#pay", "0.0005"), chromedp.Click("#ask", chromedp.ByID), chromedp.WaitVisible("#go", chromedp.ByID),
		chromedp.Click("#go", chromedp.ByID), chromedp.Poll(`document.getElementById('steps').textContent.includes('awaiting automatic')`, nil))
	end()
	do(t, ctx, chromedp.Poll(`document.getElementById('fault').textContent.includes('cannot be reached')`, nil))
	n.Misbehave()
	end = serve()
	do(t, ctx, chromedp.Poll(`document.getElementById('state').textContent.startsWith('Done:') && document.getElementById('fault').textContent === ''`, nil))
}

// What cannot be swapped is said in words, beside the form.
func TestProblemsAreShown(t *testing.T) {
	ctx, _, _ := tab(t)
	for amount, want := range map[string]string{"1e3": "a number", "0": "above 0", "21": "amount"} {
		var problem string
		do(t, ctx, write("#pay", amount), chromedp.Click("#ask", chromedp.ByID),
			chromedp.Poll(`document.getElementById('problem').textContent !== '' && !document.getElementById('ask').disabled`, nil), chromedp.Text("#problem", &problem, chromedp.ByID))
		if !strings.Contains(problem, want) {
			t.Errorf("%q: %q, want %q", amount, problem, want)
		}
	}
}

// A wallet of the browser sends the transactions itself; the service sees them on the chain.
func TestBrowserWallet(t *testing.T) {
	key, err := crypto.GenerateKey()
	if err != nil {
		t.Fatal(err)
	}
	address := crypto.PubkeyToAddress(key.PublicKey).Hex()
	var n *swappertest.Network
	// The wallet: what Chromium's extension would do, with a key and the chain's node.
	wallet := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Access-Control-Allow-Origin", "*")
		w.Header().Set("Access-Control-Allow-Headers", "*")
		if r.Method != http.MethodPost {
			return
		}
		var q struct {
			Method string
			Params []json.RawMessage
		}
		if err := json.NewDecoder(r.Body).Decode(&q); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		answer, err := walletCall(r.Context(), n.URL("CITREA"), q.Method, q.Params, func(tx *types.DynamicFeeTx) ([]byte, error) {
			signed, err := types.SignNewTx(key, types.LatestSignerForChainID(tx.ChainID), tx)
			if err != nil {
				return nil, err
			}
			return signed.MarshalBinary()
		}, address)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		_ = json.NewEncoder(w).Encode(answer)
	}))
	defer wallet.Close()
	inject := fmt.Sprintf(`window.ethereum = { request: async (q) => { const r = await fetch(%q, { method: 'POST', body: JSON.stringify(q) }); if (!r.ok) throw new Error(await r.text()); return r.json(); } };`, wallet.URL)
	ctx, network, _ := tab(t, page.SetBypassCSP(true), chromedp.ActionFunc(func(ctx context.Context) error {
		_, err := page.AddScriptToEvaluateOnNewDocument(inject).Do(ctx)
		return err
	}))
	n = network
	for token, amount := range map[string]*big.Int{"CITREA-CBTC": big.NewInt(1e18), "CITREA-WBTC": big.NewInt(10_000_000)} {
		if err := n.SendTokens(t.Context(), token, address, amount); err != nil {
			t.Fatal(err)
		}
	}
	do(t, ctx, choose("CITREA-WBTC", "BITCOIN-BTC"), chromedp.Click("#connect", chromedp.ByID), chromedp.Poll(`document.getElementById('who').textContent.startsWith('Browser wallet 0x')`, nil),
		write("#receive", "0.002"), chromedp.Click("#ask", chromedp.ByID), chromedp.WaitVisible("#steps li", chromedp.ByQuery))
	if state := ended(t, ctx); !strings.HasPrefix(state, "Done: ") {
		t.Errorf("ended with %q", state)
	}
}

// walletCall answers a question of the page as a browser's wallet does.
func walletCall(ctx context.Context, node, method string, params []json.RawMessage, sign func(*types.DynamicFeeTx) ([]byte, error), address string) (any, error) {
	switch method {
	case "eth_requestAccounts":
		return []string{address}, nil
	case "wallet_switchEthereumChain":
		return nil, nil
	case "eth_sendTransaction":
		var tx struct {
			To                                 common.Address
			Nonce, Gas                         hexutil.Uint64
			MaxPriorityFeePerGas, MaxFeePerGas hexutil.Big
			Value                              hexutil.Big
			Data                               hexutil.Bytes
		}
		if err := json.Unmarshal(params[0], &tx); err != nil {
			return nil, err
		}
		raw, err := sign(&types.DynamicFeeTx{ChainID: big.NewInt(31337), Nonce: uint64(tx.Nonce), GasTipCap: tx.MaxPriorityFeePerGas.ToInt(), GasFeeCap: tx.MaxFeePerGas.ToInt(),
			Gas: uint64(tx.Gas), To: &tx.To, Value: tx.Value.ToInt(), Data: tx.Data})
		if err != nil {
			return nil, err
		}
		params = []json.RawMessage{json.RawMessage(fmt.Sprintf("%q", hexutil.Encode(raw)))}
		method = "eth_sendRawTransaction"
	}
	body, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
	if err != nil {
		return nil, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, node, strings.NewReader(string(body)))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Content-Type", "application/json")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	var reply struct {
		Result any
		Error  any
	}
	if err := json.NewDecoder(resp.Body).Decode(&reply); err != nil {
		return nil, err
	}
	if reply.Error != nil {
		return nil, fmt.Errorf("%v", reply.Error)
	}
	return reply.Result, nil
}

// The page fits a phone and a desktop, light and dark: nothing is wider than the screen.
// With $SCREENSHOTS pictures are kept in that folder.
func TestScreens(t *testing.T) {
	for name, size := range map[string][2]int64{"phone": {375, 812}, "desktop": {1280, 900}} {
		for _, scheme := range []string{"light", "dark"} {
			t.Run(name+" "+scheme, func(t *testing.T) {
				ctx, _, _ := tab(t, chromedp.EmulateViewport(size[0], size[1]), emulation.SetEmulatedMedia().WithFeatures([]*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}))
				do(t, ctx, chromedp.Click("#ask", chromedp.ByID), chromedp.WaitVisible("#deposit", chromedp.ByID), chromedp.WaitVisible("#steps li", chromedp.ByQuery), chromedp.Sleep(500*time.Millisecond))
				var wide int64
				var picture []byte
				do(t, ctx, chromedp.Evaluate(`document.documentElement.scrollWidth`, &wide), chromedp.FullScreenshot(&picture, 100))
				if wide > size[0] {
					t.Errorf("the page is %d wide on a screen of %d", wide, size[0])
				}
				if dir := os.Getenv("SCREENSHOTS"); dir != "" {
					if err := os.WriteFile(filepath.Join(dir, name+"-"+scheme+".png"), picture, 0o644); err != nil {
						t.Fatal(err)
					}
				}
			})
		}
	}
}
