package main

import (
	"net/http"
	"net/netip"
	"testing"
)

// A client that no trusted proxy vouches for is who its connection says, and
// what a trusted one appends cannot be overruled from the left.
func FuzzClientOf(f *testing.F) {
	f.Add("10.0.0.1:1", "198.51.100.1, 10.0.0.2")
	f.Add("203.0.113.9:1", "1.1.1.1")
	f.Add("[::1]:1", ",, ,")
	trusted := []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")}
	f.Fuzz(func(t *testing.T, peer, forwarded string) {
		of := func(forwarded string) netip.Addr {
			return clientOf(&http.Request{RemoteAddr: peer, Header: http.Header{"X-Forwarded-For": {forwarded}}}, trusted)
		}
		got := of(forwarded)
		from, err := netip.ParseAddrPort(peer)
		if err == nil && !trusted[0].Contains(from.Addr().Unmap()) && got != from.Addr().Unmap() {
			t.Errorf("%s says it is %s", peer, got)
		}
		if err == nil && trusted[0].Contains(from.Addr().Unmap()) && of(forwarded+", 203.0.113.7") != netip.MustParseAddr("203.0.113.7") {
			t.Errorf("%q overrules its proxy", forwarded)
		}
	})
}
