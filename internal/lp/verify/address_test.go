package verify

import "testing"

// TestSameAddress: hexadecimal addresses are their bytes; all others, and what
// only looks like one, are their text, and nothing is the address of nobody.
func TestSameAddress(t *testing.T) {
	for _, c := range []struct {
		a, b string
		same bool
	}{
		{"0xAb", "0xaB", true},
		{"0x0ab", "0xab", true},
		{"0xab", "0xac", false},
		{"0xab", "ab", false},
		{"ab", "AB", false},
		{"ab", "ab", true},
		{"", "", false},
		{"0x", "0x", true},
		{"0x", "0x0", false},
		{"0xGG", "0xgg", false},
		{"0xGG", "0xGG", true},
		{"0x0g", "0xg", false},
		{"So1ana", "so1ana", false},
	} {
		if got := sameAddress(c.a, c.b); got != c.same {
			t.Errorf("%q and %q: %v", c.a, c.b, got)
		}
		if got := sameAddress(c.b, c.a); got != c.same {
			t.Errorf("%q and %q: %v", c.b, c.a, got)
		}
	}
}
