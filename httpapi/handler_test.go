package httpapi_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/iotest"
	"testing/synctest"
	"time"

	"github.com/swapper-go/swapper"
	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/httpapi"
	"github.com/swapper-go/swapper/internal/devnet/loopback"
	"github.com/swapper-go/swapper/internal/trial"
)

// ask sends a request to a handler and returns the answer with its error body.
func ask(t testing.TB, h http.Handler, method, target, contentType string, body io.Reader) (*httptest.ResponseRecorder, map[string]string) {
	t.Helper()
	r := httptest.NewRequest(method, target, body)
	if contentType != "" {
		r.Header.Set("Content-Type", contentType)
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	e := map[string]string{}
	if w.Code != http.StatusOK && method != http.MethodHead {
		if err := json.Unmarshal(w.Body.Bytes(), &e); err != nil {
			t.Fatalf("%s %s: body %q: %v", method, target, w.Body, err)
		}
	}
	return w, e
}

const good = `"srcToken":"BITCOIN-BTC","dstToken":"CITREA-CBTC","amount":"100","amountType":"EXACT_IN","dstAddress":"x"`

func TestBadInput(t *testing.T) {
	h := httpapi.New(&fake{}, httpapi.Options{})
	with := func(more string) string { return "{" + good + "," + more + "}" }
	for _, tt := range []struct {
		name, method, target, contentType, body string
		status                                  int
		code, field                             string
	}{
		{"unknown operation", "GET", "/nope", "", "", 404, "unsupported", "path"},
		{"root", "GET", "/", "", "", 404, "unsupported", "path"},
		{"slash at the end", "GET", "/parseAddress/?address=bc1", "", "", 404, "unsupported", "path"},
		{"other case", "GET", "/PARSEADDRESS?address=bc1", "", "", 404, "unsupported", "path"},
		{"POST to a GET operation", "POST", "/parseAddress?address=bc1", "application/json", "{}", 405, "unsupported", "method"},
		{"GET to a POST operation", "GET", "/createSwap", "", "", 405, "unsupported", "method"},
		{"HEAD to a POST operation", "HEAD", "/createSwap", "", "", 405, "unsupported", "method"},
		{"OPTIONS", "OPTIONS", "/createSwap", "", "", 405, "unsupported", "method"},
		{"odd method", "BREW", "/getSwapStatus", "", "", 405, "unsupported", "method"},
		{"POST to the document", "POST", "/openapi.json", "", "", 405, "unsupported", "method"},

		{"no content type", "POST", "/createSwap", "", "{}", 415, "invalid_input", "content-type"},
		{"form", "POST", "/createSwap", "application/x-www-form-urlencoded", "a=b", 415, "invalid_input", "content-type"},
		{"nearly JSON type", "POST", "/createSwap", "application/json-patch", "{}", 415, "invalid_input", "content-type"},
		{"no body", "POST", "/createSwap", "application/json", "", 400, "invalid_input", "body"},
		{"blank body", "POST", "/createSwap", "application/json", " \n", 400, "invalid_input", "body"},
		{"broken JSON", "POST", "/createSwap", "application/json", "{", 400, "invalid_input", "body"},
		{"trailing data", "POST", "/createSwap", "application/json", "{" + good + "} {}", 400, "invalid_input", "body"},
		{"trailing comma", "POST", "/createSwap", "application/json", "{" + good + ",}", 400, "invalid_input", "body"},
		{"comment", "POST", "/createSwap", "application/json", "/**/{" + good + "}", 400, "invalid_input", "body"},
		{"NaN", "POST", "/createSwap", "application/json", with(`"gasAmount":NaN`), 400, "invalid_input", "body"},
		{"Infinity", "POST", "/createSwap", "application/json", with(`"gasAmount":-Infinity`), 400, "invalid_input", "body"},
		{"leading zero in JSON", "POST", "/createSwap", "application/json", with(`"gasAmount":01`), 400, "invalid_input", "body"},
		{"array", "POST", "/createSwap", "application/json", "[]", 400, "invalid_input", "body"},
		{"null", "POST", "/createSwap", "application/json", "null", 400, "invalid_input", "body"},
		{"string", "POST", "/createSwap", "application/json", `"x"`, 400, "invalid_input", "body"},
		{"invalid UTF-8", "POST", "/createSwap", "application/json", with("\"srcAddress\":\"\xff\""), 400, "invalid_input", "body"},
		{"overlong UTF-8", "POST", "/createSwap", "application/json", with("\"srcAddress\":\"\xc0\x80\""), 400, "invalid_input", "body"},
		{"half a surrogate pair", "POST", "/createSwap", "application/json", with(`"srcAddress":"\ud800"`), 400, "invalid_input", "body"},
		{"two low surrogates", "POST", "/createSwap", "application/json", with(`"srcAddress":"\udc00\udc00"`), 400, "invalid_input", "body"},
		{"control character", "POST", "/createSwap", "application/json", with("\"srcAddress\":\"\x01\""), 400, "invalid_input", "body"},
		{"deep nesting", "POST", "/createSwap", "application/json", strings.Repeat("[", 10000) + strings.Repeat("]", 10000), 400, "invalid_input", "body"},
		{"many values", "POST", "/submitTransaction", "application/json", `{"swapId":"a","signedTxs":[` + strings.Repeat(`"",`, 5000) + `""]}`, 400, "invalid_input", "body"},
		{"oversized", "POST", "/createSwap", "application/json", with(`"srcAddress":"` + strings.Repeat("a", 64<<10) + `"`), 413, "invalid_input", "body"},
		{"oversized submission", "POST", "/submitTransaction", "application/json", `{"swapId":"` + strings.Repeat("a", 1<<20) + `"}`, 413, "invalid_input", "body"},

		{"duplicate key", "POST", "/createSwap", "application/json", with(`"amount":"101"`), 400, "invalid_input", "amount"},
		{"duplicate key by escape", "POST", "/createSwap", "application/json", with(`"amoun\u0074":"101"`), 400, "invalid_input", "amount"},
		{"duplicate key inside", "POST", "/createSwap", "application/json", with(`"x":{"a":1,"a":2}`), 400, "invalid_input", "x.a"},
		{"unknown field", "POST", "/createSwap", "application/json", with(`"lightningPaymentHTLCTimout":5`), 400, "invalid_input", "lightningPaymentHTLCTimout"},
		{"field in another case", "POST", "/createSwap", "application/json", with(`"GasAmount":5`), 400, "invalid_input", "GasAmount"},
		{"prototype", "POST", "/createSwap", "application/json", with(`"__proto__":{}`), 400, "invalid_input", "__proto__"},
		{"query on POST", "POST", "/createSwap?amount=1", "application/json", "{" + good + "}", 400, "invalid_input", "amount"},
		{"missing", "POST", "/createSwap", "application/json", "{}", 400, "invalid_input", "srcToken"},
		{"null in a required field", "POST", "/createSwap", "application/json", strings.Replace("{"+good+"}", `"100"`, "null", 1), 400, "invalid_input", "amount"},
		{"number for a text", "POST", "/createSwap", "application/json", with(`"srcAddress":5`), 400, "invalid_input", "srcAddress"},
		{"boolean for an integer", "POST", "/createSwap", "application/json", with(`"gasAmount":true`), 400, "invalid_input", "gasAmount"},
		{"array for an integer", "POST", "/createSwap", "application/json", with(`"gasAmount":[1]`), 400, "invalid_input", "gasAmount"},
		{"exponent in an integer", "POST", "/createSwap", "application/json", with(`"gasAmount":1e3`), 400, "invalid_input", "gasAmount"},
		{"fraction in an integer", "POST", "/createSwap", "application/json", with(`"gasAmount":1.0`), 400, "invalid_input", "gasAmount"},
		{"exponent in a text", "POST", "/createSwap", "application/json", with(`"gasAmount":"1e3"`), 400, "invalid_input", "gasAmount"},
		{"blanks around an integer", "POST", "/createSwap", "application/json", with(`"gasAmount":" 12 "`), 400, "invalid_input", "gasAmount"},
		{"hexadecimal", "POST", "/createSwap", "application/json", with(`"gasAmount":"0x10"`), 400, "invalid_input", "gasAmount"},
		{"underscore", "POST", "/createSwap", "application/json", with(`"gasAmount":"1_000"`), 400, "invalid_input", "gasAmount"},
		{"foreign digits", "POST", "/createSwap", "application/json", with(`"gasAmount":"١٢"`), 400, "invalid_input", "gasAmount"},
		{"only a sign", "POST", "/createSwap", "application/json", with(`"gasAmount":"+"`), 400, "invalid_input", "gasAmount"},
		{"two signs", "POST", "/createSwap", "application/json", with(`"gasAmount":"+-1"`), 400, "invalid_input", "gasAmount"},
		{"minus zero", "POST", "/createSwap", "application/json", with(`"gasAmount":-0`), 400, "invalid_input", "gasAmount"},
		{"unsafe number", "POST", "/createSwap", "application/json", with(`"gasAmount":9007199254740992`), 400, "invalid_input", "gasAmount"},
		{"endless integer", "POST", "/createSwap", "application/json", with(`"gasAmount":"` + strings.Repeat("9", 60000) + `"`), 400, "invalid_input", "gasAmount"},
		{"empty integer", "POST", "/createSwap", "application/json", with(`"gasAmount":""`), 400, "invalid_input", "gasAmount"},
		{"exponent in a duration", "POST", "/createSwap", "application/json", with(`"lightningPaymentHTLCTimeout":1e3`), 400, "invalid_input", "lightningPaymentHTLCTimeout"},
		{"fraction of a second", "POST", "/createSwap", "application/json", with(`"lightningPaymentHTLCTimeout":"1.0000000000000000000000001"`), 400, "invalid_input", "lightningPaymentHTLCTimeout"},
		{"duration beyond all bounds", "POST", "/createSwap", "application/json", with(`"lightningPaymentHTLCTimeout":9223372036854775807`), 400, "invalid_input", "lightningPaymentHTLCTimeout"},
		{"bad item", "POST", "/submitTransaction", "application/json", `{"swapId":"a","signedTxs":["00",1]}`, 400, "invalid_input", "signedTxs[1]"},
		{"null item", "POST", "/submitTransaction", "application/json", `{"swapId":"a","signedTxs":[null]}`, 400, "invalid_input", "signedTxs[0]"},
		{"empty item", "POST", "/submitTransaction", "application/json", `{"swapId":"a","signedTxs":["00",""]}`, 400, "invalid_input", "signedTxs[1]"},

		{"missing parameter", "GET", "/parseAddress", "", "", 400, "invalid_input", "address"},
		{"empty parameter", "GET", "/parseAddress?address=", "", "", 400, "invalid_input", "address"},
		{"repeated parameter", "GET", "/parseAddress?address=bc1&address=bc1", "", "", 400, "invalid_input", "address"},
		{"repeated by escape", "GET", "/parseAddress?address=bc1&%61ddress=bc1", "", "", 400, "invalid_input", "address"},
		{"field without a name", "POST", "/createSwap", "application/json", with(`"":5`), 400, "invalid_input", `""`},
		{"fields without a name", "POST", "/createSwap", "application/json", with(`"":5,"":5`), 400, "invalid_input", `""`},
		{"parameter without a name", "GET", "/parseAddress?address=bc1&=1", "", "", 400, "invalid_input", `""`},
		{"unknown parameter", "GET", "/parseAddress?address=bc1&x=1", "", "", 400, "invalid_input", "x"},
		{"broken escape", "GET", "/parseAddress?address=%25&address2=%", "", "", 400, "invalid_input", "address2"},
		{"broken name", "GET", "/parseAddress?%zz=1", "", "", 400, "invalid_input", "query"},
		{"invalid UTF-8 parameter", "GET", "/parseAddress?address=%ff", "", "", 400, "invalid_input", "address"},
		{"long query", "GET", "/parseAddress?address=" + strings.Repeat("a", 33<<10), "", "", 414, "invalid_input", "query"},
		{"long address", "GET", "/parseAddress?address=" + strings.Repeat("a", 9000), "", "", 400, "invalid_input", "address"},
		{"many parameters", "GET", "/parseAddress?" + manyParameters(65), "", "", 400, "invalid_input", "query"},
		{"NaN parameter", "GET", "/getSwapStatus?swapId=a&bitcoinFeeRate=NaN", "", "", 400, "invalid_input", "bitcoinFeeRate"},
		{"infinite parameter", "GET", "/getSwapStatus?swapId=a&bitcoinFeeRate=Infinity", "", "", 400, "invalid_input", "bitcoinFeeRate"},
		{"zero rate", "GET", "/getSwapStatus?swapId=a&bitcoinFeeRate=0", "", "", 400, "invalid_input", "bitcoinFeeRate"},
		{"exponent parameter", "GET", "/getSwapStatus?swapId=a&bitcoinFeeRate=1e1", "", "", 400, "invalid_input", "bitcoinFeeRate"},
		{"boolean in capitals", "GET", "/getSpendableBalance?wallet=w&token=t&gasDrop=TRUE", "", "", 400, "invalid_input", "gasDrop"},
		{"boolean without value", "GET", "/getSpendableBalance?wallet=w&token=t&gasDrop", "", "", 400, "invalid_input", "gasDrop"},
		{"bad secret", "GET", "/getSwapStatus?swapId=send&secret=c0ffee", "", "", 400, "invalid_input", "secret"},
		{"unknown swap", "GET", "/getSwapStatus?swapId=nope", "", "", 404, "not_found", ""},
	} {
		w, e := ask(t, h, tt.method, tt.target, tt.contentType, strings.NewReader(tt.body))
		if w.Code != tt.status || tt.method != "HEAD" && (e["code"] != tt.code || e["field"] != tt.field || e["error"] == "") {
			t.Errorf("%s: %d %v, want %d %s %s", tt.name, w.Code, e, tt.status, tt.code, tt.field)
		}
		if strings.Contains(w.Body.String(), "c0ffee") {
			t.Errorf("%s: the answer repeats a secret: %s", tt.name, w.Body)
		}
		if (w.Code == 405) != (w.Header().Get("Allow") != "") {
			t.Errorf("%s: %d with Allow %q", tt.name, w.Code, w.Header().Get("Allow"))
		}
		for name, want := range map[string]string{"Content-Type": "application/json; charset=utf-8", "Cache-Control": "no-store", "X-Content-Type-Options": "nosniff"} {
			if got := w.Header().Get(name); got != want {
				t.Errorf("%s: %s %q", tt.name, name, got)
			}
		}
	}
}

func manyParameters(n int) string {
	var b strings.Builder
	for i := range n {
		b.WriteString("p")
		b.WriteString(strings.Repeat("x", i))
		b.WriteString("=1&")
	}
	return b.String()
}

func TestGoodInput(t *testing.T) {
	for _, tt := range []struct {
		name, method, target, contentType, body string
		opts                                    httpapi.Options
	}{
		{"plain", "POST", "/createSwap", "application/json", "{" + good + "}", httpapi.Options{}},
		{"content type with parameters", "POST", "/createSwap", "Application/JSON; charset=UTF-8; x=y", "{" + good + "}", httpapi.Options{}},
		{"spaces, escapes, nulls", "POST", "/createSwap", "application/json", "\t{\r\n" + good + `, "srcAddress": null,"lightningInvoiceDescription":"\u00e9\ud83d\ude00\/\n" } `, httpapi.Options{}},
		{"sign, zeros, safe number", "POST", "/createSwap", "application/json", "{" + good + `,"gasAmount":9007199254740991,"lightningPaymentHTLCTimeout":"+0600.0"}`, httpapi.Options{}},
		{"unknown fields accepted", "POST", "/createSwap?y=1", "application/json", "{" + good + `,"x":{"y":[1e5,null]}}`, httpapi.Options{AcceptUnknown: true}},
		{"status by POST", "POST", "/getSwapStatus", "application/json", `{"swapId":"send","secret":"` + preimage + `"}`, httpapi.Options{}},
		{"status by GET", "GET", "/getSwapStatus?swapId=send&secret=" + preimage, "", "", httpapi.Options{}},
		{"semicolon, comma", "GET", "/getSpendableBalance?wallet=w&token=t&feeRate=1000;500", "", "", httpapi.Options{}},
		{"plus and percent", "GET", "/parseAddress?address=pay+without", "", "", httpapi.Options{}},
		{"empty pairs", "GET", "/parseAddress?&address=bc1&&", "", "", httpapi.Options{}},
		{"unknown parameters accepted", "GET", "/parseAddress?address=bc1&x=1", "", "", httpapi.Options{AcceptUnknown: true}},
		{"below a base", "GET", "/v1/api/parseAddress?address=bc1", "", "", httpapi.Options{BasePath: "v1/api/"}},
		{"document", "GET", "/openapi.json", "", "", httpapi.Options{}},
	} {
		h := httpapi.New(&fake{}, tt.opts)
		w, e := ask(t, h, tt.method, tt.target, tt.contentType, strings.NewReader(tt.body))
		if w.Code != http.StatusOK {
			t.Errorf("%s: %d %v", tt.name, w.Code, e)
		}
		if tt.method != http.MethodGet {
			continue
		}
		head, _ := ask(t, h, http.MethodHead, tt.target, "", nil)
		if head.Code != http.StatusOK || head.Body.Len() > 0 || head.Header().Get("Content-Length") != w.Header().Get("Content-Length") {
			t.Errorf("%s: HEAD %d %v %q", tt.name, head.Code, head.Header(), head.Body)
		}
	}
}

func TestMount(t *testing.T) {
	for base, paths := range map[string]struct{ good, bad []string }{
		"/api":    {[]string{"/api/parseAddress"}, []string{"/api", "/api/", "/api/nope"}},
		"v1/api/": {[]string{"/v1/api/parseAddress"}, []string{"/v1/api", "/v1/api/api/parseAddress"}},
		"/":       {[]string{"/parseAddress"}, []string{"/", "/api/parseAddress"}},
		"":        {[]string{"/parseAddress"}, []string{"/", "/nope"}},
	} {
		mux := http.NewServeMux()
		httpapi.Mount(mux, base, &fake{}, httpapi.Options{})
		for _, path := range paths.good {
			if w, e := ask(t, mux, http.MethodGet, path+"?address=bc1", "", nil); w.Code != http.StatusOK {
				t.Errorf("%q: %s: %d %v", base, path, w.Code, e)
			}
		}
		for _, path := range paths.bad {
			if w, e := ask(t, mux, http.MethodGet, path+"?address=bc1", "", nil); w.Code != http.StatusNotFound || e["code"] != "unsupported" {
				t.Errorf("%q: %s: %d %v", base, path, w.Code, e)
			}
		}
	}
	mux := http.NewServeMux() // beside other things, and with the options that are given
	mux.HandleFunc("/healthz", func(http.ResponseWriter, *http.Request) {})
	httpapi.Mount(mux, "/api", &fake{}, httpapi.Options{AcceptUnknown: true, BasePath: "/not/this"})
	if w, e := ask(t, mux, http.MethodGet, "/api/parseAddress?address=bc1&x=1", "", nil); w.Code != http.StatusOK {
		t.Errorf("%d %v", w.Code, e)
	}
}

// slow answers when its context ends.
type slow struct{ fake }

func (s *slow) ParseAddress(ctx context.Context, _ swapper.ParseAddressInput) (*swapper.ParseAddressOutput, error) {
	<-ctx.Done()
	return nil, ctx.Err()
}

func (s *slow) SubmitTransaction(ctx context.Context, _ swapper.SubmitTransactionInput) (*swapper.SubmitTransactionOutput, error) {
	select {
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-time.After(300 * time.Millisecond):
		return &swapper.SubmitTransactionOutput{}, nil
	}
}

func TestDeadline(t *testing.T) {
	h := httpapi.New(&slow{}, httpapi.Options{Deadlines: httpapi.Deadlines{Default: 10 * time.Millisecond}})
	if w, e := ask(t, h, http.MethodGet, "/parseAddress?address=bc1", "", nil); w.Code != http.StatusGatewayTimeout || e["code"] != "timeout" {
		t.Errorf("%d %v", w.Code, e)
	}
}

func TestWaitingOutlivesTheServersTimeouts(t *testing.T) {
	t.Parallel()
	in := swapper.SubmitTransactionInput{SwapID: "a", SignedTxs: []string{"00"}}
	for _, tt := range []struct{ read, write time.Duration }{{0, 0}, {50 * time.Millisecond, 0}, {0, 50 * time.Millisecond}, {50 * time.Millisecond, 50 * time.Millisecond}} {
		t.Run(fmt.Sprintf("read %s, write %s", tt.read, tt.write), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				network := new(loopback.Network)
				listener := trial.Must(network.Listen(""))(t)
				server := &http.Server{Handler: httpapi.New(&slow{}, httpapi.Options{}), ReadTimeout: tt.read, WriteTimeout: tt.write}
				go func() { _ = server.Serve(listener) }()
				defer server.Close()
				transport := network.Transport()
				defer transport.CloseIdleConnections()
				client := dial(t, "http://"+listener.Addr().String(), httpapi.ClientOptions{HTTP: &http.Client{Transport: transport}})
				for range 2 { // the second on the same connection
					if _, err := client.SubmitTransaction(t.Context(), in); err != nil {
						t.Error(err)
					}
				}
			})
		})
	}
	server := httptest.NewServer(httpapi.New(&slow{}, httpapi.Options{Deadlines: httpapi.Deadlines{SubmitTransaction: time.Nanosecond}}))
	defer server.Close()
	if _, err := dial(t, server.URL, httpapi.ClientOptions{}).SubmitTransaction(t.Context(), in); fault.CodeOf(err) != fault.Timeout {
		t.Error(err)
	}
}

