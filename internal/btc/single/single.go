// Package single asks a Bitcoin backend single questions, and checks what goes in and out.
package single

import (
	"context"

	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/fault"
)

// Tx returns one transaction; see [bitcoin.Backend].Txs.
func Tx(ctx context.Context, b bitcoin.Backend, id bitcoin.Hash) (*bitcoin.Tx, error) {
	r := b.Txs(ctx, []bitcoin.Hash{id})[0]
	return r.Value, r.Err
}

// Outspend returns what spends one output; see [bitcoin.Backend].Outspends.
func Outspend(ctx context.Context, b bitcoin.Backend, op bitcoin.OutPoint) (bitcoin.Spend, error) {
	r := b.Outspends(ctx, []bitcoin.OutPoint{op})[0]
	return r.Value, r.Err
}

// CPFP returns the effective fee rate of one unconfirmed transaction; see [bitcoin.Backend].CPFPs.
func CPFP(ctx context.Context, b bitcoin.Backend, id bitcoin.Hash) (*bitcoin.CPFP, error) {
	r := b.CPFPs(ctx, []bitcoin.Hash{id})[0]
	return r.Value, r.Err
}

// FeeRates returns the rates that a backend recommends, of which none is above
// [bitcoin.HighestFeeRate]: what they are multiplied with is the user's money. Rates that cannot
// be are an error with the code Upstream.
func FeeRates(ctx context.Context, b bitcoin.Backend) (bitcoin.FeeRates, error) {
	r, err := b.FeeRates(ctx)
	if err != nil {
		return bitcoin.FeeRates{}, err
	}
	if err := r.Check(); err != nil {
		return bitcoin.FeeRates{}, fault.New(fault.Upstream, "the Bitcoin backend returned %w", err)
	}
	return r, nil
}

// CheckAddress returns an InvalidInput error unless a is an address of n; it is
// for implementations of [bitcoin.Backend].
func CheckAddress(a bitcoin.Address, n bitcoin.Network) error {
	if a.IsZero() {
		return fault.Invalid("address", "is required")
	}
	if _, err := bitcoin.ParseAddress(a.String(), n); err != nil {
		return fault.Invalid("address", "%w", err)
	}
	return nil
}
