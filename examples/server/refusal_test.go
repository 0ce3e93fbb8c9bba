package main

import (
	"context"
	"encoding/json"
	"maps"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/google/go-cmp/cmp"

	"github.com/swapper-go/swapper"
	"github.com/swapper-go/swapper/httpapi/limit"
)

// waits is a service that answers when it may.
type waits struct {
	swapper.Service
	asked, may chan struct{}
}

func (w *waits) ParseAddress(context.Context, swapper.ParseAddressInput) (*swapper.ParseAddressOutput, error) {
	w.asked <- struct{}{}
	<-w.may
	return &swapper.ParseAddressOutput{}, nil
}

// What stands in front of the operations refuses in the form that the document gives
// errors, with the codes that it lists, and as its examples do.
func TestRefusalsFollowTheDocument(t *testing.T) {
	s := newService(t, `[{"type": "apiKey", "name": "backend", "apiKey": "secret", "rateLimit": {"windowMs": 3600000, "maxRequests": 3}}]`, "")
	s.places = limit.Places{Total: 1, Each: 1}
	service := &waits{asked: make(chan struct{}), may: make(chan struct{})}
	server := httptest.NewServer(s.handler(service))
	defer server.Close()
	key := map[string]string{"x-api-key": "secret"}

	_, _, text := call(t, server.URL, "GET", "/api/openapi.json", "", key)
	doc, err := openapi3.NewLoader().LoadFromData([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	expect := func(status int, code string, headers map[string]string) {
		t.Helper()
		got, _, text := call(t, server.URL, "GET", "/api/parseAddress?address=x", "", headers)
		var refusal map[string]any
		if err := json.Unmarshal([]byte(text), &refusal); err != nil || got != status || refusal["code"] != code {
			t.Errorf("%d %s, %v; want %d %s", got, text, err, status, code)
		}
		if err := doc.Components.Schemas["Error"].Value.VisitJSON(refusal); err != nil {
			t.Errorf("%s: %v", text, err)
		}
		example := doc.Components.Responses["Error"].Value.Content.Get("application/json").Examples[code].Value
		members := maps.Clone(example.Value.(map[string]any))
		if again, ok := refusal["retryAfter"]; ok { // how long depends on the moment
			members["retryAfter"] = again
		}
		if diff := cmp.Diff(members, refusal); diff != "" || !strings.HasPrefix(example.Summary, strconv.Itoa(status)) {
			t.Errorf("%q, status %d (-example +refusal):\n%s", example.Summary, status, diff)
		}
	}
	expect(http.StatusUnauthorized, "unauthorized", nil)
	answered := make(chan struct{})
	go func() {
		defer close(answered)
		_, _, _ = call(t, server.URL, "GET", "/api/parseAddress?address=x", "", key)
	}()
	<-service.asked
	expect(http.StatusServiceUnavailable, "busy", key)
	expect(http.StatusTooManyRequests, "rate_limited", key)
	close(service.may)
	<-answered
}
