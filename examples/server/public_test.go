//go:build unix

package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"math/big"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/swapper-go/swapper"
	"github.com/swapper-go/swapper/httpapi/webhook"
	"github.com/swapper-go/swapper/internal/pgtest"
	"github.com/swapper-go/swapper/internal/trial"
	"github.com/swapper-go/swapper/swappertest"
)

// gate stands before a backend that its operator reaches by a URL with keys, and answers in
// the backend's place while it fails.
type gate struct {
	url  string // with keys
	host string
	how  *atomic.Value // of ways, or ""
}

// ways are how a backend fails: what it answers names the URL and the key that were asked with.
var ways = map[string]func(w http.ResponseWriter, said string, calls int){
	"page":    func(w http.ResponseWriter, said string, _ int) { http.Error(w, said, http.StatusInternalServerError) },
	"access":  func(w http.ResponseWriter, said string, _ int) { http.Error(w, said, http.StatusForbidden) },
	"text":    func(w http.ResponseWriter, said string, _ int) { fmt.Fprintf(w, "<html>%s</html>", said) },
	"error":   func(w http.ResponseWriter, said string, calls int) { refuse(w, -32000, said, calls) },
	"refusal": func(w http.ResponseWriter, said string, calls int) { refuse(w, 55, said, calls) }, // Starknet's, of a transaction
	"nothing": func(http.ResponseWriter, string, int) { panic(http.ErrAbortHandler) },
}

