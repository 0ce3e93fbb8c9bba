package lnurl

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"
	"unicode"

	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/internal/httpx"
)

// Config configures a [Client]; every field except Network may be zero.
type Config struct {
	Network bitcoin.Network // invoices for other networks are refused

	// OnionProxy is the host:port of a SOCKS5 proxy (Tor) for onion services;
	// without one they are refused.
	OnionProxy string

	// AllowLocal permits http and addresses that are not public: loopback,
	// private networks and so on. It is meant for test networks; on a public
	// server it lets anyone reach hosts that only the server can reach.
	AllowLocal bool

	// Transport replaces the guarded transport. It must itself refuse addresses
	// that are not public, must never send a request twice, and is assumed to
	// reach onion hosts.
	Transport http.RoundTripper

	Now func() time.Time // nil: time.Now
}

// timeout bounds one operation with all its repetitions and redirects; maxBody
// is ample: services send icons of up to about 40 kB.
const (
	timeout = 10 * time.Second
	maxBody = 256 << 10
)

// Client calls LNURL services. It is safe for concurrent use.
type Client struct {
	network           bitcoin.Network
	allowLocal, onion bool
	http              *http.Client
	now               func() time.Time
	retry             httpx.RetryPolicy
}

// New returns a client. It keeps no connections open between calls.
func New(c Config) *Client {
	guard := httpx.Guard{AllowLocal: c.AllowLocal, OnionProxy: c.OnionProxy}
	client := &Client{
		network: c.Network, allowLocal: c.AllowLocal, onion: c.OnionProxy != "" || c.Transport != nil,
		now: c.Now, retry: httpx.RetryPolicy{Final: final},
	}
	transport := c.Transport
	if transport == nil {
		t := guard.Transport()
		t.DisableKeepAlives = true // a request on a reused connection may be sent twice: bad for withdrawals
		transport = t
	}
	client.http = &http.Client{Transport: transport, CheckRedirect: func(req *http.Request, via []*http.Request) error {
		if err := guard.CheckRedirect(req, via); err != nil {
			return err
		}
		return client.checkURL(req.URL)
	}}
	if client.now == nil {
		client.now = time.Now
	}
	return client
}

// Check reports, without any request, whether the client would call the service
// of the link; the error says why not.
func (c *Client) Check(l Link) error {
	u, err := url.Parse(l.url)
	if err != nil {
		return fault.New(fault.InvalidInput, "the link does not contain a valid web address")
	}
	return c.checkURL(u)
}

// serviceError is a refusal by the service, with its own reason.
type serviceError struct {
	Host   string
	Reason string // printable, at most 300 characters; empty if the service gave none
}

// Error names the service and its reason.
func (e *serviceError) Error() string {
	if e.Reason == "" {
		return fmt.Sprintf("the LNURL service %s refused the request", e.Host)
	}
	return fmt.Sprintf("the LNURL service %s refused: %s", e.Host, e.Reason)
}

// Public returns the same: the caller named the service.
func (e *serviceError) Public() string { return e.Error() }

var errNotJSON = errors.New("not JSON")

// object is a JSON object whose names are taken exactly, case included.
type object map[string]json.RawMessage

// get requests u and returns the object that the service answered with, after
// its own refusals are taken out. Errors are coded.
func (c *Client) get(ctx context.Context, u *url.URL, policy httpx.RetryPolicy) (object, error) {
	if err := c.checkURL(u); err != nil {
		return nil, err
	}
	j := httpx.JSON{HTTP: c.http, Timeout: timeout, Limit: maxBody}
	answer, err := httpx.Retry(ctx, policy, func(ctx context.Context) (json.RawMessage, error) {
		body, err := j.Raw(ctx, http.MethodGet, u.String(), nil)
		if err != nil {
			return nil, err
		}
		var v json.RawMessage
		if err := httpx.Decode(body, &v); err != nil {
			return nil, fmt.Errorf("%w: %w", errNotJSON, err)
		}
		return v, nil
	})
	if e, ok := errors.AsType[*httpx.StatusError](err); ok {
		if refusal := refusalIn(e.Body, u.Hostname()); refusal != nil {
			return nil, fault.New(fault.Upstream, "%w", refusal)
		}
		return nil, fault.New(fault.Upstream, "the LNURL service %s responded with HTTP status %d", u.Hostname(), e.Status)
	}
	if err != nil {
		return nil, transportError(u.Hostname(), err)
	}
	if refusal := refusalIn(answer, u.Hostname()); refusal != nil {
		return nil, fault.New(fault.Upstream, "%w", refusal)
	}
	var o object
	if err := json.Unmarshal(answer, &o); err != nil || o == nil {
		return nil, wrong(u.Hostname(), "sent a response that is not a JSON object")
	}
	return o, nil
}

