// Package middleware is what the API and the packages of middleware share: errors with a status
// of their own, the refusals of middleware in the form of the API's errors, and a record of how
// a request was answered.
package middleware

import (
	"encoding/json"
	"math"
	"net/http"
	"strconv"
	"time"

	"github.com/swapper-go/swapper/fault"
)

// Error is an error that has its own status instead of its code's.
type Error struct {
	Status int
	Allow  string // header Allow; "" for none
	Err    *fault.Error
}

func (e *Error) Error() string { return e.Err.Error() }

func (e *Error) Unwrap() error { return e.Err }

type body struct {
	Error      string `json:"error"`
	Code       string `json:"code"`
	RetryAfter int64  `json:"retryAfter,omitempty"` // seconds
}

// Write answers with an error. A retry above 0 says when to come again, in whole
// seconds, rounded up.
func Write(w http.ResponseWriter, status int, code, sentence string, retry time.Duration) {
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
