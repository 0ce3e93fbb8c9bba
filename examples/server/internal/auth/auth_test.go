package auth

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func withKey(header, key string) *http.Request {
	r := httptest.NewRequest("GET", "/", nil)
	r.Header.Set(header, key)
	return r
}

func TestKeys(t *testing.T) {
	first, second := NewKey(), NewKey()
	if first == second || len(first) != 64 {
		t.Fatal(first, second)
	}
	path := filepath.Join(t.TempDir(), "keys")
	at := time.Now().Add(-time.Hour)
	write := func(text string) {
		t.Helper()
		at = at.Add(time.Minute)
		if err := errors.Join(os.WriteFile(path, []byte(text), 0o600), os.Chtimes(path, at, at)); err != nil {
			t.Fatal(err)
		}
	}
	write(fmt.Sprintf("# holders\n\n%x alice # since May\n%X bob", HashKey("a"), HashKey("b")))
	k, err := NewKeys(KeysOptions{Name: "backend", Keys: []Key{{"one", HashKey(first)}, {"two", HashKey(second)}}, File: path})
	if err != nil {
		t.Fatal(err)
	}
	k.file.Now = eachSecond()
	expect := func(key, holder string) {
		t.Helper()
		id, err := k.Authenticate(withKey("X-API-KEY", key))
		if holder == "" && !errors.Is(err, errUnknown) || holder != "" && (err != nil || id != Identity{"backend", KindKey, holder}) {
			t.Errorf("%q: %+v, %v; want %q", key, id, err, holder)
		}
		if err != nil && len(key) > 8 && strings.Contains(err.Error(), key) {
			t.Errorf("the error tells the key: %v", err)
		}
	}
	expect(first, "one")
	expect(second, "two")
	expect("a", "alice")
	expect("b", "bob")
	expect(strings.ToUpper(first), "")
	expect(first+" ", "")
	expect(first[:63], "")
	expect("", "")
	write(fmt.Sprintf("%x carol", HashKey("c")))
	expect("a", "")
	expect("c", "carol")
	for _, bad := range []string{"", "abc carol", fmt.Sprintf("%x", HashKey("c")), fmt.Sprintf("%x carol jones", HashKey("c"))} {
		write(bad)
		expect("c", "carol") // goes on as it was
		if _, err := NewKeys(KeysOptions{Name: "x", File: path}); err == nil {
			t.Errorf("file %q", bad)
		}
	}
	if _, err := NewKeys(KeysOptions{Name: "x"}); err == nil {
		t.Error("no key at all")
	}
	own, err := NewKeys(KeysOptions{Name: "x", Header: "X-Own", Keys: []Key{{SHA256: HashKey("a")}}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := own.Authenticate(withKey("X-Own", "a")); err != nil {
		t.Error(err)
	}
	if _, err := own.Authenticate(withKey("X-Api-Key", "a")); err == nil {
		t.Error("in another header")
	}
	// The hash of nothing must never admit who sends nothing.
	empty, err := NewKeys(KeysOptions{Name: "x", Keys: []Key{{SHA256: HashKey("")}}})
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range []*http.Request{httptest.NewRequest("GET", "/", nil), withKey("X-Api-Key", "")} {
		if id, err := empty.Authenticate(r); err == nil {
			t.Errorf("%v is admitted as %+v", r.Header, id)
		}
	}
}

// The first that knows the sender counts; what another one refuses does not end the
// search; whoever nobody knows is refused before anything else sees his request.
func TestChain(t *testing.T) {
	key, err := NewKeys(KeysOptions{Name: "backend", Keys: []Key{{SHA256: HashKey("k")}}})
	if err != nil {
		t.Fatal(err)
	}
	es := signers(t)["ES256"]
	tokens, err := NewTokens(TokensOptions{Name: "users", PublicKey: es.pem(t)})
	if err != nil {
		t.Fatal(err)
	}
	both := bearer(es.sign(t, "", good(nil)))
	both.Header.Set("X-Api-Key", "k")
	bad := bearer("x.y.z")
	bad.Header.Set("X-Api-Key", "wrong")
	anybody := Anonymous{Name: "public"}
	for name, c := range map[string]struct {
		chain Chain
		r     *http.Request
		want  string // entry; "": refused
	}{
		"key":                    {Chain{key, tokens, anybody}, withKey("X-Api-Key", "k"), "backend"},
		"token":                  {Chain{key, tokens, anybody}, bearer(es.sign(t, "", good(nil))), "users"},
		"both, key first":        {Chain{key, tokens}, both, "backend"},
		"both, token first":      {Chain{tokens, key}, both, "users"},
		"wrong, anybody":         {Chain{key, tokens, anybody}, bad, "public"},
		"wrong, nobody":          {Chain{key, tokens}, bad, ""},
		"nothing":                {Chain{key, tokens}, httptest.NewRequest("GET", "/", nil), ""},
		"empty chain, right key": {Chain{}, both, ""},
	} {
		var got Identity
		var caller string
		h := Require(c.chain, nil)(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			got, _ = Of(r.Context())
			caller = Caller(r)
		}))
		w := httptest.NewRecorder()
		h.ServeHTTP(w, c.r)
		if got.Entry != c.want || (w.Code == http.StatusUnauthorized) != (c.want == "") || (caller == "") != (c.want == "") {
			t.Errorf("%s: %d, %+v, caller %q", name, w.Code, got, caller)
		}
		if c.want == "" && (w.Header().Get("WWW-Authenticate") == "" || !strings.Contains(w.Body.String(), `"code":"unauthorized"`)) {
			t.Errorf("%s: %v %s", name, w.Header(), w.Body)
		}
	}
	if got := Caller(httptest.NewRequest("GET", "/", nil)); got != "" {
		t.Errorf("caller of a request that nobody let through: %q", got)
	}
}

