package main

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/json"
	"encoding/pem"
	"errors"
	"io"
	"log/slog"
	"math/big"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
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

// publicKey returns a new key for ES256 signatures, and its public half as a JSON text of PEM.
func publicKey(t *testing.T) (*ecdsa.PrivateKey, string) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	der, err := x509.MarshalPKIXPublicKey(&key.PublicKey)
	if err != nil {
		t.Fatal(err)
	}
	public, err := json.Marshal(string(pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der})))
	if err != nil {
		t.Fatal(err)
	}
	return key, string(public)
}

// Idempotency keys are kept apart by who calls, and limits per caller count for each.
func TestCallersAreNamed(t *testing.T) {
	key, public := publicKey(t)
	s := newService(t, `[{"type": "apiKey", "name": "backend", "apiKey": "secret"},
		{"type": "jwt", "name": "users", "publicKey": `+public+`, "rateLimit": {"windowMs": 60000, "maxRequests": 2, "per": "caller"}}, {"type": "none", "name": "public"}]`, "")
	service := &remembers{}
	server := httptest.NewServer(s.handler(service))
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
		for i := range 3 {
			status, _, text := call(t, server.URL, "GET", "/api/parseAddress?address=0x1", "", headers)
			if limited := i == 2 && (name == "alice" || name == "bob"); limited != (status == http.StatusTooManyRequests) || !limited && status != http.StatusOK {
				t.Fatalf("%s, request %d: %d %s", name, i, status, text)
			}
		}
		if other, taken := seen[service.caller]; taken || service.caller == "" {
			t.Errorf("%s is called %q, as %s", name, service.caller, other)
		}
		seen[service.caller] = name
	}
}

// The process speaks TLS by its file, and a new pair of files counts without a restart.
func TestProcessReplacesItsCertificate(t *testing.T) {
	t.Parallel()
	v := newTown(t)
	v.write("local.json", json.RawMessage(v.text))
	pair := func(name string, at time.Time) {
		t.Helper()
		key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
		if err != nil {
			t.Fatal(err)
		}
		template := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: name}, NotAfter: time.Now().Add(time.Hour)}
		cert, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
		if err != nil {
			t.Fatal(err)
		}
		private, err := x509.MarshalPKCS8PrivateKey(key)
		if err != nil {
			t.Fatal(err)
		}
		for file, block := range map[string]*pem.Block{"cert.pem": {Type: "CERTIFICATE", Bytes: cert}, "key.pem": {Type: "PRIVATE KEY", Bytes: private}} {
			path := filepath.Join(v.dir, file)
			if err := errors.Join(os.WriteFile(path, pem.EncodeToMemory(block), 0o600), os.Chtimes(path, at, at)); err != nil {
				t.Fatal(err)
			}
		}
	}
	pair("first", time.Now().Add(-time.Hour))
	path := v.write("config.yaml", map[string]any{"local": "local.json", "https": map[string]string{"certPath": "cert.pem", "keyPath": "key.pem"}, "logLevel": "error",
		"auth": []any{map[string]string{"type": "none", "name": "public"}}, "rateLimit": map[string]int{"windowMs": 1000, "maxRequests": 100}})
	address := free(t)
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- start(ctx, from{file: path}, address, false, nil, &v.log) }()
	defer func() {
		stop()
		if err := <-ended; err != nil {
			t.Error(err, v.log.String())
		}
	}()
	eventually := func(want string) {
		t.Helper()
		got := ""
		for late := time.Now().Add(time.Minute); time.Now().Before(late); time.Sleep(50 * time.Millisecond) {
			client := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, DisableKeepAlives: true}}
			answer, err := client.Get("https://" + address + "/healthz")
			if err != nil {
				continue
			}
			_, _ = io.Copy(io.Discard, answer.Body)
			answer.Body.Close()
			if got = answer.TLS.PeerCertificates[0].Subject.CommonName; got == want && answer.StatusCode == http.StatusOK {
				return
			}
		}
		t.Fatalf("the certificate is %q, want %q: %s", got, want, v.log.String())
	}
	eventually("first")
	pair("second", time.Now())
	eventually("second")
}

// A token without exp is refused unless its entry says otherwise, and the log says why a token was
// refused, with no word of it for the caller.
func TestLogSaysWhyATokenWasRefused(t *testing.T) {
	key, public := publicKey(t)
	for name, c := range map[string]struct {
		entry  string // further members
		claims jwt.MapClaims
		says   string // the log; "": the token is good
	}{
		"without exp":               {``, jwt.MapClaims{"sub": "alice"}, "exp"},
		"without exp, as allowed":   {`, "withoutExp": true`, jwt.MapClaims{"sub": "alice"}, ""},
		"expired, exp not demanded": {`, "withoutExp": true`, jwt.MapClaims{"sub": "alice", "exp": 1}, "expired"},
		"without sub":               {`, "withoutExp": true`, jwt.MapClaims{"name": "alice"}, "sub"},
		"another claim":             {`, "withoutExp": true, "claims": {"tier": 3}`, jwt.MapClaims{"sub": "alice", "tier": 2}, "tier"},
	} {
		t.Run(name, func(t *testing.T) {
			s := newService(t, `[{"type": "jwt", "name": "users", "publicKey": `+public+c.entry+`}]`, "")
			var log lockedBuffer
			s.log = slog.New(slog.NewTextHandler(&log, nil))
			server := httptest.NewServer(s.handler(parses{}))
			defer server.Close()
			token, err := jwt.NewWithClaims(jwt.SigningMethodES256, c.claims).SignedString(key)
			if err != nil {
				t.Fatal(err)
			}
			status, _, text := call(t, server.URL, "GET", "/api/parseAddress?address=x", "", map[string]string{"Authorization": "Bearer " + token})
			if (status == http.StatusUnauthorized) != (c.says != "") || strings.Contains(text, "claim") {
				t.Errorf("%d %s", status, text)
			}
			line := log.String()
			if _, reason, refused := strings.Cut(line, "refused="); refused != (c.says != "") || !strings.Contains(reason, c.says) || strings.Contains(line, token) {
				t.Errorf("want %q in %s", c.says, line)
			}
		})
	}
}

// Members that are not known are refused by name, or passed over where the configuration says so.
func TestUnknownMembers(t *testing.T) {
	for accepts, want := range map[bool]int{false: http.StatusBadRequest, true: http.StatusOK} {
		s := newService(t, `[{"type": "none", "name": "public"}]`, "")
		s.unknown = accepts
		server := httptest.NewServer(s.handler(parses{}))
		defer server.Close()
		if status, _, text := call(t, server.URL, "GET", "/api/parseAddress?address=0x1&other=1", "", nil); status != want {
			t.Errorf("unknownMembers %t: %d %s, want %d", accepts, status, text, want)
		}
	}
}
