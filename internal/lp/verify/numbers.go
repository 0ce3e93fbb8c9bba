package verify

import (
	"fmt"
	"math/big"

	"github.com/swapper-go/swapper/internal/lp"
)

// doubt is like [lp.Lie] for checks that an honest LP can fail: the answer is
// refused, and the LP is not punished. It is for checks that depend on another
// node's view of a chain, on an estimate, or on an LP's configuration.
func doubt(c lp.Check, format string, args ...any) error {
	e := lp.Lie(c, format, args...)
	e.Lenient = true
	return e
}

// first runs checks in order and returns the first failure.
func first(checks ...func() error) error {
	for _, check := range checks {
		if err := check(); err != nil {
			return err
		}
	}
	return nil
}

// figure is an amount of an answer with its name.
type figure struct {
	name  string
	value *big.Int
}

// maxBits bounds every number of an answer: contracts count in 256 bits.
const maxBits = 256

// sane refuses numbers that are missing, negative or absurd (protocol:
// lp-protocol.md §9 no. 9).
func sane(numbers ...figure) error {
	for _, n := range numbers {
		switch {
		case n.value == nil:
			return lp.Lie(lp.CheckNumbers, "%s is missing", n.name)
		case n.value.Sign() < 0:
			return lp.Lie(lp.CheckNumbers, "%s is negative", n.name)
		case n.value.BitLen() > maxBits:
			return lp.Lie(lp.CheckNumbers, "%s has more than %d bits", n.name, maxBits)
		}
	}
	return nil
}

// errUnknown means that an answer could not be checked because a fact is
// missing that the caller has to find out. The LP is not blamed.
func errUnknown(what string) error { return fmt.Errorf("cannot check the quote: %s unknown", what) }

func same(a, b *big.Int) bool { return a != nil && b != nil && a.Cmp(b) == 0 }
