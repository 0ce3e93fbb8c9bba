package limit

import (
	"net/http"
	"sync"
	"time"

	"github.com/swapper-go/swapper/httpapi/internal/refuse"
)

// Places bounds how many requests are answered at once. Zero fields are no bound.
type Places struct {
	Total int // of all; more are answered 503
	// Each is for one sender, more are answered 429: operations that wait for minutes
	// would otherwise let one sender take every place.
	Each int
}

// InFlight passes on the requests for which there is a place and answers all others at
// once: nobody waits in a queue that grows. of says whose request it is; one without a
// sender, "", takes part in Total alone. of may be nil where Each is 0.
func InFlight(p Places, of func(*http.Request) string) func(http.Handler) http.Handler {
	var mu sync.Mutex
	total, each := 0, map[string]int{} // of senders with requests in progress
	enter := func(key string) (status int) {
		mu.Lock()
		defer mu.Unlock()
		switch {
		case p.Total > 0 && total >= p.Total:
			return http.StatusServiceUnavailable
		case p.Each > 0 && key != "" && each[key] >= p.Each:
			return http.StatusTooManyRequests
		}
		total++
		if key != "" {
			each[key]++
		}
		return 0
	}
	leave := func(key string) {
		mu.Lock()
		defer mu.Unlock()
		total--
		if each[key]--; each[key] <= 0 {
			delete(each, key)
		}
	}
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			key := ""
			if of != nil {
				key = of(r)
			}
			switch enter(key) {
			case http.StatusServiceUnavailable:
				refuse.Write(w, http.StatusServiceUnavailable, "busy", "The service is busy; try again shortly", time.Second)
				return
			case http.StatusTooManyRequests:
				refuse.Write(w, http.StatusTooManyRequests, "rate_limited", "Too many requests at once", time.Second)
				return
			}
			defer leave(key)
			next.ServeHTTP(w, r)
		})
	}
}
