package lphttp

import (
	"encoding/hex"
	"net/http"
	"testing"
	"time"

	"github.com/swapper-go/swapper/internal/flowtest"
	"github.com/swapper-go/swapper/internal/trial"
)

// fixedRand yields the given bytes once, and zeros after them.
type fixedRand struct{ data []byte }

func (r *fixedRand) Read(p []byte) (int, error) {
	n := copy(p, r.data)
	r.data = r.data[n:]
	clear(p[n:])
	return len(p), nil
}

func checkInfoRequests(t *testing.T, nonce, get, postPath, postType, postBody string) {
	t.Helper()
	random := trial.Must(hex.DecodeString(nonce))(t)
	got := make(chan captured, 2)
	both := make(chan struct{})
	base := flowtest.Serve(t, func(w http.ResponseWriter, r *http.Request) {
		got <- captured{r.Method, r.RequestURI, r.Header.Get("Content-Type"), r.Header.Get("Accept"), flowtest.ReadAll(r)}
		select { // neither is answered before both are there
		case <-both:
		case <-time.After(10 * time.Second):
		}
		_, _ = w.Write([]byte(`{"envelope":"{\"nonce\":\"` + nonce + `\",\"services\":{}}","chains":{}}`))
	})
	done := make(chan error, 1)
	go func() {
		_, err := client(t, Options{Rand: &fixedRand{data: random}}).Info(t.Context(), base)
		done <- err
	}()
	for range 2 {
		switch r := <-got; r.method {
		case http.MethodGet:
			if r.uri != get {
				t.Errorf("GET %s, want %s", r.uri, get)
			}
		case http.MethodPost:
			if r.uri != postPath || r.contentType != postType || string(r.body) != postBody {
				t.Errorf("POST %s %s %s", r.uri, r.contentType, r.body)
			}
		}
	}
	close(both)
	if err := <-done; err != nil {
		t.Error(err)
	}
}
