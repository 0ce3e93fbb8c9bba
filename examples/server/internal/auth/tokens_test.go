package auth

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/golang-jwt/jwt/v5"
)

// signer is a key pair of one kind.
type signer struct {
	method  jwt.SigningMethod
	private crypto.Signer
}

func signers(t *testing.T) map[string]signer {
	t.Helper()
	r, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	e, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	_, d, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return map[string]signer{"RS256": {jwt.SigningMethodRS256, r}, "ES256": {jwt.SigningMethodES256, e}, "EdDSA": {jwt.SigningMethodEdDSA, d}}
}

func (s signer) pem(t *testing.T) string {
	t.Helper()
	der, err := x509.MarshalPKIXPublicKey(s.private.Public())
	if err != nil {
		t.Fatal(err)
	}
	return string(pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der}))
}

func (s signer) sign(t *testing.T, kid string, claims jwt.MapClaims) string {
	t.Helper()
	token := jwt.NewWithClaims(s.method, claims)
	if kid != "" {
		token.Header["kid"] = kid
	}
	text, err := token.SignedString(s.private)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func bearer(token string) *http.Request {
	return &http.Request{Header: http.Header{"Authorization": {"Bearer " + token}}, RemoteAddr: "203.0.113.9:1"}
}

func good(change jwt.MapClaims) jwt.MapClaims {
	claims := jwt.MapClaims{"sub": "alice", "iss": "https://id.example", "aud": "swaps", "exp": time.Now().Add(time.Hour).Unix(), "tier": 3, "roles": []string{"user", "trader"}}
	for k, v := range change {
		if v == nil {
			delete(claims, k)
		} else {
			claims[k] = v
		}
	}
	return claims
}

// A token is accepted with each kind of key, and with each claim as it must be.
func TestClaims(t *testing.T) {
	for name, s := range signers(t) {
		tokens, err := NewTokens(TokensOptions{Name: "users", PublicKey: s.pem(t), Issuer: "https://id.example", Audience: "swaps", Claims: map[string]any{"tier": 3, "roles": map[string]any{"includes": "trader"}}})
		if err != nil {
			t.Fatal(err)
		}
		now := time.Now()
		for what, c := range map[string]struct {
			change jwt.MapClaims
			ok     bool
		}{
			"as it must be":       {nil, true},
			"one of two readers":  {jwt.MapClaims{"aud": []string{"other", "swaps"}}, true},
			"no expiry":           {jwt.MapClaims{"exp": nil}, false},
			"expired":             {jwt.MapClaims{"exp": now.Add(-time.Second).Unix()}, false},
			"expiry that is text": {jwt.MapClaims{"exp": "tomorrow"}, false},
			"not yet":             {jwt.MapClaims{"nbf": now.Add(time.Minute).Unix()}, false},
			"since now":           {jwt.MapClaims{"nbf": now.Add(-time.Second).Unix()}, true},
			"another issuer":      {jwt.MapClaims{"iss": "https://evil.example"}, false},
			"no issuer":           {jwt.MapClaims{"iss": nil}, false},
			"for somebody else":   {jwt.MapClaims{"aud": "other"}, false},
			"for nobody":          {jwt.MapClaims{"aud": nil}, false},
			"claim of text":       {jwt.MapClaims{"tier": "3"}, false},
			"claim missing":       {jwt.MapClaims{"tier": nil}, false},
			"not in the list":     {jwt.MapClaims{"roles": []string{"user"}}, false},
			"no list":             {jwt.MapClaims{"roles": "trader"}, false},
			"subject of no text":  {jwt.MapClaims{"sub": 7}, false},
		} {
			id, err := tokens.Authenticate(bearer(s.sign(t, "", good(c.change))))
			if (err == nil) != c.ok || err != nil && !errors.Is(err, errUnknown) {
				t.Errorf("%s, %s: %v", name, what, err)
			}
			if want := (Identity{"users", KindToken, "alice"}); err == nil && id != want {
				t.Errorf("%s, %s: %+v", name, what, id)
			}
		}
	}
}

// A token cannot choose how it is verified: neither not at all, nor with the public
// key as a secret, nor with a key of another kind.
func TestForgedTokens(t *testing.T) {
	all := signers(t)
	for name, s := range all {
		tokens, err := NewTokens(TokensOptions{Name: "users", PublicKey: s.pem(t)})
		if err != nil {
			t.Fatal(err)
		}
		der, _ := x509.MarshalPKIXPublicKey(s.private.Public())
		forged := map[string]string{}
		none := jwt.NewWithClaims(jwt.SigningMethodNone, good(nil))
		forged["none"], _ = none.SignedString(jwt.UnsafeAllowNoneSignatureType)
		for what, secret := range map[string][]byte{"HS256 of the PEM": []byte(s.pem(t)), "HS256 of the trimmed PEM": []byte(strings.TrimSpace(s.pem(t))), "HS256 of the key": der, "HS256 of nothing": {}} {
			forged[what], _ = jwt.NewWithClaims(jwt.SigningMethodHS256, good(nil)).SignedString(secret)
		}
		real := s.sign(t, "", good(nil))
		parts := strings.Split(real, ".")
		for _, alg := range []string{"none", "None", "nOnE", "", "HS256", "RS512", "ES512"} {
			head := base64.RawURLEncoding.EncodeToString([]byte(`{"typ":"JWT","alg":"` + alg + `"}`))
			forged["head "+alg] = head + "." + parts[1] + "." + parts[2]
			forged["head and no signature "+alg] = head + "." + parts[1] + "."
		}
		body, _ := json.Marshal(good(jwt.MapClaims{"sub": "mallory"}))
		forged["another body"] = parts[0] + "." + base64.RawURLEncoding.EncodeToString(body) + "." + parts[2]
		forged["no signature"] = parts[0] + "." + parts[1] + "."
		forged["two parts"] = parts[0] + "." + parts[1]
		forged["cut"] = real[:len(real)-2]
		forged["four parts"] = real + ".x"
		forged["own key in the header"] = func() string {
			token := jwt.NewWithClaims(s.method, good(nil))
			token.Header["jwk"] = map[string]string{"kty": "oct", "k": "AA"}
			text, _ := token.SigningString()
			return text + "." + base64.RawURLEncoding.EncodeToString(make([]byte, 64))
		}()
		for other, o := range all {
			if other != name {
				forged["by a key of "+other] = o.sign(t, "", good(nil))
			}
		}
		stranger := signers(t)[name]
		forged["by a stranger"] = stranger.sign(t, "", good(nil))
		for what, text := range forged {
			if id, err := tokens.Authenticate(bearer(text)); err == nil {
				t.Errorf("%s: %s is admitted as %+v", name, what, id)
			}
		}
		if _, err := tokens.Authenticate(bearer(real)); err != nil {
			t.Errorf("%s: the real one: %v", name, err)
		}
	}
}

func TestAlgorithmsBelongToTheKey(t *testing.T) {
	s := signers(t)["ES256"]
	for algorithm, ok := range map[string]bool{"ES256": true, "ES384": false, "HS256": false, "none": false, "RS256": false, "EdDSA": false, "": false} {
		if _, err := NewTokens(TokensOptions{Name: "x", PublicKey: s.pem(t), Algorithms: []string{algorithm}}); ok != (err == nil) {
			t.Errorf("%s: %v", algorithm, err)
		}
	}
	if _, err := NewTokens(TokensOptions{Name: "x", PublicKey: s.pem(t), Algorithms: []string{"ES256", "RS256"}}); err == nil {
		t.Error("one of two algorithms is not the key's")
	}
	weak, err := rsa.GenerateKey(rand.Reader, 1024)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := NewTokens(TokensOptions{Name: "x", PublicKey: signer{private: weak}.pem(t)}); err == nil {
		t.Error("an RSA key of 1024 bits")
	}
}

// jwks writes a set of keys, later than the one before.
func jwks(t *testing.T, path string, at time.Time, keys ...jose.JSONWebKey) {
	t.Helper()
	text, err := json.Marshal(jose.JSONWebKeySet{Keys: keys})
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(os.WriteFile(path, text, 0o600), os.Chtimes(path, at, at)); err != nil {
		t.Fatal(err)
	}
}

// A set has keys of several kinds, by their names; it is replaced while the server
// runs, and one that is broken replaces nothing.
func TestKeySet(t *testing.T) {
	all := signers(t)
	path := filepath.Join(t.TempDir(), "jwks.json")
	at := time.Now().Add(-time.Hour)
	var keys []jose.JSONWebKey
	for name, s := range all {
		keys = append(keys, jose.JSONWebKey{Key: s.private.Public(), KeyID: name, Use: "sig", Algorithm: name})
	}
	jwks(t, path, at, append(keys, jose.JSONWebKey{Key: all["RS256"].private.Public(), KeyID: "enc", Use: "enc"})...)
	tokens, err := NewTokens(TokensOptions{Name: "users", JWKSFile: path})
	if err != nil {
		t.Fatal(err)
	}
	tokens.set.Now = eachSecond()
	admits := func(text string) bool {
		_, err := tokens.Authenticate(bearer(text))
		return err == nil
	}
	for name, s := range all {
		for kid, ok := range map[string]bool{name: true, "": true, "another": false, "enc": false} {
			if got := admits(s.sign(t, kid, good(nil))); got != ok {
				t.Errorf("%s as %q: %v", name, kid, got)
			}
		}
		// Every key of the set as a secret.
		der, _ := x509.MarshalPKIXPublicKey(s.private.Public())
		token := jwt.NewWithClaims(jwt.SigningMethodHS256, good(nil))
		token.Header["kid"] = name
		if text, err := token.SignedString(der); err != nil || admits(text) {
			t.Errorf("%s as a secret, %v", name, err)
		}
	}
	if err := errors.Join(os.WriteFile(path, []byte(`{"keys": [`), 0o600), os.Chtimes(path, at.Add(time.Second), at.Add(time.Second))); err != nil {
		t.Fatal(err)
	}
	old, fresh := all["ES256"], signers(t)["ES256"]
	if !admits(old.sign(t, "", good(nil))) {
		t.Error("a broken set has replaced the good one")
	}
	jwks(t, path, at.Add(time.Minute), jose.JSONWebKey{Key: fresh.private.Public(), KeyID: "fresh"})
	if admits(old.sign(t, "", good(nil))) || !admits(fresh.sign(t, "fresh", good(nil))) {
		t.Error("the new set does not count")
	}

	for what, set := range map[string][]jose.JSONWebKey{
		"symmetric":     {{Key: []byte("0123456789abcdef0123456789abcdef"), KeyID: "s"}},
		"private":       {{Key: fresh.private, KeyID: "p"}},
		"other alg":     {{Key: fresh.private.Public(), Algorithm: "RS256"}},
		"HMAC":          {{Key: fresh.private.Public(), Algorithm: "HS256"}},
		"encryption":    {{Key: fresh.private.Public(), Use: "enc"}},
		"none at all":   {},
		"good and oct ": {{Key: fresh.private.Public()}, {Key: []byte("x")}},
	} {
		jwks(t, path, at.Add(time.Hour), set...)
		if _, err := NewTokens(TokensOptions{Name: "x", JWKSFile: path}); err == nil {
			t.Errorf("a set: %s", what)
		}
	}
}

func FuzzToken(f *testing.F) {
	f.Add("a.b.c")
	f.Add("eyJhbGciOiJub25lIn0.e30.")
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		f.Fatal(err)
	}
	der, _ := x509.MarshalPKIXPublicKey(key.Public())
	tokens, err := NewTokens(TokensOptions{Name: "x", PublicKey: string(pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der}))})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if id, err := tokens.Authenticate(bearer(text)); err == nil {
			t.Errorf("admitted as %+v", id)
		}
	})
}
