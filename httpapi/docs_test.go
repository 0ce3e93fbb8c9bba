package httpapi_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/swapper-go/swapper/httpapi"
)

// The page is served below the base path, allows no foreign script and no inline handler, and
// loads nothing but the document.
func TestPageOfTheOperations(t *testing.T) {
	mux := http.NewServeMux()
	httpapi.Mount(mux, "/v1/api", &fake{}, httpapi.Options{})
	ask := func(method, path string) *httptest.ResponseRecorder {
		w := httptest.NewRecorder()
		mux.ServeHTTP(w, httptest.NewRequest(method, path, nil))
		return w
	}
	w := ask(http.MethodGet, "/v1/api/docs")
	if w.Code != http.StatusOK || !strings.HasPrefix(w.Header().Get("Content-Type"), "text/html") {
		t.Fatalf("status %d, %s", w.Code, w.Header())
	}
	policy := w.Header().Get("Content-Security-Policy")
	if strings.Contains(policy, "unsafe") || strings.Count(policy, "'sha256-") != 2 || !strings.HasPrefix(policy, "default-src 'none'") {
		t.Errorf("policy %s", policy)
	}
	if text := w.Body.String(); strings.Contains(text, "://") || strings.Contains(text, "src=") || strings.Contains(text, "style=") {
		t.Error("the page names something foreign, or what its policy forbids")
	}
	if w := ask(http.MethodPost, "/v1/api/docs"); w.Code != http.StatusMethodNotAllowed {
		t.Errorf("POST: status %d", w.Code)
	}
}
