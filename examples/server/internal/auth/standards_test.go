package auth

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/golang-jwt/jwt/v5"
)

// A token that names nobody is nobody's: all who have one would else be one caller, who reads
// what the others have begun (RFC 9068 §2.2 demands sub of access tokens).
func TestTokensNameTheirBearer(t *testing.T) {
	s := signers(t)["ES256"]
	tokens, err := NewTokens(TokensOptions{Name: "users", PublicKey: s.pem(t)})
	if err != nil {
		t.Fatal(err)
	}
	for what, sub := range map[string]any{"no subject": nil, "an empty one": "", "a number": 7, "a list": []string{"alice"}} {
		if id, err := tokens.Authenticate(bearer(s.sign(t, "", good(jwt.MapClaims{"sub": sub})))); !errors.Is(err, errUnknown) {
			t.Errorf("%s: %+v, %v", what, id, err)
		}
	}
}

// Extensions that a token calls critical are obeyed, or the token is not accepted: none is
// known here (RFC 7515 §4.1.11).
func TestCriticalExtensions(t *testing.T) {
	s := signers(t)["ES256"]
	tokens, err := NewTokens(TokensOptions{Name: "users", PublicKey: s.pem(t)})
	if err != nil {
		t.Fatal(err)
	}
	for what, head := range map[string]map[string]any{
		"unknown":        {"crit": []string{"https://example.com/bound"}, "https://example.com/bound": true},
		"not there":      {"crit": []string{"x"}},
		"b64":            {"crit": []string{"b64"}, "b64": false},
		"none named":     {"crit": []string{}},
		"no list":        {"crit": true},
		"null":           {"crit": nil},
		"by its own alg": {"crit": []string{"alg"}},
	} {
		token := jwt.NewWithClaims(s.method, good(nil))
		for k, v := range head {
			token.Header[k] = v
		}
		text, err := token.SignedString(s.private)
		if err != nil {
			t.Fatal(err)
		}
		if id, err := tokens.Authenticate(bearer(text)); err == nil {
			t.Errorf("%s: admitted as %+v", what, id)
		}
	}
}

// The name of the scheme has no case, and one space or several behind it (RFC 9110 §11.1, §11.4).
func TestScheme(t *testing.T) {
	s := signers(t)["ES256"]
	tokens, err := NewTokens(TokensOptions{Name: "users", PublicKey: s.pem(t)})
	if err != nil {
		t.Fatal(err)
	}
	token := s.sign(t, "", good(nil))
	for text, ok := range map[string]bool{
		"Bearer " + token: true, "bearer " + token: true, "BEARER " + token: true, "bEaReR  " + token: true,
		token: false, "Bearer" + token: false, "Basic " + token: false, "Bearer": false, "Bearer ": false, " Bearer " + token: false, "Bearer\t" + token: false, "Bearer " + token + " x": false, "Bearers " + token: false,
	} {
		r := bearer("")
		r.Header.Set("Authorization", text)
		if _, err := tokens.Authenticate(r); (err == nil) != ok || err != nil && !errors.Is(err, errUnknown) {
			t.Errorf("%.12q: %v", text, err)
		}
	}
}

