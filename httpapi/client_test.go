package httpapi_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/swapper-go/swapper"
	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/httpapi"
)

func TestClientReadsWhatItCan(t *testing.T) {
	const address = `{"address":"bc1","type":"BITCOIN","novelty":{"a":[1]},"amount":{"amount":"1.00","rawAmount":"100","decimals":2,"symbol":"X","chain":"Y","more":true}}`
	for _, tt := range []struct {
		name, contentType, body string
		status                  int
		code                    fault.Code // of the error; empty: none
		text                    string     // in the error
	}{
		{"unknown members", "application/json", address, 200, "", ""},
		{"no content type", "", address, 200, "", ""},
		{"null", "application/json", "null", 200, fault.Upstream, ""},
		{"empty", "application/json", "", 200, fault.Upstream, ""},
		{"array", "application/json", "[]", 200, fault.Upstream, ""},
		{"HTML", "text/html", "<html>", 200, fault.Upstream, ""},
		{"cut off", "application/json", address[:50], 200, fault.Upstream, ""},
		{"amount that is no integer", "application/json", strings.Replace(address, `"100"`, `"1e2"`, 1), 200, fault.Upstream, "rawAmount"},
		{"endless amount", "application/json", strings.Replace(address, `"100"`, `"`+strings.Repeat("9", 1000)+`"`, 1), 200, fault.Upstream, "rawAmount"},
		{"LNURL of another kind", "application/json", `{"address":"a","type":"LNURL","lnurl":{"type":"channel"}}`, 200, fault.Upstream, "channel"},
		{"error of the reference", "application/json; charset=utf-8", `{"error":"Invalid address"}`, 400, fault.InvalidInput, "Invalid address"},
		{"its rate limit", "application/json", `{"error":"Rate limit exceeded","retryAfter":3}`, 429, fault.Upstream, "Rate limit exceeded"},
		{"no key", "application/json", `{"error":"Unauthorized"}`, 401, fault.Upstream, "Unauthorized"},
		{"page of a proxy", "text/html", "<html>", 502, fault.Upstream, "502 Bad Gateway"},
		{"its timeout", "text/html", "<html>", 504, fault.Timeout, "504"},
		{"not this service", "text/plain", "404 page not found", 404, fault.Upstream, "404"},
		{"JSON without error", "application/json", `{"message":"x"}`, 500, fault.Upstream, "500"},
		{"code of a later version", "application/json", `{"error":"x","code":"novel","min":"zz"}`, 400, "novel", "x"},
		{"redirect", "", "", 307, fault.Upstream, "307"},
		{"created", "application/json", address, 201, fault.Upstream, "201"},
	} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/elsewhere" {
				t.Errorf("%s: followed", tt.name)
			}
			w.Header().Set("Location", "/elsewhere")
			w.Header().Set("Content-Type", tt.contentType)
			w.WriteHeader(tt.status)
			_, _ = io.WriteString(w, tt.body)
		}))
		out, err := dial(t, server.URL, httpapi.ClientOptions{}).ParseAddress(t.Context(), swapper.ParseAddressInput{Address: "bc1"})
		switch {
		case tt.code == "" && (err != nil || out.Address != "bc1" || out.Amount.RawAmount.Int64() != 100):
			t.Errorf("%s: %v, %v", tt.name, out, err)
		case tt.code != "" && (fault.CodeOf(err) != tt.code || !strings.Contains(err.Error(), tt.text)):
			t.Errorf("%s: %v (%s), want %s %q", tt.name, err, fault.CodeOf(err), tt.code, tt.text)
		}
		server.Close()
	}
}

