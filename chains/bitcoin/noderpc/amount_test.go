package noderpc

import (
	"encoding/json"
	"testing"
)

func TestSats(t *testing.T) {
	t.Parallel()
	tests := []struct {
		in   json.Number
		want int64
		bad  bool
	}{
		{"0", 0, false},
		{"0.00000000", 0, false},
		{"-0", 0, false},
		{"1e-08", 1, false},
		{"1E-8", 1, false},
		{"2.82e-06", 282, false},
		{"0.29", 29_000_000, false},
		{"0.07", 7_000_000, false},
		{"21000000", 2_100_000_000_000_000, false},
		{"2.1e7", 2_100_000_000_000_000, false},
		{"20999999.97690000", 2_099_999_997_690_000, false},
		{"0.100000000000", 10_000_000, false},
		{"0.000000001", 0, true},
		{"1e-9", 0, true},
		{"21000000.00000001", 0, true},
		{"1e30", 0, true},
		{"1e999999999", 0, true},
		{"1e-999999999", 0, true},
		{"99999999999999999999999999", 0, true},
		{"-0.00000001", 0, true},
		{"", 0, true},
		{".5", 0, true},
		{"NaN", 0, true},
		{"1.2.3", 0, true},
		{"1,5", 0, true},
		{"+1", 0, true},
	}
	for _, test := range tests {
		got, err := sats(test.in)
		if got != test.want || (err != nil) != test.bad {
			t.Errorf("%s: %d, %v; want %d", test.in, got, err, test.want)
		}
	}
}

func FuzzSats(f *testing.F) {
	for _, s := range []string{"0", "1e-08", "2.82e-06", "20999999.9769", "-0.1", "1e30"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		v, err := sats(json.Number(s))
		if err == nil && (v < 0 || v > 21e14) {
			t.Errorf("%q gave %d sats", s, v)
		}
	})
}
