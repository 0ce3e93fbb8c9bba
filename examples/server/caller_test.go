package main

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"github.com/swapper-go/swapper"
)

// remembers is a service that remembers who called.
type remembers struct {
	swapper.Service
	caller string
}

func (r *remembers) ParseAddress(ctx context.Context, _ swapper.ParseAddressInput) (*swapper.ParseAddressOutput, error) {
	r.caller = swapper.CallerOf(ctx)
	return &swapper.ParseAddressOutput{}, nil
}

// Idempotency keys are kept apart by who calls, which the server has to say.
func TestCallersAreNamed(t *testing.T) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	der, err := x509.MarshalPKIXPublicKey(&key.PublicKey)
	if err != nil {
		t.Fatal(err)
	}
	s := newService(t,
		entryConfig{Type: "apiKey", Name: "backend", APIKey: "secret"},
		entryConfig{Type: "jwt", Name: "users", PublicKey: string(pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der})), Algorithms: []string{"ES256"}},
		entryConfig{Type: "none", Name: "public"})
	service := &remembers{}
	server := httptest.NewServer(s.handler(service, "/api", nil))
	defer server.Close()
	bearer := func(subject string) map[string]string {
		text, err := jwt.NewWithClaims(jwt.SigningMethodES256, jwt.MapClaims{"sub": subject, "exp": time.Now().Add(time.Hour).Unix()}).SignedString(key)
		if err != nil {
			t.Fatal(err)
		}
		return map[string]string{"Authorization": "Bearer " + text}
	}
	seen := map[string]string{}
	for name, headers := range map[string]map[string]string{"key": {"x-api-key": "secret"}, "alice": bearer("alice"), "bob": bearer("bob"), "nobody": nil} {
		if status, _, text := call(t, server.URL, "GET", "/api/parseAddress?address=0x1", "", headers); status != http.StatusOK {
			t.Fatalf("%s: %d %s", name, status, text)
		}
		if other, taken := seen[service.caller]; taken || service.caller == "" {
			t.Errorf("%s is called %q, as %s", name, service.caller, other)
		}
		seen[service.caller] = name
	}
}
