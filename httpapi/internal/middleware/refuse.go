// Package middleware is what the packages of middleware share: refusals, a record of how a
// request was answered, and files that may be replaced while the process runs.
package middleware

import (
	"encoding/json"
	"math"
	"net/http"
	"strconv"
	"time"
)

type refusal struct {
	Error      string `json:"error"`
	Code       string `json:"code"`
	RetryAfter int64  `json:"retryAfter,omitempty"` // seconds
}

// Refuse answers with an error in the form of the API's errors. A retry above 0 says when to come again, in whole
// seconds, rounded up.
func Refuse(w http.ResponseWriter, status int, code, sentence string, retry time.Duration) {
	b := refusal{Error: sentence, Code: code}
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
