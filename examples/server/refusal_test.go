package main

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"

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
// errors, and with the codes that it lists.
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
