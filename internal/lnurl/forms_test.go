package lnurl

import (
	"regexp"
	"strings"
	"testing"
)

// The same rules in another language.
var (
	bech32Form     = regexp.MustCompile(`^[lL][nN][uU][rR][lL]1[0-9a-zA-Z]+$`)
	identifierName = regexp.MustCompile(`^[a-z0-9._+-]{1,64}$`)
	dnsForm        = regexp.MustCompile(`^([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$`)
)

func FuzzForms(f *testing.F) {
	for _, s := range []string{"", "lnurl1", "LNURL1dp68", "lnurl1dp68\n", "lnurl1\u212a", "lnurl2dp", "a", "a.b", "a..b", ".a", "a.", "-a.b", "a-.b", "a-b.c", "A.b", "a_b.c", "a+b", "1.2.3.4",
		"ex\u00e4mple.com", strings.Repeat("a", 63) + ".b", strings.Repeat("a", 64) + ".b", strings.Repeat("a.", 126) + "b", strings.Repeat("a.", 127) + "b"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if got, want := looksBech32(s), bech32Form.MatchString(s); got != want {
			t.Errorf("%q looks like a bech32 LNURL: %v, want %v", s, got, want)
		}
		if got, want := dnsName(s), len(s) <= 253 && dnsForm.MatchString(s); got != want {
			t.Errorf("%q is a DNS name: %v, want %v", s, got, want)
		}
		if got, want := validIdentifier(s, "example.com"), identifierName.MatchString(s); got != want {
			t.Errorf("%q is the name of an identifier: %v, want %v", s, got, want)
		}
	})
}
