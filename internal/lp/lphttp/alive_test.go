package lphttp

import (
	"io"
	"math/big"
	"net/http"
	"sync/atomic"
	"testing"

	"github.com/swapper-go/swapper/internal/flowtest"
	"github.com/swapper-go/swapper/internal/lp"
)

// An answer is a sign of life, a refusal too; a gateway's error is none.
func TestAnswersAreSignsOfLife(t *testing.T) {
	for name, at := range map[string]struct {
		handler http.HandlerFunc
		alive   bool
	}{
		"answers": {func(w http.ResponseWriter, _ *http.Request) {
			_, _ = io.WriteString(w, `{"code":20000,"msg":"","data":`+flowtest.ToBTCData+`}`)
		}, true},
		"refuses":     {func(w http.ResponseWriter, _ *http.Request) { http.Error(w, `{"code":20100,"msg":"no"}`, 400) }, true},
		"inner error": {func(w http.ResponseWriter, _ *http.Request) { http.Error(w, `{"code":20009,"msg":"no"}`, 500) }, true},
		"too many calls": {func(w http.ResponseWriter, _ *http.Request) {
			http.Error(w, "Too many requests", http.StatusTooManyRequests)
		}, true},
		"gateway": {func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "no upstream", http.StatusBadGateway) }, false},
		"cuts":    {func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, false},
	} {
		t.Run(name, func(t *testing.T) {
			var heard atomic.Int64
			base := flowtest.Serve(t, at.handler)
			c := client(t, Options{Retry: retryTimes(1), Heard: func(url string) {
				if url == base || url == base+"/tobtc" {
					heard.Add(1)
				}
			}})
			_, _ = c.Status(t.Context(), lp.StatusQuery{URL: base + "/tobtc", Endpoint: lp.GetInvoiceStatus, ID: "ab"})
			_, _ = c.ToBTC(t.Context(), base, lp.ToBTCRequest{Amount: big.NewInt(1)}, lp.Early{})
			err := c.Probe(t.Context(), base)
			want := int64(0)
			if at.alive {
				want = 3
			}
			if (err == nil) != at.alive || heard.Load() != want {
				t.Errorf("sign of life: %v, heard %d times, want %d", err, heard.Load(), want)
			}
		})
	}
}
