package lnurl

import (
	"errors"
	"net/url"
	"strings"

	golnurl "github.com/fiatjaf/go-lnurl"

	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/internal/httpx"
)

// ErrNotLink is the error for a text that is not an LNURL of any form, as
// opposed to one that looks like an LNURL but cannot be used.
var ErrNotLink = errors.New("not an LNURL")

// Tag is the kind of a service.
type Tag string

// The kinds of services that the package supports.
const (
	TagPay      Tag = "payRequest"      // takes payments
	TagWithdraw Tag = "withdrawRequest" // makes payments
)

// Link is a recognised LNURL. The zero value is not a link; equal links compare
// equal.
type Link struct {
	text, url string
	want      Tag
}

// Text returns the link in the form to display and store: without surrounding
// blanks and the scheme `lightning:`, with internet identifiers and the schemes
// lnurlp and lnurlw in lower case, and reduced to the LNURL in the `lightning`
// parameter of a web address. [Parse] reads it back.
func (l Link) Text() string { return l.text }

// URL returns the URL of the service. It may be one that a [Client] refuses to
// call.
func (l Link) URL() string { return l.url }

// Wants returns the kind of service that the form of the link implies, or "" if
// it implies none.
func (l Link) Wants() Tag { return l.want }

// maxText bounds the text of a link; bech32 links have at most 2000 characters,
// as in the reference.
const (
	maxText   = 8 << 10
	maxBech32 = 2000
)

// Parse recognises a link without any request. The whole text must be a link,
// apart from surrounding blanks and the scheme `lightning:`. The error wraps
// [ErrNotLink] if the text is not an LNURL at all. [Client.Check] decides
// whether the service may be called (protocol: utilities.md §6.4).
func Parse(text string) (Link, error) {
	text = strings.TrimSpace(text)
	if len(text) > maxText {
		return Link{}, notLink("text is longer than %d characters", maxText)
	}
	if rest, ok := cutPrefixFold(text, "lightning:"); ok {
		text = strings.TrimPrefix(rest, "//")
	}
	scheme, rest, hasScheme := strings.Cut(text, "://")
	switch scheme = strings.ToLower(scheme); {
	case hasScheme && scheme == "lnurlp":
		return schemeLink("lnurlp://", rest, TagPay)
	case hasScheme && scheme == "lnurlw":
		return schemeLink("lnurlw://", rest, TagWithdraw)
	case hasScheme && (scheme == "lnurlc" || scheme == "lnurla" || scheme == "keyauth"):
		return Link{}, notLink("%s links are not supported", scheme)
	case hasScheme && (scheme == "http" || scheme == "https"):
		return webLink(text)
	case looksBech32(text):
		return bech32Link(text)
	}
	identifier := strings.ToLower(text)
	if name, host, ok := golnurl.ParseInternetIdentifier(identifier); ok && validIdentifier(name, host) {
		return Link{text: identifier, url: baseURL(host) + "/.well-known/lnurlp/" + name, want: TagPay}, nil
	}
	if _, ok := cutPrefixFold(text, "lnurl1"); ok {
		return Link{}, notLink("LNURL contains characters other than letters and digits")
	}
	for _, scheme := range []string{"lnurlp", "lnurlw"} {
		if _, ok := cutPrefixFold(text, scheme+":"); ok {
			return Link{}, notLink("%s links must be written %s://host/path", scheme, scheme)
		}
	}
	return Link{}, notLink("not an LNURL")
}

// IsLink reports whether text looks like an LNURL, whether or not it can be
// used.
func IsLink(text string) bool {
	_, err := Parse(text)
	return err == nil || !errors.Is(err, ErrNotLink)
}

func bech32Link(text string) (Link, error) {
	if len(text) > maxBech32 {
		return Link{}, fault.New(fault.InvalidInput, "LNURL is longer than %d characters", maxBech32)
	}
	u, err := decode(text)
	if err != nil {
		return Link{}, fault.New(fault.InvalidInput, "%w", err)
	}
	if u == "" {
		return Link{}, notLink("LNURL contains an empty web address")
	}
	if err := checkSyntax(u); err != nil {
		return Link{}, err
	}
	return Link{text: text, url: u}, nil
}

func schemeLink(scheme, rest string, want Tag) (Link, error) {
	host := rest
	if i := strings.IndexAny(rest, "/?#"); i >= 0 {
		host = rest[:i]
	}
	u := baseURL(host) + rest[len(host):]
	if err := checkSyntax(u); err != nil {
		return Link{}, err
	}
	return Link{text: scheme + rest, url: u, want: want}, nil
}

// webLink reads the fallback form of LUD-01: a web address for programs that do
// not know LNURL, with the LNURL in a parameter.
func webLink(text string) (Link, error) {
	u, err := url.Parse(text)
	if err != nil {
		return Link{}, notLink("web address must have exactly one LNURL in its lightning parameter")
	}
	var found []string
	for key, values := range u.Query() {
		if strings.EqualFold(key, "lightning") {
			found = append(found, values...)
		}
	}
	if len(found) != 1 || !looksBech32(found[0]) {
		return Link{}, notLink("web address must have exactly one LNURL in its lightning parameter") // or two: which one would be paid?
	}
	return bech32Link(found[0])
}

// looksBech32 reports whether text is of the form of a bech32 LNURL; case,
// characters and checksum may still be wrong.
func looksBech32(text string) bool {
	rest, ok := cutPrefixFold(text, "lnurl1")
	return ok && rest != "" && consists(rest, "ABCDEFGHIJKLMNOPQRSTUVWXYZ")
}

func validIdentifier(name, host string) bool {
	return name != "" && len(name) <= 64 && consists(name, "._+-") && dnsName(host) && !endsInNumber(host)
}

// dnsName reports whether host is a name of two or more labels, in lower case.
func dnsName(host string) bool {
	if len(host) > 253 || !strings.Contains(host, ".") {
		return false
	}
	for label := range strings.SplitSeq(host, ".") {
		if label == "" || len(label) > 63 || !consists(label, "-") || label[0] == '-' || label[len(label)-1] == '-' {
			return false
		}
	}
	return true
}

// consists reports whether text has no characters but digits, lower-case letters
// and others.
func consists(text, others string) bool {
	return !strings.ContainsFunc(text, func(c rune) bool {
		return (c < '0' || c > '9') && (c < 'a' || c > 'z') && !strings.ContainsRune(others, c)
	})
}

// baseURL is the scheme and host of a service: onion hosts have no certificates
// and need none.
func baseURL(host string) string {
	name := host
	if i := strings.LastIndexByte(host, ':'); i >= 0 {
		name = host[:i]
	}
	if httpx.IsOnion(name) {
		return "http://" + host
	}
	return "https://" + host
}

func cutPrefixFold(s, prefix string) (rest string, ok bool) {
	if len(s) < len(prefix) || !strings.EqualFold(s[:len(prefix)], prefix) {
		return s, false
	}
	return s[len(prefix):], true
}

// notLink is an InvalidInput error that wraps ErrNotLink.
func notLink(format string, args ...any) error {
	e := fault.New(fault.InvalidInput, format, args...)
	e.Err = ErrNotLink
	return e
}
