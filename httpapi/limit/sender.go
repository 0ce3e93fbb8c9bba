package limit

import "net/netip"

// Sender is who sends a request, as bounds count him.
type Sender struct {
	// Crowd is among whom he is counted, such as the entry of an authentication that
	// admitted him: those of one crowd take no place, and no request of a rate, of another's.
	Crowd string
	// parts are the names that the sender counts under; none: only the crowd counts.
	parts []part
}

// part is a name that several senders may share, with its share: times is how many times
// what one sender has. It must not be a name that a sender can choose freely.
type part struct {
	key   string
	times int
}

// wider is how many lines' share a /48 network of IPv6 has.
const wider = 4

// Line returns the sender behind a client's address. Of IPv6 a line has a network, not
// an address, and moves in it as it likes: a /56, as providers give it to homes, is
// one sender, and all of the /48 around it, which others get, have four times as much.
func Line(crowd string, client netip.Addr) Sender {
	client = client.Unmap().WithZone("")
	if !client.Is6() {
		return Named(crowd, client.String())
	}
	line, _ := client.Prefix(56) // these lengths are in range
	site, _ := client.Prefix(48)
	return Sender{Crowd: crowd, parts: []part{{line.String(), 1}, {site.String(), wider}}}
}

// Named returns the sender with a name; one without a name counts only in its crowd.
func Named(crowd, name string) Sender {
	if name == "" {
		return Sender{Crowd: crowd}
	}
	return Sender{Crowd: crowd, parts: []part{{name, 1}}}
}

// key is the name of a part among all crowds.
func (s Sender) key(p part) string { return s.Crowd + "\x00" + p.key }
