package serve

import (
	"net/http"
	"net/netip"
	"strings"
	"testing"
	"time"
)

func TestClient(t *testing.T) {
	trusted := Trusted{netip.MustParsePrefix("10.0.0.0/8"), netip.MustParsePrefix("::1/128")}
	for name, tt := range map[string]struct {
		peer      string
		forwarded []string
		want      string
	}{
		"direct":              {"203.0.113.9:1", nil, "203.0.113.9"},
		"stranger forwards":   {"203.0.113.9:1", []string{"198.51.100.1"}, "203.0.113.9"},
		"one proxy":           {"10.0.0.1:1", []string{"198.51.100.1"}, "198.51.100.1"},
		"left one is a lie":   {"10.0.0.1:1", []string{"1.1.1.1, 198.51.100.1"}, "198.51.100.1"},
		"lies to be a proxy":  {"10.0.0.1:1", []string{"10.0.0.7, 198.51.100.1"}, "198.51.100.1"},
		"two proxies":         {"10.0.0.1:1", []string{"198.51.100.1, 10.9.9.9"}, "198.51.100.1"},
		"two headers":         {"10.0.0.1:1", []string{"1.1.1.1", "198.51.100.1"}, "198.51.100.1"},
		"through two headers": {"10.0.0.1:1", []string{"1.1.1.1,198.51.100.1", "10.0.0.3"}, "198.51.100.1"},
		"garbage":             {"10.0.0.1:1", []string{"198.51.100.1, x"}, "10.0.0.1"},
		"empty entry":         {"10.0.0.1:1", []string{"198.51.100.1, "}, "10.0.0.1"},
		"only proxies":        {"10.0.0.1:1", []string{"10.0.0.2"}, "10.0.0.2"},
		"mapped peer":         {"[::ffff:10.0.0.1]:1", []string{"198.51.100.1"}, "198.51.100.1"},
		"mapped client":       {"10.0.0.1:1", []string{"::ffff:198.51.100.1"}, "198.51.100.1"},
		"loopback of version": {"[::1]:1", []string{"2001:db8::1"}, "2001:db8::1"},
		"with a port":         {"10.0.0.1:1", []string{"198.51.100.1:4711"}, "198.51.100.1"},
		"brackets":            {"10.0.0.1:1", []string{"[2001:db8::1]:4711"}, "2001:db8::1"},
		"zone":                {"10.0.0.1:1", []string{"fe80::1%eth0"}, "fe80::1"},
		"no header":           {"10.0.0.1:1", nil, "10.0.0.1"},
		"no address":          {"@", []string{"198.51.100.1"}, "invalid IP"},
	} {
		r := &http.Request{RemoteAddr: tt.peer, Header: http.Header{"X-Forwarded-For": tt.forwarded}}
		if got := trusted.Client(r); got.String() != tt.want {
			t.Errorf("%s: %s, want %s", name, got, tt.want)
		}
	}
}

// A header as long as servers take costs no time worth an attack.
func TestLongHeader(t *testing.T) {
	r := &http.Request{RemoteAddr: "10.0.0.1:1", Header: http.Header{"X-Forwarded-For": {strings.Repeat("10.0.0.1,", 1<<17)}}}
	began := time.Now()
	Trusted{netip.MustParsePrefix("10.0.0.0/8")}.Client(r)
	Trusted{}.Client(r)
	if took := time.Since(began); took > time.Second {
		t.Errorf("took %v", took)
	}
}

// A client that no trusted proxy vouches for is who its connection says, and
// what a trusted one appends cannot be overruled from the left.
func FuzzClient(f *testing.F) {
	f.Add("10.0.0.1:1", "198.51.100.1, 10.0.0.2")
	f.Add("203.0.113.9:1", "1.1.1.1")
	f.Add("[::1]:1", ",, ,")
	trusted := Trusted{netip.MustParsePrefix("10.0.0.0/8")}
	f.Fuzz(func(t *testing.T, peer, forwarded string) {
		of := func(forwarded string) netip.Addr {
			return trusted.Client(&http.Request{RemoteAddr: peer, Header: http.Header{"X-Forwarded-For": {forwarded}}})
		}
		got := of(forwarded)
		from, err := netip.ParseAddrPort(peer)
		if err != nil {
			return
		}
		if at := plain(from.Addr()); !trusted.trusts(at) && got != at {
			t.Errorf("%s says it is %s", peer, got)
		} else if trusted.trusts(at) && of(forwarded+", 203.0.113.7") != netip.MustParseAddr("203.0.113.7") {
			t.Errorf("%q overrules its proxy", forwarded)
		}
	})
}
