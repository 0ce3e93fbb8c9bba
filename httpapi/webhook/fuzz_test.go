package webhook

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/swapper-go/swapper/fault"
)

// Whatever a configuration says, it is taken or refused with the field's name, and no
// error repeats what may be secret.
func FuzzEndpoint(f *testing.F) {
	secret := NewSecret()
	f.Add("shop", "https://shop.example/hooks?token=1", secret, false)
	f.Add("shop", "http://127.0.0.1:1/", secret, true)
	f.Add("", "https://user:password@shop.example/#x", "whsec_", false)
	f.Add("a b", "https:shop.example", secret[:20], false)
	f.Add("shop", "https://x.onion/", secret+"=", true)
	f.Add("shop", "https://[::1", strings.TrimPrefix(secret, secretPrefix), true)
	f.Fuzz(func(t *testing.T, name, url, secret string, local bool) {
		e := Endpoint{Name: name, URL: url, Secrets: []string{secret}}
		err := e.check(local)
		if err == nil {
			key, err := parseSecret(secret)
			if err != nil || len(key) < 24 || len(key) > 64 {
				t.Errorf("a secret of %d bytes: %v", len(key), err)
			}
			if request, err := http.NewRequest(http.MethodPost, url, nil); err != nil || request.URL.Host == "" || request.URL.User != nil || !local && request.URL.Scheme != "https" {
				t.Errorf("%q is taken: %v", url, err)
			}
			return
		}
		if fault.CodeOf(err) != fault.InvalidInput {
			t.Errorf("%v has the code %s", err, fault.CodeOf(err))
		}
		text := err.Error()
		if len(url) > 8 && strings.Contains(text, url) || len(secret) > 8 && strings.Contains(text, secret) {
			t.Errorf("the error repeats what it was given: %s", text)
		}
	})
}

func TestSecrets(t *testing.T) {
	t.Parallel()
	one, two := NewSecret(), NewSecret()
	if one == two || !strings.HasPrefix(one, "whsec_") {
		t.Errorf("%d bytes", len(one))
	}
	for name, s := range map[string]string{"none": "", "no prefix": strings.TrimPrefix(one, "whsec_"), "short": "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLa==",
		"long": "whsec_" + strings.Repeat("AAAA", 22), "line": one + "\n", "bits left over": "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSx" + "Mf=="} {
		if _, err := parseSecret(s); err == nil {
			t.Errorf("%s: taken", name)
		}
	}
	key, err := parseSecret("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw") // of the scheme's own tests
	if err != nil || len(key) != 24 {
		t.Fatalf("%d %v", len(key), err)
	}
	if got, want := signature([][]byte{key}, "msg_p5jXN8AQM9LWM0D4loKWxJek", time.Unix(1614265330, 0), []byte(`{"test": 2432232314}`)), "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

func TestRetryAfterHeader(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 22, 20, 0, 0, 0, time.UTC)
	for text, want := range map[string]time.Duration{"": 0, "5": 5 * time.Second, "-5": 0, "999999999": maxAfter, "99999999999999999999": 0, "soon": 0,
		"Sun, 22 Nov 2026 20:01:00 GMT": time.Minute, "Sun, 22 Nov 2026 19:00:00 GMT": 0, "Sun, 22 Nov 2099 19:00:00 GMT": maxAfter} {
		if got := retryAfter(text, now); got != want {
			t.Errorf("%q: %s, want %s", text, got, want)
		}
	}
}
