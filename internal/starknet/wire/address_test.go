package wire

import (
	"errors"
	"strings"
	"testing"
)

func TestAddress(t *testing.T) {
	const padded = "0x00011ae1f7d62f9651bc4138c4c4bb3bb6b65a26caceaf2aff401cbddf01810d"
	const short = "0x11ae1f7d62f9651bc4138c4c4bb3bb6b65a26caceaf2aff401cbddf01810d"
	for name, tc := range map[string]struct {
		text string
		want error
	}{
		"padded":                     {padded, nil},
		"upper digits":               {"0x" + strings.ToUpper(padded[2:]), nil},
		"upper prefix":               {"0X" + padded[2:], nil},
		"without padding":            {short, nil},
		"as short as an EVM address": {"0x" + strings.Repeat("1", 40), errAddressForm},
		"nearly too short":           {"0x" + strings.Repeat("1", 56), nil},
		"too short":                  {"0x" + strings.Repeat("1", 55), errAddressForm},
		"no prefix":                  {"00" + padded[2:], errAddressForm},
		"decimal digits":             {"123456789", errAddressForm},
		"67 characters":              {padded + "0", errAddressForm},
		"prefix alone":               {"0x", errAddressForm},
		"zero":                       {"0x" + strings.Repeat("0", 64), errZeroAddress},
		"short zero":                 {"0x0", errAddressForm},
		"first beyond":               {Hex64(firstBeyond), errAddressRange},
		"all f":                      {"0x" + strings.Repeat("f", 64), errAddressRange},
		"not hex":                    {padded[:65] + "g", errAddressForm},
		"Kelvin sign":                {padded[:63] + "\u212a", errAddressForm},
		"empty":                      {"", errAddressForm},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := Address(tc.text)
			if !errors.Is(err, tc.want) || err == nil && got != padded && len(tc.text) > 58 || err != nil && got != "" {
				t.Errorf("%q, %v; want %v", got, err, tc.want)
			}
		})
	}
	last := "0x07fffffffffffffffffffffffffffffffffffffffffffffffffffffffffffeff"
	if got, err := Address(last); got != last || err != nil {
		t.Errorf("largest address: %q, %v", got, err)
	}
}

func FuzzAddress(f *testing.F) {
	f.Add("0x01c86bb361265befe750e60d5b6e84e2d1f8d0518d82e817f2d621ccd4b0a5be")
	f.Add("0x0")
	f.Fuzz(func(t *testing.T, s string) {
		canonical, err := Address(s)
		if err != nil {
			return
		}
		if again, err := Address(canonical); again != canonical || err != nil {
			t.Fatalf("%q is %q, which is %q, %v", s, canonical, again, err)
		}
	})
}

func BenchmarkAddress(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Address("0x01c86bb361265befe750e60d5b6e84e2d1f8d0518d82e817f2d621ccd4b0a5be"); err != nil {
			b.Fatal(err)
		}
	}
}
