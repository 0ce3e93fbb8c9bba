package auth

import (
	"net/http"
	"net/netip"
)

// Anonymous admits everybody. Its subjects are the addresses of the senders.
type Anonymous struct {
	Name string
	// Client returns the address that a request comes from, as
	// [github.com/swapper-go/swapper/httpapi/proxy.Trusted.Client] does; nil: that of the connection.
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
	return Identity{Entry: a.Name, Kind: KindAnonymous, Subject: client.String()}, nil
}
