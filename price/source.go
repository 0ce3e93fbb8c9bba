package price

import (
	"context"
	"errors"
	"fmt"
	"math/big"

	"github.com/swapper-go/swapper/tokens"
)

// Source provides market prices. Callers can implement their own: an exchange
// where they have an account, an oracle, a table in a test.
//
// All methods must be safe for concurrent use, return at the latest when the
// context ends, and bound what they read. They may be called often; put a
// [NewCache] in front to limit requests. An implementation should not retry for
// more than a few seconds, because a user is waiting for a quote.
type Source interface {
	// Name is a short constant text that names the source in errors and logs.
	Name() string

	// Price returns the micro-satoshis that one whole token (10^Decimals base
	// units) is worth on the market now. The value must be above 0; anything
	// else is treated as a failure. The caller owns the returned value.
	//
	// For a token that the source does not list, the error wraps
	// [ErrUnknownToken]. That does not count as a failure of the source: others
	// are asked, and the call is not retried. Any other error means that the
	// source could not answer now.
	Price(ctx context.Context, t tokens.Token) (*big.Int, error)

	// USDPerSat returns the US dollars that one satoshi is worth, above 0. It
	// is only displayed and affects no decision.
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

// Fixed is a [Source] of constant prices by token id ([tokens.Token.ID]), for
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
