// Package single asks a Bitcoin backend single questions, and checks what goes in and out.
package single

import (
	"context"

	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/fault"
)

// Transactions is what [Tx] asks; every [bitcoin.Backend] can be asked it.
type Transactions interface {
	Txs(ctx context.Context, ids []bitcoin.Hash) []bitcoin.Result[*bitcoin.Tx]
}

// Tx returns one transaction; see [bitcoin.Backend].Txs.
func Tx(ctx context.Context, b Transactions, id bitcoin.Hash) (*bitcoin.Tx, error) {
	r := b.Txs(ctx, []bitcoin.Hash{id})[0]
	return r.Value, r.Err
}

// Outspend returns what spends one output; see [bitcoin.Backend].Outspends.
func Outspend(ctx context.Context, b interface {
	Outspends(ctx context.Context, ops []bitcoin.OutPoint) []bitcoin.Result[bitcoin.Spend]
}, op bitcoin.OutPoint) (bitcoin.Spend, error) {
	r := b.Outspends(ctx, []bitcoin.OutPoint{op})[0]
	return r.Value, r.Err
}

// Index is a backend as the list of an address's transactions, in which payments to an address
// are found. The code of its error is Unsupported.
func Index(backend any) (bitcoin.AddressIndex, error) {
	if b, ok := backend.(bitcoin.AddressIndex); ok {
		return b, nil
	}
	return nil, fault.New(fault.Unsupported, "payments to an address on Bitcoin cannot be found: the Bitcoin backend has no address index (bitcoin.AddressIndex)")
}

// Mempool is what a backend knows of the mempool: nothing, unless it is a [bitcoin.MempoolReader].
func Mempool(backend any) bitcoin.MempoolReader {
	if b, ok := backend.(bitcoin.MempoolReader); ok {
		return b
	}
	return noMempool{}
}

type noMempool struct{}

func (noMempool) CPFPs(_ context.Context, ids []bitcoin.Hash) []bitcoin.Result[*bitcoin.CPFP] {
	return make([]bitcoin.Result[*bitcoin.CPFP], len(ids))
}

func (noMempool) ProjectedBlocks(context.Context) ([]bitcoin.ProjectedBlock, error) { return nil, nil }

// CPFP returns the effective fee rate of one unconfirmed transaction; see [bitcoin.MempoolReader].
func CPFP(ctx context.Context, b bitcoin.MempoolReader, id bitcoin.Hash) (*bitcoin.CPFP, error) {
	r := b.CPFPs(ctx, []bitcoin.Hash{id})[0]
	return r.Value, r.Err
}

// FeeRates returns the rates that a backend recommends, of which none is above
// [bitcoin.HighestFeeRate]: what they are multiplied with is the user's money. Rates that cannot
// be are an error with the code Upstream.
func FeeRates(ctx context.Context, b interface {
	FeeRates(ctx context.Context) (bitcoin.FeeRates, error)
}) (bitcoin.FeeRates, error) {
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
// for implementations of [bitcoin.Backend] and [bitcoin.AddressIndex].
func CheckAddress(a bitcoin.Address, n bitcoin.Network) error {
	if a.IsZero() {
		return fault.Invalid("address", "is required")
	}
	if _, err := bitcoin.ParseAddress(a.String(), n); err != nil {
		return fault.Invalid("address", "%w", err)
	}
	return nil
}
