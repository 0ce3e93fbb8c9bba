package httpapi_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/swapper-go/swapper/httpapi"
	"github.com/swapper-go/swapper/internal/vectors"
)

// No request makes the handler panic, and every answer is JSON with a fitting
// status.
func FuzzHandler(f *testing.F) {
	for path := range methods {
		f.Add("GET", "/api/"+path, "swapId=send&address=bc1&signer=a&side=INPUT&token=t&wallet=w&srcToken=a&dstToken=b", "", []byte(nil))
		f.Add("POST", "/api/"+path, "", "application/json", []byte("{"+good+"}"))
	}
	f.Add("POST", "/api/createSwap", "", "application/json; charset=utf-8", []byte(`{"srcToken":"a","amount":1e400}`))
	f.Add("HEAD", "/api/openapi.json", "", "", []byte(nil))
	f.Add("GET", "/api", "", "", []byte(nil))
	f.Add("POST", "/api/submitTransaction", "", "application/json", []byte(`{"swapId":"a","signedTxs":["00","ÿ"]}`))
	f.Add("POST", "/api/getSwapStatus", "", "application/json", []byte(`{"swapId":"psbt","bitcoinFeeRate":"1.5"}`))
	f.Add("GET", "/api/getSpendableBalance", "wallet=w&token=t&feeRate=1,2,3;v3&gasDrop=true&minBitcoinFeeRate=.5", "", []byte(nil))
	strict := httpapi.New(&fake{}, httpapi.Options{BasePath: "/api", Logger: slog.New(slog.DiscardHandler)})
	loose := httpapi.New(&fake{}, httpapi.Options{BasePath: "/api", AcceptUnknown: true, Logger: slog.New(slog.DiscardHandler)})
	f.Fuzz(func(t *testing.T, method, path, query, contentType string, body []byte) {
		for _, h := range []http.Handler{strict, loose} {
			r := &http.Request{Method: method, URL: &url.URL{Path: path, RawQuery: query}, Header: http.Header{}, Body: io.NopCloser(bytes.NewReader(body))}
			r.Header.Set("Content-Type", contentType)
			r = r.WithContext(context.Background())
			w := httptest.NewRecorder()
			h.ServeHTTP(w, r)
			check(t, r, w)
		}
	})
}

func check(t *testing.T, r *http.Request, w *httptest.ResponseRecorder) {
	t.Helper()
	if got := w.Header().Get("Content-Type"); got != "application/json; charset=utf-8" {
		t.Errorf("content type %q", got)
	}
	text := w.Body.Bytes()
	if r.Method == http.MethodHead {
		if len(text) > 0 {
			t.Errorf("body of HEAD: %s", text)
		}
		return
	}
	if !json.Valid(text) || !utf8.Valid(text) {
		t.Fatalf("not JSON: %q", text)
	}
	// The fake fails with any code, and panics, when an input asks it to.
	provoked := strings.Contains(w.Body.String(), "secret detail of")
	switch w.Code {
	case 200:
		return
	case 400, 404, 405, 409, 413, 414, 415, 502, 504:
	case 500:
		var e map[string]string
		if json.Unmarshal(text, &e) != nil || e["error"] != "internal error" || provoked {
			t.Errorf("internal error %s", text)
		}
	default:
		t.Errorf("status %d", w.Code)
	}
	var e struct{ Error, Code, Field, Min, Max string }
	if err := json.Unmarshal(text, &e); err != nil || e.Error == "" || e.Code == "" {
		t.Errorf("error body %s: %v", text, err)
	}
	if len(text) > 4096 {
		t.Errorf("error of %d bytes", len(text))
	}
}

// Every input of the vectors is answered, whichever operation it is sent to.
func TestVectorInputsEverywhere(t *testing.T) {
	h := httpapi.New(&fake{}, httpapi.Options{})
	for _, c := range vectors.Load(t, "utilities", "api_input").Cases {
		var in struct{ JSON string }
		c.Input(t, &in)
		for name := range methods {
			w, _ := ask(t, h, http.MethodPost, "/"+name, "application/json", strings.NewReader(in.JSON))
			if w.Code >= 500 {
				t.Errorf("%s: %s: %d %s", c.Name, name, w.Code, w.Body)
			}
		}
	}
}
