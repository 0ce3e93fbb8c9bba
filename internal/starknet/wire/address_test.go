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
		text          string
		strict, loose error
	}{
		"padded":                     {padded, nil, nil},
		"upper digits":               {"0x" + strings.ToUpper(padded[2:]), nil, nil},
		"upper prefix":               {"0X" + padded[2:], nil, nil},
		"without padding":            {short, nil, nil},
		"as short as an EVM address": {"0x" + strings.Repeat("1", 40), errAddressForm, nil},
		"nearly too short":           {"0x" + strings.Repeat("1", 56), nil, nil},
		"too short":                  {"0x" + strings.Repeat("1", 55), errAddressForm, nil},
		"no prefix":                  {"00" + padded[2:], errAddressForm, errAddressForm},
		"decimal digits":             {"123456789", errAddressForm, errAddressForm},
		"67 characters":              {padded + "0", errAddressForm, errAddressForm},
		"prefix alone":               {"0x", errAddressForm, errAddressForm},
		"zero":                       {"0x" + strings.Repeat("0", 64), errZeroAddress, errZeroAddress},
		"short zero":                 {"0x0", errAddressForm, errZeroAddress},
		"first beyond":               {Hex64(firstBeyond), errAddressRange, errAddressRange},
		"all f":                      {"0x" + strings.Repeat("f", 64), errAddressRange, errAddressRange},
		"not hex":                    {padded[:65] + "g", errAddressForm, errAddressForm},
		"Kelvin sign":                {padded[:63] + "\u212a", errAddressForm, errAddressForm},
		"empty":                      {"", errAddressForm, errAddressForm},
	} {
		t.Run(name, func(t *testing.T) {
			for strict, want := range map[bool]error{true: tc.strict, false: tc.loose} {
				got, err := Address(tc.text, strict)
				if !errors.Is(err, want) || err == nil && got != padded && len(tc.text) > 58 || err != nil && got != "" {
					t.Errorf("strict %v: %q, %v; want %v", strict, got, err, want)
				}
			}
		})
	}
	last := "0x07fffffffffffffffffffffffffffffffffffffffffffffffffffffffffffeff"
	if got, err := Address(last, true); got != last || err != nil {
		t.Errorf("largest address: %q, %v", got, err)
	}
}

func FuzzAddress(f *testing.F) {
	f.Add("0x01c86bb361265befe750e60d5b6e84e2d1f8d0518d82e817f2d621ccd4b0a5be")
	f.Add("0x0")
	f.Fuzz(func(t *testing.T, s string) {
		loose, err := Address(s, false)
		if err != nil {
			if _, strict := Address(s, true); strict == nil {
				t.Fatalf("%q is accepted only when strict: %v", s, err)
			}
			return
		}
		if again, err := Address(loose, true); again != loose || err != nil {
			t.Fatalf("%q is %q, which is %q, %v", s, loose, again, err)
		}
	})
}

func BenchmarkAddress(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Address("0x01c86bb361265befe750e60d5b6e84e2d1f8d0518d82e817f2d621ccd4b0a5be", true); err != nil {
			b.Fatal(err)
		}
	}
}
