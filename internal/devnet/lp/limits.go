package lp

import (
	"math/big"
	"net"
	"net/http"
	"sync"
	"time"
)

// Limits are what an LP takes on (protocol: lp-protocol.md §3.7, §8.1).
type Limits struct {
	Inflight int      // swaps of a service that may be under way at once; 0: 100
	Reserve  *big.Int // native coin below which nothing is quoted, in wei; nil: 0

	// Of one address of clients, in five minutes and at once; 0: any number, since
	// all clients of a local network have the same.
	Requests, Open int
}

const (
	inflightMost  = 100
	requestWindow = 5 * time.Minute
)

// underWay is a deal that may be counted against [Limits].Inflight, while it is in
// a state in which the LP's money moves (protocol: lp-protocol.md §8.4). It is
// called under the LP's mutex.
type underWay interface{ underWay() bool }

func (d *toBTC) underWay() bool { return d.state == sending || d.state == sent }
func (d *toBTCLN) underWay() bool {
	return d.state == committed || d.state == sending || d.state == sent
}
func (d *auto) underWay() bool      { return d.state == autoSent }
func (d *trustedLN) underWay() bool { return d.code == codeGasHeld || d.code == codeGasSent }

// busy counts the deals of type D that are under way.
func busy[D underWay](l *LP) (n int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, d := range l.live {
		if d, ok := d.(D); ok && d.underWay() {
			n++
		}
	}
	return n
}

// withdrawing counts the withdrawals that are not claimed.
func (l *LP) withdrawing() (n int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, v := range l.vaults {
		n += len(v.pending)
	}
	return n
}

// admit refuses a quote that is beyond what the LP can take on now. inflight is how
// many swaps of the kind are under way.
func (l *LP) admit(r *reader, s *side, inflight int) error {
	if err := l.tooMany(inflight); err != nil {
		return err
	}
	if least := l.o.Limits.Reserve; least != nil {
		have, err := s.gas(r.ctx)
		if err != nil {
			return err
		}
		if have.Cmp(least) < 0 {
			return refuse(20012, "LP ran out of native token to cover gas fees")
		}
	}
	return nil
}

func (l *LP) tooMany(inflight int) error {
	most := l.o.Limits.Inflight
	if most == 0 {
		most = inflightMost
	}
	if inflight >= most {
		return refuse(20013, "Too many in-flight swaps, retry later!")
	}
	return nil
}

// visits are the requests of one address of clients.
type visits struct {
	began time.Time // of the window
	count int
	open  int
}

// limited refuses requests of addresses that make too many.
func (l *LP) limited(next http.Handler) http.Handler {
	var mu sync.Mutex
	all := map[string]*visits{}
	limits := l.o.Limits
	enter := func(host string) (refused string, status int) {
		mu.Lock()
		defer mu.Unlock()
		v := all[host]
		if v == nil {
			v = &visits{began: l.now()}
			all[host] = v
		}
		if now := l.now(); now.Sub(v.began) >= requestWindow {
			v.began, v.count = now, 0
		}
		switch {
		case limits.Requests > 0 && v.count >= limits.Requests:
			return "Too many requests", http.StatusTooManyRequests
		case limits.Open > 0 && v.open >= limits.Open:
			return "Too many open requests", http.StatusServiceUnavailable
		}
		v.count++
		v.open++
		return "", 0
	}
	return http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		host, _, _ := net.SplitHostPort(req.RemoteAddr)
		if refused, status := enter(host); refused != "" {
			w.WriteHeader(status)
			_, _ = w.Write([]byte(refused)) // or the client is gone
			return
		}
		defer func() {
			mu.Lock()
			defer mu.Unlock()
			all[host].open--
		}()
		next.ServeHTTP(w, req)
	})
}
