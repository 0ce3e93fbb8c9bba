package wire

import (
	"errors"
	"strings"
	"testing"
)

func TestAddress(t *testing.T) {
	const good = "0xc2e749AE01e89fD10Ec5bD2B811f9D8Ab139F1e1"
	for name, tc := range map[string]struct {
		text, want string
		err        error
	}{
		"checksummed":        {good, good, nil},
		"lower":              {strings.ToLower(good), good, nil},
		"upper digits":       {"0x" + strings.ToUpper(good[2:]), good, nil},
		"upper prefix":       {"0X" + good[2:], "", errAddressForm},
		"wrong checksum":     {"0xC2e749AE01e89fD10Ec5bD2B811f9D8Ab139F1e1", "", errAddressChecksum},
		"no prefix":          {good[2:], "", errAddressForm},
		"short":              {good[:41], "", errAddressForm},
		"long":               {good + "0", "", errAddressForm},
		"not hex":            {good[:41] + "g", "", errAddressForm},
		"not hex, high bit":  {good[:41] + "\xc1", "", errAddressForm},
		"control character":  {good[:41] + "\x11", "", errAddressForm},
		"blanks":             {strings.Repeat(" ", 42), "", errAddressForm},
		"Bitcoin of its own": {"bc1q34rxumemlu3cha6gnc8pmx5g558yk3rwhd4j0t", "", errAddressForm},
		"zero":               {zeroAddress, "", errZeroAddress},
		"empty":              {"", "", errAddressForm},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := Address(tc.text)
			if got != tc.want || !errors.Is(err, tc.err) {
				t.Errorf("%q, %v; want %q, %v", got, err, tc.want, tc.err)
			}
		})
	}
	if got, err := TokenAddress(zeroAddress); got != zeroAddress || err != nil {
		t.Errorf("the chain's own currency: %q, %v", got, err)
	}
}

func FuzzAddress(f *testing.F) {
	f.Add("0xc2e749AE01e89fD10Ec5bD2B811f9D8Ab139F1e1")
	f.Add(zeroAddress)
	f.Fuzz(func(t *testing.T, s string) {
		got, err := Address(s)
		if err != nil {
			if got != "" {
				t.Fatalf("%q: an error and %q", s, got)
			}
			return
		}
		if again, err := Address(got); again != got || err != nil || !strings.EqualFold(got, s) {
			t.Fatalf("%q is %q, which is %q, %v", s, got, again, err)
		}
	})
}

func BenchmarkAddress(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Address("0xc2e749AE01e89fD10Ec5bD2B811f9D8Ab139F1e1"); err != nil {
			b.Fatal(err)
		}
	}
}
