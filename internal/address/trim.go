package address

import (
	"strings"
	"unicode"
)

// trim drops what people copy along with an address: Unicode white space, the
// non-breaking ones and the byte-order mark included.
func trim(s string) string {
	return strings.TrimFunc(s, func(r rune) bool { return unicode.IsSpace(r) || r == '\ufeff' })
}

// cutScheme returns the text behind a URI scheme, written in any case, and
// behind the slashes and blanks that some writers put there.
func cutScheme(s, scheme string) (rest string, ok bool) {
	if len(s) < len(scheme) || !strings.EqualFold(s[:len(scheme)], scheme) {
		return "", false
	}
	return trim(strings.TrimPrefix(s[len(scheme):], "//")), true
}
