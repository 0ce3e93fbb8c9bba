package lnurl

import (
	"net/netip"
	"net/url"
	"slices"
	"strings"

	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/internal/httpx"
)

// checkSyntax refuses what no client may ever call.
func checkSyntax(raw string) error {
	u, err := url.Parse(raw)
	switch {
	case err != nil:
		return fault.New(fault.InvalidInput, "the link does not contain a valid web address")
	case u.Scheme != "https" && u.Scheme != "http":
		return fault.New(fault.InvalidInput, "the link does not contain a valid web address")
	case u.Hostname() == "":
		return fault.New(fault.InvalidInput, "the link has no host")
	case u.User != nil:
		return fault.New(fault.InvalidInput, "the link must not contain a user name or password")
	case u.Query().Get("tag") == "login":
		return fault.New(fault.InvalidInput, "LNURL-auth (login) links are not supported")
	}
	return nil
}

// checkURL applies the rules of LUD-01 and refuses hosts that are plainly not
// public. Names are looked at again, with their addresses, when they are
// dialled (protocol: utilities.md §§6.4, 7.1).
func (c *Client) checkURL(u *url.URL) error {
	host := strings.ToLower(strings.TrimSuffix(u.Hostname(), "."))
	onion := httpx.IsOnion(host)
	switch {
	case host == "" || u.Opaque != "":
		return fault.New(fault.InvalidInput, "the link has no host")
	case u.User != nil:
		return fault.New(fault.InvalidInput, "the link must not contain a user name or password")
	case u.Scheme != "https" && !(u.Scheme == "http" && (onion || c.allowLocal)):
		return fault.New(fault.InvalidInput, "the link must point to an https address, not %s", u.Scheme)
	case onion && !c.onion:
		return fault.New(fault.InvalidInput, "the link points to an onion host, but no onion proxy is configured")
	case c.allowLocal || onion:
		return nil
	case !publicName(host):
		return fault.New(fault.InvalidInput, "the link points to a host that is not public")
	}
	return nil
}

// publicName reports whether host may be a host of the public internet: a
// public IP address, or a name with a dot that is neither a local one nor any
// of the odd spellings of an IPv4 address.
func publicName(host string) bool {
	if a, err := netip.ParseAddr(host); err == nil {
		return httpx.Public(a)
	}
	for _, local := range []string{".localhost", ".local", ".internal", ".localdomain", ".home.arpa"} {
		if strings.HasSuffix(host, local) {
			return false
		}
	}
	return strings.Contains(host, ".") && !endsInNumber(host)
}

// endsInNumber reports whether the last label of host is a number, decimal or
// hexadecimal: resolvers read such a host as an IPv4 address.
func endsInNumber(host string) bool {
	last := host[strings.LastIndexByte(host, '.')+1:]
	if hex, ok := strings.CutPrefix(last, "0x"); ok {
		return strings.Trim(hex, "0123456789abcdef") == ""
	}
	return strings.Trim(last, "0123456789") == ""
}

// param is a query parameter.
type param struct{ name, value string }

// withParams sets query parameters: those that the URL has under the same names
// are dropped, all others keep their place and spelling.
func withParams(u *url.URL, params ...param) *url.URL {
	var parts []string
	if u.RawQuery != "" || u.ForceQuery {
		for part := range strings.SplitSeq(u.RawQuery, "&") {
			if !names(part, params) {
				parts = append(parts, part)
			}
		}
	}
	for _, p := range params {
		parts = append(parts, p.name+"="+escape(p.value))
	}
	out := *u
	out.RawQuery, out.ForceQuery = strings.Join(parts, "&"), false
	return &out
}

func names(part string, params []param) bool {
	name, _, _ := strings.Cut(part, "=")
	if plain, err := url.QueryUnescape(name); err == nil {
		name = plain
	}
	return slices.ContainsFunc(params, func(p param) bool { return p.name == name })
}

// escape percent-encodes as JavaScript's encodeURIComponent does, which is what
// services are used to: no plus sign for a space, and '()*! left alone.
func escape(s string) string { return likeJavaScript.Replace(url.QueryEscape(s)) }

var likeJavaScript = strings.NewReplacer("+", "%20", "%21", "!", "%27", "'", "%28", "(", "%29", ")", "%2A", "*")
