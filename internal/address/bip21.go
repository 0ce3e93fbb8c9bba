package address

import (
	"math/big"
	"net/url"
	"strings"

	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/tokens"
)

// maxSats is all the bitcoin there will ever be, in sats.
const maxSats = 21_000_000 * 100_000_000

// bip21 is what a BIP-21 body says: `<address>?amount=<BTC>&...`.
type bip21 struct {
	address   string
	amount    *big.Int // sats, nil if absent
	lightning string   // the Lightning alternative, still unread; empty if absent
}

// parseBIP21 reads the body of a `bitcoin:` URI. Keys are case-insensitive and
// values percent-decoded, where `+` stays `+`. An amount is a plain decimal
// number of bitcoin, at most once; a required parameter that is unknown makes
// the URI invalid; whatever else cannot be read is ignored (protocol:
// utilities.md §6.2).
func parseBIP21(body string) (bip21, error) {
	address, query, _ := strings.Cut(body, "?")
	out := bip21{address: address}
	for param := range strings.SplitSeq(query, "&") {
		key, value, _ := strings.Cut(param, "=")
		key = strings.ToLower(key)
		text, err := url.PathUnescape(value)
		switch {
		case strings.HasPrefix(key, "req-"):
			return bip21{}, fault.New(fault.InvalidInput, "the URI requires the parameter %q, which is not supported", shorten(param))
		case key == "amount" && out.amount != nil:
			return bip21{}, fault.New(fault.InvalidInput, "the URI has more than one amount")
		case key == "amount" && err != nil:
			return bip21{}, fault.New(fault.InvalidInput, "the URI's amount has an invalid percent escape")
		case key == "amount":
			if out.amount, err = parseBitcoinAmount(text); err != nil {
				return bip21{}, err
			}
		case key == "lightning" && err == nil:
			out.lightning = text
		}
	}
	return out, nil
}

// parseBitcoinAmount returns the sats of `^[0-9]+(\.[0-9]{1,8})?$` bitcoin, at
// most 21 million.
func parseBitcoinAmount(text string) (*big.Int, error) {
	_, frac, _ := strings.Cut(text, ".")
	sats, err := tokens.ParseDecimal(text, tokens.BTC().Decimals)
	if err != nil || len(frac) > tokens.BTC().Decimals {
		return nil, fault.New(fault.InvalidInput, "the URI's amount must be a decimal number of bitcoin with at most 8 decimal places")
	}
	if sats.Cmp(big.NewInt(maxSats)) > 0 {
		return nil, fault.New(fault.InvalidInput, "the URI's amount is more than 21 million bitcoin")
	}
	return sats, nil
}

// shorten cuts foreign text for an error message.
func shorten(s string) string {
	const limit = 40
	if len(s) > limit {
		return strings.ToValidUTF8(s[:limit], "") + "..."
	}
	return s
}
