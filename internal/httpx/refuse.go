package httpx

import (
	"encoding/json"
	"math"
	"net/http"
	"strconv"
	"time"

	"github.com/swapper-go/swapper/fault"
)

// Refusal is an error that has its own status instead of its code's.
type Refusal struct {
	Status int
	Allow  string // header Allow; "" for none
	Err    *fault.Error
}

func (e *Refusal) Error() string { return e.Err.Error() }

func (e *Refusal) Unwrap() error { return e.Err }

type body struct {
	Error      string `json:"error"`
	Code       string `json:"code"`
	RetryAfter int64  `json:"retryAfter,omitempty"` // seconds
}

// WriteError answers with an error. A retry above 0 says when to come again, in whole
// seconds, rounded up.
func WriteError(w http.ResponseWriter, status int, code, sentence string, retry time.Duration) {
	b := body{Error: sentence, Code: code}
	h := w.Header()
	if retry > 0 {
		b.RetryAfter = int64(math.Ceil(retry.Seconds()))
		h.Set("Retry-After", strconv.FormatInt(b.RetryAfter, 10))
	}
	h.Set("Content-Type", "application/json; charset=utf-8")
	h.Set("Cache-Control", "no-store")
	h.Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(b) // a caller that is gone needs no answer
}
