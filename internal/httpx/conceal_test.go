package httpx_test

import (
	"errors"
	"testing"

	"github.com/swapper-go/swapper/internal/httpx"
)

// What a server repeats of the URL that it was asked by has no access key, in whatever form.
func TestConceal(t *testing.T) {
	const of = "https://user-0123:pass%2F0123@host.example/v2/path%20key-01/api?apikey=query%2Bkey&n=1"
	for text, want := range map[string]string{
		"GET /v2/path%20key-01/api?apikey=query%2Bkey&n=1":       "GET /v2/***/api?apikey=***&n=1",
		`no key "path key-01", none "query+key"`:                 `no key "***", none "***"`,
		"user-0123:pass/0123@host.example is unknown":            "***:***@host.example is unknown",
		"Authorization: Basic dXNlci0wMTIzOnBhc3MvMDEyMw== (v2)": "Authorization: Basic *** (v2)",
		"nothing of it": "nothing of it",
	} {
		if got := string(httpx.Conceal([]byte(text), of)); got != want {
			t.Errorf("Conceal(%q) = %q, want %q", text, got, want)
		}
		cause := errors.New(text)
		if err := httpx.Concealed(cause, of); err.Error() != want || !errors.Is(err, cause) {
			t.Errorf("Concealed(%q) = %q, want %q and the cause", text, err, want)
		}
	}
	if err := httpx.Concealed(nil, of); err != nil {
		t.Errorf("Concealed(nil) = %v", err)
	}
}
