package address

import "strings"

// Strip prepares an address given to createSwap: a lower-case `bitcoin:` or
// `lightning:` scheme is removed together with everything from the first `?`.
// Without such a scheme the text is unchanged (protocol: utilities.md §1).
func Strip(text string) string {
	for _, scheme := range []string{bitcoinScheme, lightningScheme} {
		if rest, ok := strings.CutPrefix(text, scheme); ok {
			rest, _, _ = strings.Cut(rest, "?")
			return rest
		}
	}
	return text
}
