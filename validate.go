package swapper

import (
	"math/big"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/swapper-go/swapper/fault"
)

// Limits of the input, in bytes unless noted otherwise. They bound what is
// stored and forwarded; real values are far below them.
const (
	maxID             = 256                  // swap, token and chain identifiers, signers, wallets
	maxAddressText    = 8192                 // addresses, which may be invoices or links
	maxDescription    = 500                  // invoice descriptions, as liquidity providers accept them
	maxIdempotencyKey = 128                  //
	maxFeeRateText    = 256                  //
	maxSignedTxs      = 256                  // transactions in one submission
	maxSignedTx       = 1 << 20              // one signed transaction
	maxTimeout        = 365 * 24 * time.Hour // duration of a Lightning HTLC
)

// maxAmount is the largest amount of any chain, 2^256-1 base units.
var maxAmount = new(big.Int).Sub(new(big.Int).Lsh(big.NewInt(1), 256), big.NewInt(1))

// first returns the first error, so that a Validate method is a list of checks.
func first(errs ...*fault.Error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// required checks a text that must be given.
func required(field, s string, max int) *fault.Error {
	if s == "" {
		return fault.Invalid(field, "is required and must not be empty")
	}
	return optional(field, s, max)
}

// optional checks a text that may be empty.
func optional(field, s string, max int) *fault.Error {
	switch {
	case len(s) > max:
		return fault.Invalid(field, "must be at most %d bytes long", max)
	case !utf8.ValidString(s):
		return fault.Invalid(field, "is not valid UTF-8")
	}
	return nil
}

func oneOf[T ~string](field string, s T, allowed ...T) *fault.Error {
	words := make([]string, len(allowed))
	for i, a := range allowed {
		if s == a {
			return nil
		}
		words[i] = string(a)
	}
	if s == "" {
		return fault.Invalid(field, "is required and must be one of %s", strings.Join(words, ", "))
	}
	return fault.Invalid(field, "must be one of %s", strings.Join(words, ", "))
}

// optionalHex checks hexadecimal digits of either case, of one of the given
// numbers, that may be absent. The message does not repeat the value: it may be
// a secret.
func optionalHex(field, s string, digits ...int) *fault.Error {
	if s == "" {
		return nil
	}
	for _, n := range digits {
		if len(s) == n && isHex(s) {
			return nil
		}
	}
	if len(digits) == 1 {
		return fault.Invalid(field, "must be exactly %d hexadecimal digits", digits[0])
	}
	return fault.Invalid(field, "must be a public key of 64, 66 or 130 hexadecimal digits")
}

// swapKey checks a swap's key that may be absent.
func swapKey(key Secret) *fault.Error { return optionalHex("swapKey", key.Reveal(), 32) }

func isHex(s string) bool {
	for i := range len(s) {
		c := s[i]
		if (c < '0' || c > '9') && (c < 'a' || c > 'f') && (c < 'A' || c > 'F') {
			return false
		}
	}
	return true
}

// amountFrom checks an amount of base units that is at least min.
func amountFrom(field string, n *big.Int, min int64) *fault.Error {
	switch {
	case n.Cmp(big.NewInt(min)) < 0:
		return fault.Invalid(field, "must be at least %d", min)
	case n.Cmp(maxAmount) > 0:
		return fault.Invalid(field, "must be less than 2^256")
	}
	return nil
}

// positive checks a rate or factor that may be absent.
func positive(field string, f *float64, most int64) *fault.Error {
	if f != nil && !(*f > 0 && *f <= float64(most)) {
		return fault.Invalid(field, "must be a number greater than 0 and at most %d", most)
	}
	return nil
}

// wholeSeconds checks a duration that may be absent.
func wholeSeconds(field string, d *time.Duration) *fault.Error {
	switch {
	case d == nil:
	case *d <= 0:
		return fault.Invalid(field, "must be more than 0 seconds")
	case *d%time.Second != 0:
		return fault.Invalid(field, "must be a whole number of seconds")
	case *d > maxTimeout:
		return fault.Invalid(field, "must be at most %d seconds", maxTimeout/time.Second)
	}
	return nil
}
