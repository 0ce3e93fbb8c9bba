package httpapi_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/big"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"

	"github.com/swapper-go/swapper"
	"github.com/swapper-go/swapper/httpapi"
)

const swapKey = "0f1e2d3c4b5a69788796a5b4c3d2e1f0"

// toldKeys keeps the keys and callers that a service was told.
type toldKeys struct {
	fake
	key    swapper.Secret
	caller string
}

func (s *toldKeys) GetSwapStatus(ctx context.Context, in swapper.GetSwapStatusInput) (*swapper.GetSwapStatusOutput, error) {
	s.key, s.caller = in.SwapKey, swapper.CallerOf(ctx)
	return s.fake.GetSwapStatus(ctx, in)
}

func (s *toldKeys) SubmitTransaction(ctx context.Context, in swapper.SubmitTransactionInput) (*swapper.SubmitTransactionOutput, error) {
	s.key = in.SwapKey
	return s.fake.SubmitTransaction(ctx, in)
}

func (s *toldKeys) SettleWithLnurl(ctx context.Context, in swapper.SettleWithLnurlInput) (*swapper.SettleWithLnurlOutput, error) {
	s.key = in.SwapKey
	return s.fake.SettleWithLnurl(ctx, in)
}

// A swap's key comes in a header or a body, once, and in no URL; a refusal does not repeat it.
func TestSwapKeys(t *testing.T) {
	s := &toldKeys{}
	h := httpapi.New(s, httpapi.Options{AcceptUnknown: true})
	for _, c := range []struct {
		name, method, target, body string
		headers                    []string
		status                     int
	}{
		{"header", "GET", "/getSwapStatus?swapId=sign", "", []string{swapKey}, 200},
		{"header of a POST", "POST", "/getSwapStatus", `{"swapId":"sign"}`, []string{swapKey}, 200},
		{"body", "POST", "/getSwapStatus", `{"swapId":"sign","swapKey":"` + swapKey + `"}`, nil, 200},
		{"body of submitTransaction", "POST", "/submitTransaction", `{"swapId":"a","signedTxs":["0x1"],"swapKey":"` + swapKey + `"}`, nil, 200},
		{"header of submitTransaction", "POST", "/submitTransaction", `{"swapId":"a","signedTxs":["0x1"]}`, []string{swapKey}, 200},
		{"body of settleWithLnurl", "POST", "/settleWithLnurl", `{"swapId":"a","swapKey":"` + swapKey + `"}`, nil, 200},
		{"header of settleWithLnurl", "POST", "/settleWithLnurl", `{"swapId":"a"}`, []string{swapKey}, 200},
		{"empty header", "GET", "/getSwapStatus?swapId=sign", "", []string{""}, 200},
		{"URL", "GET", "/getSwapStatus?swapId=sign&swapKey=" + swapKey, "", nil, 400},
		{"URL of a HEAD", "HEAD", "/getSwapStatus?swapId=sign&swapKey=" + swapKey, "", nil, 400},
		{"URL of a POST", "POST", "/getSwapStatus?swapKey=" + swapKey, `{"swapId":"sign"}`, nil, 200}, // as any other, it is not read
		{"header twice", "GET", "/getSwapStatus?swapId=sign", "", []string{swapKey, swapKey}, 400},
		{"header and body", "POST", "/getSwapStatus", `{"swapId":"sign","swapKey":"` + swapKey + `"}`, []string{swapKey}, 400},
		{"too short", "GET", "/getSwapStatus?swapId=sign", "", []string{swapKey[:31]}, 400},
		{"no digits", "GET", "/getSwapStatus?swapId=sign", "", []string{swapKey[:31] + "g"}, 400},
	} {
		s.key = ""
		r := httptest.NewRequest(c.method, c.target, strings.NewReader(c.body))
		r.Header.Set("Content-Type", "application/json")
		for _, k := range c.headers {
			r.Header.Add("swap-key", k)
		}
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		want := swapper.Secret("")
		if c.status == 200 && !strings.HasPrefix(c.name, "URL") && c.name != "empty header" {
			want = swapKey
		}
		if w.Code != c.status || s.key != want || strings.Contains(w.Body.String(), swapKey[:8]) {
			t.Errorf("%s: %d %s, key %q", c.name, w.Code, w.Body, s.key.Reveal())
		}
		if c.status == 400 && c.method != "HEAD" && !strings.Contains(w.Body.String(), `"field":"swapKey"`) {
			t.Errorf("%s: %s", c.name, w.Body)
		}
	}
}

