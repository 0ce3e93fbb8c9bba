package main

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/textproto"
	"net/url"
	"os"
	"strings"
	"time"

	"golang.org/x/net/http/httpguts"
)

// What the forms of values say is checked here, before anything is opened.

// most is far above every sensible number of places or requests, and small enough to be reckoned
// with.
const most = 1_000_000_000

func (c *config) checkForms() error {
	all := []error{checkBasePath(c.BasePath), c.RateLimit.check(), c.CORS.check(), c.LPs.checkForms(c.BitcoinNetwork == "REGTEST")}
	for _, n := range []int{c.Limits.Connections, c.Limits.PerAddress, c.Limits.Requests, c.Limits.PerSender} {
		if n < 0 || n > most {
			all = append(all, fmt.Errorf("limits: must be from 0 to %d", most))
		}
	}
	for i, e := range c.Auth {
		if err := e.checkForms(); err != nil {
			all = append(all, fmt.Errorf("auth[%d].%w", i, err))
		}
		if i > 0 && c.Auth[i-1].Type == "none" {
			all = append(all, fmt.Errorf("auth[%d]: is never asked, because auth[%d] of type none admits everybody: put that one last", i, i-1))
		}
	}
	for i, p := range c.TrustedProxies {
		if err := checkProxy(p); err != nil {
			all = append(all, fmt.Errorf("trustedProxies[%d]: %w", i, err))
		}
	}
	if c.Admin != nil {
		for i, name := range c.Admin.Hosts {
			if name == "" || strings.Trim(strings.ToLower(name), "abcdefghijklmnopqrstuvwxyz0123456789.-_") != "" {
				all = append(all, fmt.Errorf("admin.hosts[%d]: must be the name of a host, without a port, such as swapper.internal", i))
			}
		}
	}
	if p := c.LNURL.OnionProxy; p != "" {
		if _, port, err := net.SplitHostPort(p); err != nil || port == "" {
			all = append(all, errors.New("lnurl.onionProxy: must be host:port"))
		}
	}
	return errors.Join(all...)
}

// checkBasePath refuses what the router would take for a pattern, or no request can have.
func checkBasePath(path string) error {
	for _, part := range strings.Split(strings.Trim(path, "/"), "/") {
		if part == "." || part == ".." || part == "" && strings.Trim(path, "/") != "" ||
			strings.Trim(part, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._~-") != "" {
			return errors.New("basePath: must be a path of letters, digits, hyphens, dots, underscores and tildes, such as /api or /swaps/v1")
		}
	}
	return nil
}

// shortestKey is below what a key can be guessed, and from logs be told apart. [auth.NewKey]
// makes them with 64 characters.
const shortestKey = 16

func (e entryConfig) checkForms() error {
	for name, key := range map[string]string{"apiKey": e.APIKey, "apiKeyEnv": os.Getenv(e.APIKeyEnv)} {
		if key != "" && (len(key) < shortestKey || strings.ContainsFunc(key, func(c rune) bool { return c <= ' ' || c > '~' })) {
			return fmt.Errorf("%s: a key must have %d characters at least, of visible ASCII; -new-key makes one", name, shortestKey)
		}
	}
	if e.Header != "" {
		switch textproto.CanonicalMIMEHeaderKey(e.Header) {
		case "Host", "Connection", "Content-Length", "Transfer-Encoding", "Trailer", "Upgrade", "Te":
			return fmt.Errorf("header: %s is the protocol's own; name another, such as x-api-key", e.Header)
		}
		if !httpguts.ValidHeaderFieldName(e.Header) {
			return errors.New("header: must be the name of a header, such as x-api-key")
		}
	}
	return nil
}

// checkProxy refuses networks that strangers are in: whoever is in one writes his own address.
func checkProxy(p netip.Prefix) error {
	least := 8
	if p.Addr().Is6() {
		least = 7 // private addresses are fc00::/7
	}
	if p.Addr().Is4In6() {
		return errors.New("must be in the form of IPv4, such as 10.0.0.0/8")
	}
	if p.Bits() < least {
		return fmt.Errorf("is a network that callers are in, who could then claim any address: list the proxies' own, of /%d at least", least)
	}
	return nil
}

func (c *tracingConfig) checkHeaders() error {
	for name, value := range c.Headers {
		if !httpguts.ValidHeaderFieldName(name) || !httpguts.ValidHeaderFieldValue(value) {
			return fmt.Errorf("tracing.headers: %q must be the name of a header, and its value one line", name)
		}
	}
	return nil
}

func (c lpsConfig) checkForms(local bool) error {
	check := func(field, text string) error {
		u, err := url.Parse(text)
		if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
			return fmt.Errorf("%s: must be a URL such as https://lp.example", field)
		}
		ip, err := netip.ParseAddr(u.Hostname())
		loopback := u.Hostname() == "localhost" || err == nil && ip.IsLoopback()
		if u.Scheme == "http" && !c.AllowHTTP && !((c.AllowLocal || local) && loopback) {
			return fmt.Errorf("%s: must be https; allowHttp accepts http", field)
		}
		return nil
	}
	var all []error
	for i, text := range c.URLs {
		all = append(all, check(fmt.Sprintf("lps.urls[%d]", i), text))
	}
	for field, text := range map[string]string{"lps.registry": c.Registry, "lps.trusted": c.Trusted} {
		if text != "" {
			all = append(all, check(field, text))
		}
	}
	return errors.Join(all...)
}

// longestWindow is the longest of a rate.
const longestWindow = 366 * 24 * time.Hour

// checkListen checks the addresses to listen on, and that they are two.
func (c *config) checkListen() error {
	host, port, err := listens("listen", c.Listen)
	if err != nil || c.Admin == nil {
		return err
	}
	own, ownPort, err := listens("admin.listen", c.Admin.Listen)
	if err != nil {
		return err
	}
	if all := func(h string) bool { a, err := netip.ParseAddr(h); return h == "" || err == nil && a.IsUnspecified() }; port == ownPort && port != 0 && (host == own || all(host) || all(own)) {
		return errors.New("admin.listen: is the address of everybody; it has no keys and needs one of its own")
	}
	return nil
}

func listens(field, address string) (host string, port int, err error) {
	host, text, err := net.SplitHostPort(address)
	if err == nil {
		port, err = net.LookupPort("tcp", text)
	}
	if err != nil || text == "" {
		return "", 0, fmt.Errorf("%s: must be host:port, such as 127.0.0.1:3000", field)
	}
	return host, port, nil
}
