package events

import (
	"strconv"
	"strings"
	"time"

	"github.com/swapper-go/swapper"
)

// place is the position of a reader in the stream: what the id of an event says.
type place struct {
	at      swapper.Timestamp // of the change
	version uint64            // of the stored swap
	print   string            // fingerprint of what was sent
}

// printDigits is the length of a fingerprint.
const printDigits = 16

func placeOf(p *swapper.Progress) place {
	return place{at: p.At, version: p.Version, print: p.Fingerprint()}
}

// String is the id of the event.
func (p place) String() string {
	return strconv.FormatInt(p.at.UnixMilli(), 10) + "." + strconv.FormatUint(p.version, 10) + "." + p.print
}

// parsePlace reads an id, and reports whether it is one.
func parsePlace(id string) (place, bool) {
	at, rest, _ := strings.Cut(id, ".")
	version, print, _ := strings.Cut(rest, ".")
	ms, err := strconv.ParseInt(at, 10, 64)
	v, err2 := strconv.ParseUint(version, 10, 64)
	p := place{at: swapper.Timestamp{Time: time.UnixMilli(ms)}, version: v, print: print}
	// Only the one way of writing it: a sign or a leading zero is nothing of ours.
	if err != nil || err2 != nil || ms < 0 || len(print) != printDigits || strings.Trim(print, "0123456789abcdef") != "" || p.String() != id {
		return place{}, false
	}
	return p, true
}

// overlap is how far a reader of many swaps goes back when it comes again: a change
// that was dated earlier may have been stored later, by another call or another
// process whose clock is behind.
const overlap = 10 * time.Second

// since is from when on changes are sent to a reader that comes back.
func (p place) since() time.Time { return p.at.Add(-overlap) }

// news reports whether what is at next has to be sent to somebody who has seen p of
// the same swap.
func (p place) news(next place) bool {
	return next.version >= p.version && next.print != p.print
}
