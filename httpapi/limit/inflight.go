package limit

import (
	"net/http"
	"time"

	"github.com/swapper-go/swapper/internal/httpx"
)

// InFlight passes on the requests for which there is a place and answers all others at
// once: 503 where a crowd is full, 429 where a sender has his share. of says whose request
// it is; nil: all are one crowd's.
func InFlight(p Places, of func(*http.Request) Sender) func(http.Handler) http.Handler {
	inside := NewCrowds(p)
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			var s Sender
			if of != nil {
				s = of(r)
			}
			leave, err := inside.Enter(s)
			switch err {
			case nil:
				defer leave()
				next.ServeHTTP(w, r)
			case errFull:
				httpx.WriteError(w, http.StatusServiceUnavailable, "busy", "The service is busy; try again shortly", time.Second)
			default:
				httpx.WriteError(w, http.StatusTooManyRequests, "rate_limited", "Too many requests at once", time.Second)
			}
		})
	}
}