// broken answers with nothing, and with what cannot be encoded.
type broken struct{ fake }

func (b *broken) ParseAddress(context.Context, swapper.ParseAddressInput) (*swapper.ParseAddressOutput, error) {
	return nil, nil
}

func (b *broken) GetSwapStatus(context.Context, swapper.GetSwapStatusInput) (*swapper.GetSwapStatusOutput, error) {
	return &swapper.GetSwapStatusOutput{CurrentAction: &swapper.SignPSBT{}}, nil
}

func TestBrokenService(t *testing.T) {
	h := httpapi.New(&broken{}, httpapi.Options{})
	for _, target := range []string{"/parseAddress?address=bc1", "/getSwapStatus?swapId=a"} {
		if w, e := ask(t, h, http.MethodGet, target, "", nil); w.Code != http.StatusInternalServerError || e["error"] != "internal error" {
			t.Errorf("%s: %d %v", target, w.Code, e)
		}
	}
}

// closed is a service after Close.
type closed struct{ fake }

func (closed) ParseAddress(context.Context, swapper.ParseAddressInput) (*swapper.ParseAddressOutput, error) {
	return nil, fmt.Errorf("parse: %w", swapper.ErrClosed)
}

func TestClosedService(t *testing.T) {
	w, e := ask(t, httpapi.New(&closed{}, httpapi.Options{}), http.MethodGet, "/parseAddress?address=bc1", "", nil)
	if w.Code != http.StatusServiceUnavailable || e["error"] != "the client is closed" || e["code"] != "internal" {
		t.Errorf("%d %v", w.Code, e)
	}
}

func TestBodyThatBreaksOff(t *testing.T) {
	w, e := ask(t, httpapi.New(&fake{}, httpapi.Options{}), http.MethodPost, "/createSwap", "application/json", iotest.ErrReader(errors.New("gone")))
	if w.Code != http.StatusBadRequest || e["field"] != "body" {
		t.Errorf("%d %v", w.Code, e)
	}
}