// The remote client shows the key of a swap that it has created, or the one that it is
// given, in the header alone.
func TestRemoteClientKeepsKeys(t *testing.T) {
	var asked []string
	next := httpapi.New(&toldKeys{}, httpapi.Options{})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		if strings.Contains(r.URL.String()+string(body), swapKey) {
			t.Errorf("%s %s carries the key in the URL or the body: %s", r.Method, r.URL.Path, body)
		}
		asked = append(asked, fmt.Sprintf("%s %q", strings.TrimPrefix(r.URL.Path, "/"), r.Header.Values("Swap-Key")))
		r.Body = io.NopCloser(strings.NewReader(string(body)))
		next.ServeHTTP(w, r)
	}))
	defer server.Close()
	ctx := t.Context()
	use := func(c swapper.Service, key swapper.Secret) {
		t.Helper()
		_, _ = c.GetSwapStatus(ctx, swapper.GetSwapStatusInput{SwapID: "new", SwapKey: key})
		_, _ = c.GetSwapStatus(ctx, swapper.GetSwapStatusInput{SwapID: "new", Secret: preimage, SwapKey: key})
		_, _ = c.SubmitTransaction(ctx, swapper.SubmitTransactionInput{SwapID: "new", SignedTxs: []string{"0x1"}, SwapKey: key})
		_, _ = c.SettleWithLnurl(ctx, swapper.SettleWithLnurlInput{SwapID: "new", SwapKey: key})
	}
	all := func(key string) string {
		return fmt.Sprintf("getSwapStatus %[1]s, getSwapStatus %[1]s, submitTransaction %[1]s, settleWithLnurl %[1]s", key)
	}
	expect := func(want string) {
		t.Helper()
		if got := strings.Join(asked, ", "); got != want {
			t.Errorf("asked %s\nwant  %s", got, want)
		}
		asked = nil
	}
	c := dial(t, server.URL, httpapi.ClientOptions{})
	use(c, "")
	expect(all("[]"))
	use(c, "ffffffffffffffffffffffffffffffff")
	expect(all(`["ffffffffffffffffffffffffffffffff"]`))
	created, err := c.CreateSwap(ctx, swapper.CreateSwapInput{SrcToken: "a", DstToken: "b", Amount: big.NewInt(1), AmountType: swapper.ExactIn, DstAddress: "d"})
	if err != nil || created.SwapKey != swapKey {
		t.Fatalf("%+v, %v", created, err)
	}
	asked = nil
	use(c, "")
	expect(all(`["` + swapKey + `"]`))
	_, _ = c.ListSwaps(ctx, swapper.ListSwapsInput{Signer: "a"})
	_, _ = c.GetSwapStatus(ctx, swapper.GetSwapStatusInput{SwapID: "sign"})
	expect("listSwaps [], getSwapStatus []")
	if text, err := json.Marshal(created); err != nil || strings.Contains(string(text)+fmt.Sprintf("%v %+v %#v", created, created, *created), swapKey) {
		t.Errorf("the output shows its key: %s %v", text, err)
	}
}

// Where a request comes from counts only where it is known.
func TestAddressOfACaller(t *testing.T) {
	for _, c := range []struct {
		name, remote string
		header       http.Header
		address      func(*http.Request) netip.Addr
		want         netip.Addr
	}{
		{"the connection's", "203.0.113.9:80", nil, nil, netip.MustParseAddr("203.0.113.9")},
		{"a proxy that says so", "203.0.113.9:80", http.Header{"X-Forwarded-For": {"198.51.100.1"}}, nil, netip.Addr{}},
		{"another that says so", "203.0.113.9:80", http.Header{"Via": {"1.1 x"}}, nil, netip.Addr{}},
		{"a socket without addresses", "@", nil, nil, netip.Addr{}},
		{"said by an option", "203.0.113.9:80", http.Header{"X-Forwarded-For": {"198.51.100.1"}}, func(*http.Request) netip.Addr {
			return netip.MustParseAddr("198.51.100.1")
		}, netip.MustParseAddr("198.51.100.1")},
	} {
		var got netip.Addr
		h := httpapi.New(&fake{}, httpapi.Options{Address: c.address, Operations: []httpapi.Operation{{Name: "who", Item: json.RawMessage(`{}`), Handler: http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			got = swapper.AddressOf(r.Context())
		})}}})
		r := httptest.NewRequest("GET", "/who", nil)
		r.RemoteAddr = c.remote
		for name, values := range c.header {
			r.Header[name] = values
		}
		h.ServeHTTP(httptest.NewRecorder(), r)
		if got != c.want {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}
