package price

import (
	"regexp"
	"testing"
)

// plainNumber is the same rule in another language.
var plainNumber = regexp.MustCompile(`^[0-9]{1,40}(\.[0-9]{1,60})?([eE][+-]?[0-9]{1,3})?$`)

func FuzzIsDecimal(f *testing.F) {
	for _, s := range []string{"", "0", "1.5", ".5", "1.", "1e5", "1E-05", "1e+123", "1e1234", "1e", "1e+-1", "-1", "+1", "1.2.3", "1e5e5", "0x1", "NaN", "Inf", "1_0", "\u0661",
		"1111111111111111111111111111111111111111", "11111111111111111111111111111111111111111"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if got, want := isDecimal(s), plainNumber.MatchString(s); got != want {
			t.Errorf("%q: %v, want %v", s, got, want)
		}
	})
}
