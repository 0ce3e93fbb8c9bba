package main

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"net"
	"net/http"
	"os"
	"time"

	"github.com/swapper-go/swapper"
	"github.com/swapper-go/swapper/fault"
)

// lnurlConfig is how LNURL services and Lightning addresses are reached.
type lnurlConfig struct {
	OnionProxy string // host:port of a SOCKS5 proxy (Tor), by which onion services are called
	// AllowLocal permits http and addresses that are not public. On a public
	// service it lets anybody reach what only the server can reach.
	AllowLocal bool

	// Only with AllowLocal: host:port to dial in place of a host, by its name, and a
	// PEM file of further certificates to accept.
	Hosts  map[string]string
	CAFile string

	ca []byte // in place of CAFile
}

func (c lnurlConfig) read(path func(string) string) (swapper.LNURLOptions, error) {
	out := swapper.LNURLOptions{OnionProxy: c.OnionProxy, AllowLocal: c.AllowLocal}
	if len(c.Hosts) == 0 && c.CAFile == "" && c.ca == nil {
		return out, nil
	}
	switch {
	case !c.AllowLocal:
		return out, fault.Invalid("allowLocal", "must be true for hosts and caFile, which are for test networks")
	case c.OnionProxy != "":
		return out, fault.Invalid("onionProxy", "cannot be combined with hosts and caFile")
	}
	if c.CAFile != "" {
		text, err := os.ReadFile(path(c.CAFile))
		if err != nil {
			return out, fault.Invalid("caFile", "%w", err)
		}
		c.ca = text
	}
	trust := &tls.Config{MinVersion: tls.VersionTLS12}
	if c.ca != nil {
		trust.RootCAs = x509.NewCertPool()
		if !trust.RootCAs.AppendCertsFromPEM(c.ca) {
			return out, fault.Invalid("caFile", "holds no certificate in PEM form")
		}
	}
	dialer := &net.Dialer{Timeout: 5 * time.Second}
	out.Transport = &http.Transport{TLSClientConfig: trust, DisableKeepAlives: true, DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
		if host, _, err := net.SplitHostPort(address); err == nil && c.Hosts[host] != "" {
			address = c.Hosts[host]
		}
		return dialer.DialContext(ctx, network, address)
	}}
	return out, nil
}