// refusalIn reads `{"status":"ERROR","reason":...}`, nil if body is not one.
func refusalIn(body []byte, host string) *serviceError {
	var o object
	if json.Unmarshal(body, &o) != nil {
		return nil
	}
	if status, _ := o.text("status"); status != "ERROR" {
		return nil
	}
	reason, _ := o.text("reason")
	return &serviceError{Host: host, Reason: printable(reason, 300)}
}

// printable makes a stranger's text fit for logs and screens.
func printable(s string, limit int) string {
	n := 0
	return strings.TrimSpace(strings.Map(func(r rune) rune {
		if n++; n > limit {
			return -1
		}
		if !unicode.IsPrint(r) {
			return ' '
		}
		return r
	}, s))
}

// final reports errors that no repetition mends: answers of the service and
// decisions of ours. What remains are network errors and 2xx answers that are
// not JSON (protocol: utilities.md §7.1).
func final(err error) bool {
	_, answered := errors.AsType[*httpx.StatusError](err)
	_, private := errors.AsType[*httpx.AddressError](err)
	_, refused := errors.AsType[*fault.Error](err)
	dns, _ := errors.AsType[*net.DNSError](err)
	return answered || private || refused || dns != nil && dns.IsNotFound ||
		errors.Is(err, httpx.ErrTooLarge) || errors.Is(err, httpx.ErrOnion) || errors.Is(err, httpx.ErrRedirect)
}

// transportError codes the error of a request. It does not tell which address a
// name has: the caller may be a stranger who must not learn about our network.
func transportError(host string, err error) error {
	switch _, private := errors.AsType[*httpx.AddressError](err); {
	case private:
		return &fault.Error{Code: fault.InvalidInput, Message: "the link points to a host that is not public", Err: err}
	case errors.Is(err, httpx.ErrOnion):
		return &fault.Error{Code: fault.InvalidInput, Message: "the link points to an onion host, but no onion proxy is configured", Err: err}
	case fault.CodeOf(err) == fault.Timeout:
		return failed(fault.Timeout, host, err, "did not respond in time")
	case errors.Is(err, httpx.ErrTooLarge):
		return failed(fault.Upstream, host, err, "sent a response that is too large")
	case errors.Is(err, httpx.ErrRedirect):
		return failed(fault.Upstream, host, err, "sent a redirect that is not followed")
	case fault.CodeOf(err) == fault.InvalidInput: // a redirect that checkURL refused
		return failed(fault.Upstream, host, err, "redirects to a host that is not allowed")
	case errors.Is(err, errNotJSON):
		return failed(fault.Upstream, host, err, "sent a response that is not JSON")
	}
	return failed(fault.Upstream, host, err, "could not be reached")
}

func failed(code fault.Code, host string, cause error, what string) error {
	return &fault.Error{Code: code, Message: "the LNURL service " + host + " " + what, Err: cause}
}

// wrong is the error of an answer that breaks the rules.
func wrong(host, format string, args ...any) error {
	return fault.New(fault.Upstream, "the LNURL service %s %s", host, fmt.Sprintf(format, args...))
}

// text returns a member that is a string.
func (o object) text(name string) (string, bool) {
	var s *string
	if raw, ok := o[name]; !ok || json.Unmarshal(raw, &s) != nil || s == nil {
		return "", false
	}
	return *s, true
}

// absent reports whether a member is missing or null.
func (o object) absent(name string) bool {
	raw, ok := o[name]
	return !ok || bytes.Equal(raw, []byte("null"))
}
