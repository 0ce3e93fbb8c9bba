package lphttp

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"time"

	"github.com/swapper-go/swapper/internal/httpx"
	"github.com/swapper-go/swapper/internal/lp"
)

// Limits of calls (protocol: lp-protocol.md §3.7, §9 no. 12).
const (
	defaultGetTimeout  = 15 * time.Second
	defaultPostTimeout = 30 * time.Second
	defaultLimit       = 64 << 10 // bytes of an answer
	defaultCalls       = 5        // at once to one LP, which refuses more
)

// Options of a [Client]. The zero value is right for the public network.
type Options struct {
	Transport http.RoundTripper // nil: a transport of the client's own, see [NewTransport]
	AllowHTTP bool              // call LPs over http
	// AllowLocal permits addresses that are not public (loopback, private networks
	// and so on), and http on loopback addresses: for local networks. Who an LP is
	// says a registry, or a caller; on a public service it lets them reach what
	// only the server can reach. A Transport of the caller's must see to it itself.
	AllowLocal bool
	NoStreams  bool // wait for late parameters, and send all at once: for proxies that buffer requests

	GetTimeout  time.Duration     // of one GET, and as long again for its turn; 0: 15 s
	PostTimeout time.Duration     // of one POST, request and answer, and as long again for its turn; 0: 30 s
	Limit       int64             // bytes of one answer; 0: 64 kB
	Calls       int               // at once to one LP, some of them for each purpose; 0: 5, which is what LPs allow
	Retry       httpx.RetryPolicy // zero: five calls, 0.5 to 4 s apart; Final is the client's own

	// Heard is called with the base URL after each call that the LP answered,
	// even with a refusal; it must not block. May be nil.
	Heard func(base string)

	Auth  *Auth      // signs every request; nil: requests are anonymous
	Extra []lp.Param // added to every quote request

	Now  func() time.Time // nil: time.Now
	Rand io.Reader        // nil: crypto/rand
}

// Client makes the calls of the LP protocol. Every call is bounded in time and
// in what it reads, is made at most five at a time to one LP, and follows no
// redirect. Quotes, status calls and what is posted have places of their own.
// Base URLs must be https on public addresses, unless [Options] allow more: what a
// name stands for is looked at on the very address that is dialled. It is safe for
// concurrent use.
//
// Errors of calls: *[lp.RequestError] and *[lp.OutOfBoundsError] are the LP's answer,
// *[lp.CallError] is everything that failed on the way, after repeating it; a late
// parameter's own error comes back as it is; an unusable URL is a plain error.
type Client struct {
	o     Options
	http  httpx.Doer
	slots slots
	tally tally
}

// NewClient returns a client.
func NewClient(o Options) *Client {
	if o.Transport == nil {
		o.Transport = NewTransport(TransportOptions{AllowLocal: o.AllowLocal})
	}
	if o.GetTimeout <= 0 {
		o.GetTimeout = defaultGetTimeout
	}
	if o.PostTimeout <= 0 {
		o.PostTimeout = defaultPostTimeout
	}
	if o.Limit <= 0 {
		o.Limit = defaultLimit
	}
	if o.Calls <= 0 {
		o.Calls = defaultCalls
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Rand == nil {
		o.Rand = rand.Reader
	}
	o.Retry.Final = isAnswer
	return &Client{
		o: o,
		http: &http.Client{Transport: o.Transport, CheckRedirect: func(*http.Request, []*http.Request) error {
			return http.ErrUseLastResponse // its status is a refusal like any other
		}},
		slots: slots{most: o.Calls},
	}
}

// TransportOptions are what a transport may do beyond the public network's needs.
type TransportOptions struct {
	H2C        bool // speak HTTP/2 to http URLs, as the network's LP program does without TLS; else HTTP/1.1
	AllowLocal bool // dial addresses that are not public, see [Options]
}

// NewTransport returns a transport that suits LPs: small limits, no compression
// (frames are read as they come), few idle connections, and the guard against
// addresses that are not public that LNURL services are called through. https
// URLs use what the server offers.
func NewTransport(o TransportOptions) *http.Transport {
	t := &http.Transport{
		DialContext:            httpx.Guard{AllowLocal: o.AllowLocal}.DialContext,
		ForceAttemptHTTP2:      true,
		DisableCompression:     true,
		MaxIdleConns:           128,
		MaxIdleConnsPerHost:    16,
		IdleConnTimeout:        30 * time.Second,
		TLSHandshakeTimeout:    10 * time.Second,
		MaxResponseHeaderBytes: 16 << 10,
	}
	if o.H2C {
		t.Protocols = new(http.Protocols)
		t.Protocols.SetHTTP2(true)
		t.Protocols.SetUnencryptedHTTP2(true)
	}
	return t
}

// isAnswer reports whether repeating a failed call is pointless: the LP has
// answered, or what was to be sent does not exist.
func isAnswer(err error) bool {
	if _, ok := errors.AsType[*lp.RequestError](err); ok {
		return true
	}
	if _, ok := errors.AsType[*lp.LateError](err); ok {
		return true
	}
	if _, ok := errors.AsType[*httpx.AddressError](err); ok {
		return true
	}
	_, ok := errors.AsType[*lp.CallError](err)
	return !ok
}

// CheckURL returns the base URL without a slash at its end, if an LP may be
// called there.
func (c *Client) CheckURL(base string) (string, error) {
	u, err := url.Parse(base)
	switch {
	case err != nil:
		return "", errors.New("liquidity provider URL is not valid")
	case u.Host == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" || u.Opaque != "":
		return "", errors.New("liquidity provider URL must have a host and no user, query or fragment")
	case u.Scheme != "https" && !(u.Scheme == "http" && (c.o.AllowHTTP || c.o.AllowLocal && loopback(u.Hostname()))):
		return "", fmt.Errorf("liquidity provider URL %s must use https", u.Redacted())
	case !c.o.AllowLocal && !public(u.Hostname()):
		return "", fmt.Errorf("liquidity provider URL %s must be on a public address", u.Redacted())
	}
	return strings.TrimRight(base, "/"), nil
}

// public reports whether nothing speaks against a host as it is written; what a
// name stands for shows when it is dialled.
func public(host string) bool {
	a, err := netip.ParseAddr(host)
	return host != "localhost" && (err != nil || httpx.Public(a))
}

func loopback(host string) bool {
	if host == "localhost" {
		return true
	}
	a, err := netip.ParseAddr(host)
	return err == nil && a.Unmap().IsLoopback()
}

// request makes a request to an LP, signed if the client has a key.
func (c *Client) request(ctx context.Context, method, url string, body io.Reader) (*http.Request, error) {
	req, err := http.NewRequestWithContext(ctx, method, url, body)
	if err != nil {
		return nil, httpx.WithoutURL(err)
	}
	req.Header.Set("Accept", "application/json")
	if c.o.Auth != nil {
		header, err := c.o.Auth.header(c.o.Now(), c.o.Rand)
		if err != nil {
			return nil, err
		}
		req.Header.Set(authHeader, header)
	}
	return req, nil
}
