package devnet_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/swapper-go/swapper/internal/devnet"
	"github.com/swapper-go/swapper/internal/devnet/control"
	"github.com/swapper-go/swapper/internal/trial"
)

// Who asks the control address without a call learns of all calls, each of which exists.
func TestCallsAreListed(t *testing.T) {
	n := trial.Must(devnet.Start(t.Context(), devnet.Options{Starknet: true, Solana: "v1"}))(t)
	defer n.Close()
	mux := control.Handler(n).(*http.ServeMux)
	ask := func(method, path string) *httptest.ResponseRecorder {
		w := httptest.NewRecorder()
		mux.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), method, path, nil))
		return w
	}
	list := ask(http.MethodGet, "/")
	listed := 0
	for line := range strings.Lines(list.Body.String()) {
		words := strings.Fields(line)
		if len(words) < 2 || words[0] != http.MethodGet && words[0] != http.MethodPost {
			continue
		}
		listed++
		path, _, _ := strings.Cut(words[1], "?")
		r := httptest.NewRequestWithContext(t.Context(), words[0], path, nil)
		if _, pattern := mux.Handler(r); pattern != words[0]+" "+path {
			t.Errorf("%s %s is listed and served by %q", words[0], path, pattern)
		}
	}
	if list.Code != http.StatusOK || listed < 20 {
		t.Errorf("status %d, %d calls", list.Code, listed)
	}
	if w := ask(http.MethodGet, "/pay"); w.Code != http.StatusNotFound || !strings.HasPrefix(w.Body.String(), "/pay is not a call") || !strings.Contains(w.Body.String(), "POST /pay") {
		t.Errorf("by another method: %d %s", w.Code, w.Body)
	}
	if w := ask(http.MethodPost, "/misbehave?lp=0&faults=Sulk"); w.Code != http.StatusBadRequest || !strings.Contains(w.Body.String(), `unknown fault "Sulk"; there are `) || !strings.Contains(w.Body.String(), "NeverPay, ") {
		t.Errorf("an unknown fault: %d %s", w.Code, w.Body)
	}
}
