package serve

import (
	"net/http"
	"net/netip"
	"slices"
	"strings"
)

// Trusted are the networks of the reverse proxies whose X-Forwarded-For is believed.
// A client inside them could claim any address: list the proxies' own addresses,
// not a network that clients share with them. The zero value trusts no proxy.
type Trusted []netip.Prefix

// Client returns the address that a request comes from: that of the connection or, if
// it belongs to a trusted proxy, the right-most one of X-Forwarded-For that does
// not. What stands further left is whatever the client has written. An entry that
// is no address ends the search at the proxy that wrote it. The result is the zero
// value for connections without an address, such as Unix sockets.
//
// It is of the form that is compared with prefixes: IPv4 addresses are not mapped into
// IPv6, and have no zone.
func (t Trusted) Client(r *http.Request) netip.Addr {
	peer, err := netip.ParseAddrPort(r.RemoteAddr)
	if err != nil {
		return netip.Addr{}
	}
	client := plain(peer.Addr())
	for _, header := range slices.Backward(r.Header.Values("X-Forwarded-For")) {
		for more := true; more; {
			if !t.trusts(client) {
				return client
			}
			hop := header
			if at := strings.LastIndexByte(header, ','); at >= 0 {
				header, hop = header[:at], header[at+1:]
			} else {
				more = false
			}
			next, ok := parse(strings.TrimSpace(hop))
			if !ok {
				return client
			}
			client = next
		}
	}
	return client
}

func (t Trusted) trusts(a netip.Addr) bool {
	return slices.ContainsFunc(t, func(p netip.Prefix) bool { return p.Contains(a) })
}

// parse reads an address, with a port as some proxies add it.
func parse(text string) (netip.Addr, bool) {
	if a, err := netip.ParseAddr(strings.TrimSuffix(strings.TrimPrefix(text, "["), "]")); err == nil {
		return plain(a), true
	}
	if a, err := netip.ParseAddrPort(text); err == nil {
		return plain(a.Addr()), true
	}
	return netip.Addr{}, false
}

func plain(a netip.Addr) netip.Addr { return a.Unmap().WithZone("") }
