package httpx

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"syscall"
	"time"

	"golang.org/x/net/proxy"
)

// ErrOnion is the error of a request to an onion host without a proxy.
var ErrOnion = errors.New("onion host, but no onion proxy is configured")

// ErrRedirect is the error of a redirect that is not followed.
var ErrRedirect = errors.New("redirect not followed")

// Resolver finds the addresses of a name; [*net.Resolver] is one.
type Resolver interface {
	LookupNetIP(ctx context.Context, network, host string) ([]netip.Addr, error)
}

// Guard calls hosts that strangers name (LNURL services): only public
// addresses, checked after name resolution on the very address that is dialled,
// so that a name that resolves differently each time does not pass either. If
// one of a name's addresses is not public, the name is refused. Proxies of the
// environment are not used.
type Guard struct {
	AllowLocal bool     // call addresses that are not public and follow redirects to http; for networks without strangers
	OnionProxy string   // host:port of a SOCKS5 proxy for .onion hosts, which it resolves; empty: onion hosts are refused
	Resolver   Resolver // nil: the system's
	TLS        *tls.Config
}

// Transport returns a transport that dials through the guard.
func (g Guard) Transport() *http.Transport {
	return &http.Transport{
		DialContext:            g.DialContext,
		TLSClientConfig:        g.TLS,
		ForceAttemptHTTP2:      true,
		MaxIdleConns:           32,
		MaxIdleConnsPerHost:    2,
		IdleConnTimeout:        30 * time.Second,
		TLSHandshakeTimeout:    10 * time.Second,
		ResponseHeaderTimeout:  15 * time.Second,
		ExpectContinueTimeout:  time.Second,
		MaxResponseHeaderBytes: 64 << 10,
	}
}

// CheckRedirect is for [http.Client]: at most three redirects, to https only
// (one onion host may send to another over http). The address of the next
// request, which may hold a secret, is not told to the next host.
func (g Guard) CheckRedirect(req *http.Request, via []*http.Request) error {
	if len(via) > 3 {
		return fmt.Errorf("%w: more than three redirects", ErrRedirect)
	}
	onion := IsOnion(req.URL.Hostname()) && IsOnion(via[len(via)-1].URL.Hostname())
	if req.URL.Scheme != "https" && !(req.URL.Scheme == "http" && (onion || g.AllowLocal)) {
		return fmt.Errorf("%w: to %s instead of https", ErrRedirect, req.URL.Scheme)
	}
	req.Header.Del("Referer")
	return nil
}

// DialContext connects to a host:port over TCP, under the guard's rules.
func (g Guard) DialContext(ctx context.Context, network, address string) (net.Conn, error) {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return nil, err
	}
	if IsOnion(host) {
		return g.dialOnion(ctx, address)
	}
	addrs, err := g.resolve(ctx, host)
	if err != nil {
		return nil, err
	}
	dialer := net.Dialer{Timeout: 4 * time.Second} // per address, so that a dead one leaves time for the next
	if !g.AllowLocal {
		dialer.Control = controlPublic
	}
	var last error
	for _, a := range addrs {
		conn, err := dialer.DialContext(ctx, network, net.JoinHostPort(a.String(), port))
		if err == nil {
			return conn, nil
		}
		last = err
	}
	return nil, last
}

// resolve returns the addresses of host, IPv4 first, or an error if there is
// none or one of them must not be called.
func (g Guard) resolve(ctx context.Context, host string) ([]netip.Addr, error) {
	addrs := []netip.Addr{}
	if a, err := netip.ParseAddr(host); err == nil {
		addrs = append(addrs, a)
	} else {
		var r Resolver = net.DefaultResolver
		if g.Resolver != nil {
			r = g.Resolver
		}
		if addrs, err = r.LookupNetIP(ctx, "ip", host); err != nil {
			return nil, err
		}
	}
	if len(addrs) == 0 {
		return nil, fmt.Errorf("host %s has no address", host)
	}
	var four, six []netip.Addr
	for _, a := range addrs {
		if !g.AllowLocal && !Public(a) {
			return nil, &AddressError{Host: host, Addr: a.Unmap()}
		}
		if a = a.Unmap(); a.Is4() {
			four = append(four, a)
		} else {
			six = append(six, a)
		}
	}
	return append(four, six...), nil
}

// controlPublic looks at the address of the socket itself, right before it is
// connected, whatever led there.
func controlPublic(_, address string, _ syscall.RawConn) error {
	ap, err := netip.ParseAddrPort(address)
	if err != nil {
		return err
	}
	if !Public(ap.Addr()) {
		return &AddressError{Host: ap.Addr().String(), Addr: ap.Addr()}
	}
	return nil
}

func (g Guard) dialOnion(ctx context.Context, address string) (net.Conn, error) {
	if g.OnionProxy == "" {
		return nil, ErrOnion
	}
	d, err := proxy.SOCKS5("tcp", g.OnionProxy, nil, &net.Dialer{Timeout: 10 * time.Second})
	if err != nil {
		return nil, err
	}
	c, ok := d.(proxy.ContextDialer)
	if !ok {
		return nil, errors.New("the SOCKS dialer does not support cancellation")
	}
	return c.DialContext(ctx, "tcp", address)
}

// IsOnion reports whether host, without a port, is a name of the Tor network.
func IsOnion(host string) bool {
	return strings.HasSuffix(strings.ToLower(strings.TrimSuffix(host, ".")), ".onion")
}
