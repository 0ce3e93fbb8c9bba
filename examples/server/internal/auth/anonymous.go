package auth

import (
	"net/http"
	"net/netip"
)

// Anonymous admits everybody. Its subjects are the addresses of the senders; of IPv6 the first
// 64 bits, since a device changes the rest every day.
type Anonymous struct {
	Name string
	// Client returns the address that a request comes from, as
	// package proxy's Trusted.Client does; nil: that of the connection.
	Client func(*http.Request) netip.Addr
}

// Authenticate implements [Authenticator]. It never fails.
func (a Anonymous) Authenticate(r *http.Request) (Identity, error) {
	var client netip.Addr
	if a.Client != nil {
		client = a.Client(r)
	} else if peer, err := netip.ParseAddrPort(r.RemoteAddr); err == nil {
		client = peer.Addr().Unmap()
	}
	subject := client.String()
	if plain := client.Unmap().WithZone(""); plain.Is6() {
		if network, err := plain.Prefix(64); err == nil {
			subject = network.String()
		}
	}
	return Identity{Entry: a.Name, Kind: KindAnonymous, Subject: subject}, nil
}
