package httpx

import (
	"fmt"
	"net/netip"
	"slices"
)

// AddressError is the refusal to call an address that is not one of the public
// internet.
type AddressError struct {
	Host string // the name or literal that was asked for
	Addr netip.Addr
}

// Error names the host and the address.
func (e *AddressError) Error() string {
	if e.Host == e.Addr.String() {
		return fmt.Sprintf("address %s is not public", e.Addr)
	}
	return fmt.Sprintf("host %s has the address %s, which is not public", e.Host, e.Addr)
}

// Public reports whether a is a unicast address of the public internet: not
// loopback, private, link-local, shared (carrier-grade NAT), unspecified,
// multicast, documentation, benchmarking or otherwise reserved. Of an
// IPv4-mapped or NAT64 address the embedded IPv4 address decides; tunnels whose
// far end cannot be known (6to4, Teredo, local NAT64) are not public, and
// neither is any address with a zone.
func Public(a netip.Addr) bool {
	if a.Zone() != "" {
		return false
	}
	a = a.Unmap()
	if nat64.Contains(a) {
		b := a.As16()
		a = netip.AddrFrom4([4]byte(b[12:]))
	}
	if a.Is4() {
		return !in(a, special4)
	}
	return globalUnicast6.Contains(a) && !in(a, special6)
}

func in(a netip.Addr, list []netip.Prefix) bool {
	return slices.ContainsFunc(list, func(p netip.Prefix) bool { return p.Contains(a) })
}

// The special-purpose registries of IANA for IPv4 and IPv6, as far as they lie
// in the space that is otherwise routed.
var (
	nat64          = netip.MustParsePrefix("64:ff9b::/96")
	globalUnicast6 = netip.MustParsePrefix("2000::/3")

	special4 = []netip.Prefix{
		netip.MustParsePrefix("0.0.0.0/8"),
		netip.MustParsePrefix("10.0.0.0/8"),
		netip.MustParsePrefix("100.64.0.0/10"),
		netip.MustParsePrefix("127.0.0.0/8"),
		netip.MustParsePrefix("168.63.129.16/32"), // the host of a virtual machine, though formally public
		netip.MustParsePrefix("169.254.0.0/16"),
		netip.MustParsePrefix("172.16.0.0/12"),
		netip.MustParsePrefix("192.0.0.0/24"),
		netip.MustParsePrefix("192.0.2.0/24"),
		netip.MustParsePrefix("192.88.99.0/24"),
		netip.MustParsePrefix("192.168.0.0/16"),
		netip.MustParsePrefix("198.18.0.0/15"),
		netip.MustParsePrefix("198.51.100.0/24"),
		netip.MustParsePrefix("203.0.113.0/24"),
		netip.MustParsePrefix("224.0.0.0/4"),
		netip.MustParsePrefix("240.0.0.0/4"),
	}
	special6 = []netip.Prefix{
		netip.MustParsePrefix("2001::/23"), // protocol assignments, Teredo and ORCHID among them
		netip.MustParsePrefix("2001:db8::/32"),
		netip.MustParsePrefix("2002::/16"), // 6to4
		netip.MustParsePrefix("3fff::/20"),
	}
)
