package main

import (
	"net/http"
	"net/netip"
	"slices"
	"strings"
)

// clientOf returns the address that a request comes from: that of the connection
// or, if it belongs to a trusted proxy, the right-most one of X-Forwarded-For
// that does not. What stands further left is whatever the client has written.
func clientOf(r *http.Request, trusted []netip.Prefix) netip.Addr {
	peer, err := netip.ParseAddrPort(r.RemoteAddr)
	if err != nil {
		return netip.Addr{}
	}
	client := peer.Addr().Unmap()
	hops := strings.Split(strings.Join(r.Header.Values("X-Forwarded-For"), ","), ",")
	for _, hop := range slices.Backward(hops) {
		if !slices.ContainsFunc(trusted, func(p netip.Prefix) bool { return p.Contains(client) }) {
			break
		}
		next, err := netip.ParseAddr(strings.TrimSpace(hop))
		if err != nil {
			break
		}
		client = next.Unmap()
	}
	return client
}