// What a set has beside the keys that verify here is left out (RFC 7517 §5): a key of an
// unknown kind or curve, one that is cut, one for other uses. What is left out is named.
func TestForeignKeysOfASet(t *testing.T) {
	s := signers(t)["ES256"]
	own, err := json.Marshal(jose.JSONWebKey{Key: s.private.Public(), KeyID: "own"})
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "jwks.json")
	for what, key := range map[string]string{
		"an unknown kind":     `{"kty":"AKP","kid":"foreign","alg":"ML-DSA-65","pub":"AAAA"}`,
		"an unknown curve":    `{"kty":"EC","kid":"foreign","crv":"secp256k1","x":"WKn-ZIGevcwGIyyrzFoZNBdaq9_TsqzGl96oc0CWuis","y":"y77t-RvAHRKTsSGdIYUfweuOvwrvDD-Q3Hv5J0fSKbE"}`,
		"a key for exchange":  `{"kty":"OKP","kid":"foreign","crv":"X25519","x":"hSDwCYkwp1R0i33ctD73Wg2_Og0mOBr066SpjqqbTmo"}`,
		"a cut key":           `{"kty":"EC","kid":"foreign","crv":"P-256"}`,
		"a point of no curve": `{"kty":"EC","kid":"foreign","crv":"P-256","x":"AA","y":"AA"}`,
		"encryption by alg":   strings.Replace(string(own), `"kid":"own"`, `"kid":"foreign","alg":"ECDH-ES"`, 1),
		"encryption by ops":   strings.Replace(string(own), `"kid":"own"`, `"kid":"foreign","key_ops":["deriveKey"]`, 1),
		"encryption by use":   strings.Replace(string(own), `"kid":"own"`, `"kid":"foreign","use":"enc"`, 1),
		"no kind":             `{"kid":"foreign"}`,
		"no key at all":       `"foreign"`,
	} {
		for name, set := range map[string]string{"first": key + "," + string(own), "last": string(own) + "," + key} {
			if err := os.WriteFile(path, []byte(`{"keys":[`+set+`],"issuer":"x"}`), 0o600); err != nil {
				t.Fatal(err)
			}
			var log bytes.Buffer
			tokens, err := NewTokens(TokensOptions{Name: "users", JWKSFile: path, Logger: slog.New(slog.NewTextHandler(&log, nil))})
			if err != nil {
				t.Errorf("%s, %s: %v", what, name, err)
				continue
			}
			for kid, ok := range map[string]bool{"own": true, "": true, "foreign": false} {
				if _, err := tokens.Authenticate(bearer(s.sign(t, kid, good(nil)))); (err == nil) != ok {
					t.Errorf("%s, %s, by %q: %v", what, name, kid, err)
				}
			}
			if text := log.String(); !strings.Contains(text, "left out") || !strings.Contains(text, fmt.Sprintf("keys[%d]", map[string]int{"first": 0, "last": 1}[name])) {
				t.Errorf("%s, %s: the log says %q", what, name, text)
			}
		}
		if err := os.WriteFile(path, []byte(`{"keys":[`+key+`]}`), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := NewTokens(TokensOptions{Name: "users", JWKSFile: path}); err == nil {
			t.Errorf("%s alone is a set that verifies nothing", what)
		}
	}
	// A key that names its operations, verify among them, is ours.
	if err := os.WriteFile(path, []byte(`{"keys":[`+strings.Replace(string(own), `"kid":"own"`, `"kid":"own","key_ops":["verify"]`, 1)+`]}`), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := NewTokens(TokensOptions{Name: "users", JWKSFile: path}); err != nil {
		t.Error(err)
	}
}

// A secret is refused in whatever form, and beside good keys too: it must not lie there.
func TestSecretsInASet(t *testing.T) {
	s := signers(t)["ES256"]
	own, err := json.Marshal(jose.JSONWebKey{Key: s.private.Public()})
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "jwks.json")
	for what, key := range map[string]string{
		"symmetric":                `{"kty":"oct","k":"AAAA"}`,
		"private on another curve": `{"kty":"EC","crv":"secp256k1","x":"AA","y":"AA","d":"AA"}`,
		"private of another kind":  `{"kty":"AKP","alg":"ML-DSA-65","pub":"AAAA","priv":"AAAA"}`,
		"private, for encryption":  `{"kty":"OKP","crv":"X25519","x":"AA","d":"AA","use":"enc"}`,
	} {
		if err := os.WriteFile(path, []byte(`{"keys":[`+string(own)+`,`+key+`]}`), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := NewTokens(TokensOptions{Name: "users", JWKSFile: path}); err == nil || !strings.Contains(err.Error(), "keys[1]: holds a secret") {
			t.Errorf("%s: %v", what, err)
		}
	}
}

// A key that is taken away is taken away, whatever the size and the time of the new file.
func TestKeyFileOfEqualSizeAndTime(t *testing.T) {
	path := filepath.Join(t.TempDir(), "keys")
	at := time.Now().Add(-time.Hour).Truncate(time.Second)
	write := func(key string, rename bool) {
		t.Helper()
		to := path
		if rename {
			to += ".new"
		}
		err := errors.Join(os.WriteFile(to, fmt.Appendf(nil, "%x holder\n", HashKey(key)), 0o600), os.Chtimes(to, at, at))
		if rename {
			err = errors.Join(err, os.Rename(to, path))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	write("a", false)
	k, err := NewKeys(KeysOptions{Name: "backend", File: path})
	if err != nil {
		t.Fatal(err)
	}
	k.file.Now = eachSecond()
	for i, key := range []string{"b", "c", "d", "e"} {
		before := string("abcd"[i])
		write(key, i%2 == 0)
		if _, err := k.Authenticate(withKey("X-Api-Key", key)); err != nil {
			t.Errorf("the new key %s: %v", key, err)
		}
		if id, err := k.Authenticate(withKey("X-Api-Key", before)); err == nil {
			t.Errorf("the old key %s is admitted as %+v", before, id)
		}
	}
}