// refuse answers every call of a batch, or the one call, with an error of a node.
func refuse(w io.Writer, code int, said string, calls int) {
	var all []string
	for i := range max(1, calls) {
		all = append(all, fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"error":{"code":%d,"message":%q,"data":%q}}`, i+1, code, said, said))
	}
	text := strings.Join(all, ",")
	if calls > 0 {
		text = "[" + text + "]"
	}
	_, _ = io.WriteString(w, text)
}

// cause is what every failing backend says, for logs.
const cause = "the-words-of-a-backend"

func newGate(t *testing.T, name, real string, how *atomic.Value) *gate {
	t.Helper()
	to, err := url.Parse(real)
	if err != nil {
		t.Fatal(err)
	}
	path := "/" + hidden(name+"-path")
	pass := httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) {
		r.Out.URL.Path, r.Out.URL.RawPath = strings.TrimPrefix(r.In.URL.Path, path), ""
		r.Out.URL.RawQuery = strings.TrimPrefix(strings.TrimPrefix(r.In.URL.RawQuery, "key="+hidden(name+"-query")), "&")
		r.Out.Header.Del("Authorization")
		r.SetURL(to)
		if r.Out.URL.Path == "/" && to.Path == "" {
			r.Out.URL.Path = ""
		}
	}}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fail := ways[how.Load().(string)]
		if fail == nil {
			pass.ServeHTTP(w, r)
			return
		}
		var batch []json.RawMessage
		body, _ := io.ReadAll(r.Body)
		_ = json.Unmarshal(body, &batch) // else it is one call, or none
		user, password, _ := r.BasicAuth()
		fail(w, fmt.Sprintf("%s at http://%s:%s@%s%s", cause, user, password, r.Host, r.URL), len(batch))
	}))
	t.Cleanup(server.Close)
	u, err := url.Parse(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	g := &gate{host: u.Host, how: how}
	u.Path = path
	u.User = url.UserPassword(hidden(name+"-user"), hidden(name+"-password"))
	if name != "bitcoin" { // to which paths and queries are added
		u.RawQuery = "key=" + hidden(name+"-query")
	}
	g.url = u.String()
	return g
}

// hidden is a text by which an access key is found again.
func hidden(name string) string { return name + "-0123456789abcdef" }

// A caller learns nothing of where the swaps are kept, which nodes are asked and by which
// keys, and what they say, whatever goes wrong. The log has what was said, and no key.
func TestBackendsStayInside(t *testing.T) {
	trial.OnlyFull(t)
	database := pgtest.Start(t)
	v := newTownWith(t, swappertest.Options{Solana: swappertest.SolanaOptions{Version: "v1"}, Starknet: swappertest.StarknetOptions{On: true}})
	var how atomic.Value
	how.Store("")
	secrets := map[string]string{"words": cause, "folder of the database": filepath.Dir(database.Socket()), "password of the database": hidden("database"), "schema": "swaps_of_mine"}
	var keys []string
	place := func(name, real string) string {
		g := newGate(t, name, real, &how)
		secrets["host of "+name] = g.host
		for _, part := range []string{"path", "query", "user", "password"} {
			secrets[part+" of "+name] = hidden(name + "-" + part)
			keys = append(keys, hidden(name+"-"+part))
		}
		return g.url
	}
	var network map[string]any
	if err := json.Unmarshal(v.text, &network); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"evm", "solana", "starknet"} {
		of := network[name].(map[string]any)
		of["rpc"] = place(name, of["rpc"].(string))
	}
	of := network["bitcoin"].(map[string]any)
	of["rest"] = place("bitcoin", of["rest"].(string))
	v.write("local.json", network)
	var hooked lockedBuffer
	shop := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { _, _ = io.Copy(&hooked, r.Body) }))
	defer shop.Close()
	t.Setenv("TEST_HOOK_SECRET", webhook.NewSecret())
	t.Setenv("TEST_PUBLIC_DATABASE", database.DSN()+" password="+hidden("database"))
	v.serve(map[string]any{"local": "local.json", "logLevel": "debug", "database": map[string]string{"dsnEnv": "TEST_PUBLIC_DATABASE", "schema": "swaps_of_mine"},
		"webhooks": map[string]any{"allowLocal": true, "endpoints": []any{map[string]any{"name": "shop", "url": shop.URL, "secretEnv": "TEST_HOOK_SECRET"}}}})

	// Swaps in the states in which something is to be asked or sent.
	user := v.net.User
	asks := []ask{
		{"getSupportedTokens", "?side=INPUT", nil}, {"getSwapCounterTokens", "?token=BITCOIN-BTC&side=INPUT", nil},
		{"getSwapLimits", "?srcToken=BITCOIN-BTC&dstToken=CITREA-WBTC", nil},
		{"getSpendableBalance", "?token=BITCOIN-BTC&wallet=" + user.Address("BITCOIN"), nil},
		{"parseAddress", "?address=" + url.QueryEscape(v.says.LNURL.Pay), nil},
		{"createGasSwap", "", map[string]any{"srcToken": "LIGHTNING-BTC", "chainId": "CITREA", "amount": "100000000000000", "dstAddress": user.Address("CITREA")}},
	}
	chains := map[string]string{"CITREA": "CITREA-WBTC", "SOLANA": "SOLANA-WBTC", "STARKNET": "STARKNET-WBTC"}
	for chain, token := range chains {
		at := user.Address(chain)
		in := v.fromLightning()
		in.DstToken, in.DstAddress = token, at
		out := swapper.CreateSwapInput{SrcToken: token, DstToken: "LIGHTNING-BTC", Amount: big.NewInt(20_000), AmountType: swapper.ExactOut, SrcAddress: at, DstAddress: v.says.LNURL.Pay}
		waits, pays := v.create(in), v.create(out)
		asks = append(asks, ask{"createSwap", "", created(in)}, ask{"createSwap", "", created(out)},
			ask{"settleWithLnurl", "", map[string]any{"swapId": waits.SwapID, "lnurlWithdraw": v.says.LNURL.Withdraw}},
			ask{"getSpendableBalance", "?token=" + token + "&wallet=" + at, nil}, ask{"listSwaps", "?signer=" + at, nil}, ask{"listPendingSwaps", "?signer=" + at, nil})
		if chain != "STARKNET" {
			in.SrcToken = "BITCOIN-BTC"
			asks = append(asks, ask{"createSwap", "", created(in)})
		}
		for _, s := range []*swapper.CreateSwapOutput{waits, pays} {
			asks = append(asks, ask{"getSwapStatus", "?swapId=" + s.SwapID, nil}, ask{"subscribe", "?swapId=" + s.SwapID, nil})
		}
		status, err := v.swaps.GetSwapStatus(t.Context(), swapper.GetSwapStatusInput{SwapID: pays.SwapID, SwapKey: pays.SwapKey})
		if err != nil {
			t.Fatal(err)
		}
		signed, err := user.Sign(status.CurrentAction)
		if err != nil {
			t.Fatalf("%s: %v", chain, err)
		}
		asks = append(asks, ask{"submitTransaction", "", map[string]any{"swapId": pays.SwapID, "signedTxs": signed}})
	}
	v.covers(asks)

	// The causes that only the log has: of each way in which backends fail.
	said := func(way string) string {
		from := len(v.log.String())
		v.askAll(way, asks, secrets)
		return v.log.String()[from:]
	}
	for _, way := range slices.Sorted(maps.Keys(ways)) {
		how.Store(way)
		log := said(way)
		if (way == "page" || way == "error" || way == "refusal") && !strings.Contains(log, cause) {
			t.Errorf("%s: the log does not say what the backends said", way)
		}
	}
	how.Store("")
	if err := database.Kill(); err != nil {
		t.Fatal(err)
	}
	if log := said("no database"); !strings.Contains(log, secrets["folder of the database"]) {
		t.Error("the log does not say which database is away")
	}
	if err := database.Restart(); err != nil {
		t.Fatal(err)
	}
	v.becomes("a database", http.StatusOK, "")
	for what, secret := range secrets {
		if i := strings.Index(hooked.String(), secret); i >= 0 {
			t.Errorf("a webhook has the %s: %s", what, hooked.String()[max(0, i-200):])
		}
	}
	for _, key := range append(keys, hidden("database")) {
		if log := v.log.String(); strings.Contains(log, key) {
			i := strings.Index(log, key)
			t.Errorf("the log has the key %s: %s", key, log[max(0, i-300):min(len(log), i+100)])
		}
	}
}

// ask is a request of an operation: a GET with a query, or a POST with a body.
type ask struct {
	operation, query string
	body             map[string]any
}

func created(in swapper.CreateSwapInput) map[string]any {
	return map[string]any{"srcToken": in.SrcToken, "dstToken": in.DstToken, "amount": in.Amount.String(), "amountType": in.AmountType, "srcAddress": in.SrcAddress, "dstAddress": in.DstAddress}
}

// covers fails the test if an operation of the document is not among the requests.
func (v *town) covers(asks []ask) {
	v.Helper()
	_, text := get(v.T, v.base+"/api/openapi.json", nil)
	var document struct{ Paths map[string]any }
	if err := json.Unmarshal([]byte(text), &document); err != nil {
		v.Fatal(err)
	}
	for _, a := range asks {
		delete(document.Paths, "/"+a.operation)
	}
	if len(document.Paths) > 0 {
		v.Errorf("not asked: %v", document.Paths)
	}
}

// askAll makes all requests at once, and looks for secrets in all answers. What an answer
// leaves out stands in the log below the number that the answer has.
func (v *town) askAll(way string, asks []ask, secrets map[string]string) {
	v.Helper()
	var asking sync.WaitGroup
	one := func(method, path string, body io.Reader) {
		asking.Go(func() {
			patience := time.Minute
			waits := strings.HasPrefix(path, "/api/subscribe") || path == "/api/settleWithLnurl" // for what may not come
			if waits {
				patience = 3 * time.Second
			}
			ctx, cancel := context.WithTimeout(v.Context(), patience)
			defer cancel()
			request, err := http.NewRequestWithContext(ctx, method, v.base+path, body)
			if err != nil {
				v.Error(err)
				return
			}
			if body != nil {
				request.Header.Set("Content-Type", "application/json")
			}
			answer, err := http.DefaultClient.Do(request)
			if err != nil {
				if ctx.Err() == nil || !waits {
					v.Errorf("%s: %s: %v", way, path, err)
				}
				return
			}
			defer answer.Body.Close()
			var text strings.Builder
			_, err = io.Copy(&text, bufio.NewReader(answer.Body)) // of a stream, until it has been long enough
			if err != nil && ctx.Err() == nil {
				v.Errorf("%s: %s: %v", way, path, err)
			}
			for name, values := range answer.Header {
				fmt.Fprintln(&text, name, values)
			}
			for what, secret := range secrets {
				if strings.Contains(text.String(), secret) {
					v.Errorf("%s: %s: the answer has the %s: %s", way, path, what, text.String())
				}
			}
			telling := path == "/readyz" || path == "/api/settleWithLnurl" // which names parts, or a link's host, as the caller may know
			if id := answer.Header.Get("X-Request-Id"); answer.StatusCode >= 500 && !telling && (id == "" || !strings.Contains(v.log.String(), id)) {
				v.Errorf("%s: %s: the log has no request %q: %d %s", way, path, id, answer.StatusCode, text.String())
			}
		})
	}
	for _, a := range asks {
		if a.body == nil {
			one(http.MethodGet, "/api/"+a.operation+a.query, nil)
			continue
		}
		text, err := json.Marshal(a.body)
		if err != nil {
			v.Fatal(err)
		}
		one(http.MethodPost, "/api/"+a.operation, bytes.NewReader(text))
	}
	one(http.MethodGet, "/healthz", nil)
	one(http.MethodGet, "/readyz", nil)
	asking.Wait()
}