func TestClientBoundsWhatItReads(t *testing.T) {
	for _, status := range []int{http.StatusOK, http.StatusBadGateway} {
		served := 0
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(status)
			block := []byte(strings.Repeat(" ", 1<<20))
			for range 200 {
				n, err := w.Write(block)
				served += n
				if err != nil {
					return
				}
			}
		}))
		_, err := dial(t, server.URL, httpapi.ClientOptions{}).ParseAddress(t.Context(), swapper.ParseAddressInput{Address: "bc1"})
		server.Close()
		if fault.CodeOf(err) != fault.Upstream || served > 100<<20 {
			t.Errorf("%d: %v after %d bytes", status, err, served)
		}
	}
}

func TestClientChecksInputFirst(t *testing.T) {
	client := dial(t, "http://127.0.0.1:1", httpapi.ClientOptions{})
	_, err := client.CreateSwap(t.Context(), swapper.CreateSwapInput{SrcToken: "a", DstToken: "b"})
	if e, ok := errors.AsType[*fault.Error](err); !ok || e.Code != fault.InvalidInput || e.Field != "amount" {
		t.Error(err)
	}
}

func TestClientWithoutService(t *testing.T) {
	_, err := dial(t, "http://127.0.0.1:1", httpapi.ClientOptions{}).GetSwapStatus(t.Context(), swapper.GetSwapStatusInput{SwapID: "hidden", Secret: preimage})
	if fault.CodeOf(err) != fault.Upstream || strings.Contains(err.Error(), "hidden") {
		t.Error(err)
	}
	gate := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-gate }))
	defer server.Close()
	defer close(gate)
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if _, err := dial(t, server.URL, httpapi.ClientOptions{}).ListSwaps(ctx, swapper.ListSwapsInput{Signer: "a"}); fault.CodeOf(err) != fault.Timeout {
		t.Error(err)
	}
}

// A preimage goes into a body; into a query string only for a service that knows no
// other way, and never into an error.
func TestClientAndSecrets(t *testing.T) {
	var asked []string
	old := false
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked = append(asked, fmt.Sprint(r.Method, strings.Contains(r.URL.RawQuery, preimage)))
		if r.Header.Get("X-Api-Key") != "k" {
			t.Error("no key")
		}
		if old && r.Method == http.MethodPost {
			http.NotFound(w, r)
			return
		}
		httpapi.New(&fake{}, httpapi.Options{}).ServeHTTP(w, r)
	}))
	client := dial(t, server.URL, httpapi.ClientOptions{Header: http.Header{"X-Api-Key": {"k"}}})
	in := swapper.GetSwapStatusInput{SwapID: "send", Secret: preimage}
	for _, old = range []bool{false, true} {
		if _, err := client.GetSwapStatus(t.Context(), in); err != nil {
			t.Error(err)
		}
	}
	if got := fmt.Sprint(asked); got != "[POSTfalse POSTfalse GETtrue]" {
		t.Errorf("asked %s", got)
	}
	in.SwapID = "error-not_found"
	old, asked = false, nil
	if _, err := client.GetSwapStatus(t.Context(), in); fault.CodeOf(err) != fault.NotFound || len(asked) != 1 {
		t.Errorf("%v after %v", err, asked)
	}
	server.Close()
	old = true
	failing := dial(t, "http://x.example", httpapi.ClientOptions{HTTP: &http.Client{Transport: roundTripper(func(r *http.Request) (*http.Response, error) {
		if r.Method == http.MethodPost {
			return &http.Response{StatusCode: 405, Body: http.NoBody, Header: http.Header{}}, nil
		}
		return nil, io.ErrUnexpectedEOF
	})}})
	_, err := failing.GetSwapStatus(t.Context(), in)
	if fault.CodeOf(err) != fault.Upstream || strings.Contains(err.Error(), preimage) || !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Error(err)
	}
}

func TestNewClientRefuses(t *testing.T) {
	for _, base := range []string{"", "swaps.example", "ftp://x", "http://", "http://x/?a=1", "http://x/#a", ":", "/api"} {
		if _, err := httpapi.NewClient(base, httpapi.ClientOptions{}); fault.CodeOf(err) != fault.InvalidInput {
			t.Errorf("%q: %v", base, err)
		}
	}
}