// Owners differ whenever identities do, whatever characters their parts have.
func TestOwnersDiffer(t *testing.T) {
	seen := map[string]Identity{}
	words := []string{"", "a", "b", `"`, `" "`, "a b", `a" "b`, "\x00", "a\x00b"}
	for _, entry := range words {
		for _, subject := range words {
			id := Identity{Entry: entry, Subject: subject}
			if other, ok := seen[id.Owner()]; ok {
				t.Errorf("%+v is %+v", id, other)
			}
			seen[id.Owner()] = id
		}
	}
}

func TestAnonymousByAddress(t *testing.T) {
	r := httptest.NewRequest("GET", "/", nil)
	r.RemoteAddr = "[::ffff:203.0.113.9]:80"
	if id, err := (Anonymous{Name: "public"}).Authenticate(r); err != nil || id != (Identity{"public", KindAnonymous, "203.0.113.9"}) {
		t.Errorf("%+v, %v", id, err)
	}
	by := Anonymous{Name: "public", Client: func(*http.Request) netip.Addr { return netip.MustParseAddr("198.51.100.1") }}
	if id, _ := by.Authenticate(r); id.Subject != "198.51.100.1" {
		t.Errorf("%+v", id)
	}
	for address, want := range map[string]string{"[2001:db8:1:2:3::4]:80": "2001:db8:1:2::/64", "[2001:db8:1:2:ffff::9%eth0]:80": "2001:db8:1:2::/64", "[2001:db8:1:3::4]:80": "2001:db8:1:3::/64"} {
		r.RemoteAddr = address
		if id, _ := (Anonymous{Name: "public"}).Authenticate(r); id.Subject != want {
			t.Errorf("%s: %+v", address, id)
		}
	}
}

// eachSecond is a clock that is a second later whenever it is looked at, so that files
// are read again each time.
func eachSecond() func() time.Time {
	now := time.Now()
	return func() time.Time {
		now = now.Add(time.Second)
		return now
	}
}
