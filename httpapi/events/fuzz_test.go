package events

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/swapper-go/swapper"
	"github.com/swapper-go/swapper/fault"
)

// Whatever a reader sends, an id is either exactly one that we wrote or none, and a
// query is read or refused by name.
func FuzzLastEventID(f *testing.F) {
	for _, id := range []string{"1795214525447.7.5f1d3c0a9be2f4d6", "0.0.0000000000000000", "", "7", "-1.1.0000000000000000", "01.1.0000000000000000",
		"9223372036854775807.18446744073709551615.ffffffffffffffff", "1.1.FFFFFFFFFFFFFFFF", "1.1.0000000000000000.", "+1.1.0000000000000000"} {
		f.Add("swapId=one&lastEventId=x", id)
	}
	f.Add("signer=0x1&chainId=CITREA", "\x00")
	f.Fuzz(func(t *testing.T, raw, id string) {
		if p, ok := parsePlace(id); ok && (p.String() != id || p.at.UnixMilli() < 0 || len(p.print) != printDigits) {
			t.Errorf("%q is read as %v", id, p)
		}
		q, err := parseQuery(raw, id)
		if err != nil {
			if c := fault.CodeOf(err); c != fault.InvalidInput {
				t.Errorf("%q: %s", raw, c)
			}
			return
		}
		if (q.swapID == "") == (q.signer == "") || q.swapID != "" && q.chainID != "" {
			t.Errorf("%q: %+v", raw, q)
		}
		_ = q.last.since()
	})
}

func TestPlace(t *testing.T) {
	t.Parallel()
	p := place{at: swapper.Timestamp{Time: time.UnixMilli(1795214525447)}, version: 7, print: "5f1d3c0a9be2f4d6"}
	if got, ok := parsePlace(p.String()); !ok || got != p {
		t.Errorf("%v %v", got, ok)
	}
	for _, id := range []string{"", "1", "1.2", "1.2.3", "1.2." + strings.Repeat("g", 16), "1.2." + strings.Repeat("A", 16), "-1.2." + strings.Repeat("a", 16),
		"01.2." + strings.Repeat("a", 16), "1.2." + strings.Repeat("a", 17), " 1.2." + strings.Repeat("a", 16), "99999999999999999999.2." + strings.Repeat("a", 16)} {
		if got, ok := parsePlace(id); ok {
			t.Errorf("%q is read as %v", id, got)
		}
	}
	if _, err := parseQuery("swapId="+strings.Repeat("a", maxQuery), ""); err == nil {
		t.Error("a query without bound is read")
	}
	q, err := parseQuery("signer=0x1&chainId=CITREA&lastEventId="+p.String(), http.Header{}.Get("Last-Event-ID"))
	if err != nil || q.signer != "0x1" || q.chainID != "CITREA" || !q.resumes || q.last != p {
		t.Errorf("%+v %v", q, err)
	}
}
