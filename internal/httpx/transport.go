package httpx

import "net/http"

// Transport is [http.DefaultTransport] that keeps as many connections to a host as are
// used at once, if that is not more than perHost: the default keeps two, so that whoever
// has more requests under way connects anew for most of them. Where a program has put
// another transport in the default's place, it is that.
func Transport(perHost int) http.RoundTripper {
	t, ok := http.DefaultTransport.(*http.Transport)
	if !ok {
		return http.DefaultTransport
	}
	t = t.Clone()
	t.MaxIdleConnsPerHost = perHost
	t.MaxIdleConns = max(t.MaxIdleConns, 4*perHost)
	return t
}
