package address

import "strings"

// Strip is what createSwap does to an address before anything else: a lower-case
// `bitcoin:` or `lightning:` scheme is dropped together with everything from the
// first `?`. Without such a scheme the text stays as it is (protocol:
// utilities.md §1).
func Strip(text string) string {
	for _, scheme := range []string{bitcoinScheme, lightningScheme} {
		if rest, ok := strings.CutPrefix(text, scheme); ok {
			rest, _, _ = strings.Cut(rest, "?")
			return rest
		}
	}
	return text
}
