package price

import (
	"context"
	"errors"
	"fmt"
	"math/big"

	"github.com/swapper-go/swapper/tokens"
)

// Source gives market prices. Callers may bring their own: an exchange that they
// have an account with, an oracle, a table in a test.
//
// All methods must be safe for concurrent use, return when the context ends at
// the latest, and bound what they read. They may be called often; whoever wants
// few requests puts a [Cache] in front. An implementation does not retry for
// longer than a few seconds: somebody waits for a quote.
type Source interface {
	// Name is a short constant text by which errors and logs name the source.
	Name() string

	// Price returns the micro-satoshis that one whole token (10^Decimals base
	// units) is worth on the market now. The value must be above 0; anything else
	// is taken for a failure. It is not kept by the source, so callers may change
	// it.
	//
	// A token that the source does not know is an error that wraps
	// [ErrUnknownToken], which is no failure of the source: others are asked, and
	// nobody asks this one again in vain with delays. Every other error means
	// that the source could not answer now.
	Price(ctx context.Context, t tokens.Token) (*big.Int, error)

	// USDPerSat returns the US dollars that one satoshi is worth, above 0. It is
	// shown to people and decides nothing.
	USDPerSat(ctx context.Context) (float64, error)
}

// ErrUnknownToken is the error of a token for which a source has no price.
var ErrUnknownToken = errors.New("no price is available for this token")

// most is the price of a token that is worth all bitcoin that there can be.
var most = new(big.Int).Mul(big.NewInt(21_000_000*100_000_000), big.NewInt(1_000_000))

// sane refuses what cannot be a price.
func sane(p *big.Int) error {
	switch {
	case p == nil || p.Sign() <= 0:
		return errors.New("the price must be greater than zero")
	case p.Cmp(most) > 0:
		return errors.New("the price is above the total supply of bitcoin")
	}
	return nil
}

// mostUSD bounds the price of one satoshi in US dollars.
const mostUSD = 1e6

func saneUSD(v float64) error {
	if !(v > 0) || v > mostUSD { // not above zero: NaN too
		return fmt.Errorf("%v US dollars per satoshi is not a plausible price", v)
	}
	return nil
}

// Fixed is a source of constant prices by token id ([tokens.Token.ID]), for
// private networks and tests.
type Fixed struct {
	Prices map[string]*big.Int // micro-sats per whole token
	USD    float64             // per sat
}

// Name implements [Source].
func (f Fixed) Name() string { return "fixed" }

// Price implements [Source].
func (f Fixed) Price(_ context.Context, t tokens.Token) (*big.Int, error) {
	p, ok := f.Prices[t.ID()]
	if !ok {
		return nil, fmt.Errorf("%w: %s", ErrUnknownToken, t.ID())
	}
	if err := sane(p); err != nil {
		return nil, fmt.Errorf("price of %s: %w", t.ID(), err)
	}
	return new(big.Int).Set(p), nil
}

// USDPerSat implements [Source].
func (f Fixed) USDPerSat(context.Context) (float64, error) { return f.USD, saneUSD(f.USD) }
