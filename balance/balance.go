package balance

import (
	"context"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/tokens"
)

// Estimator answers [Query]s. It holds no state and is safe for concurrent use.
type Estimator struct {
	Bitcoin bitcoin.Backend
	Chain   func(id string) (chains.Chain, bool) // the configured smart chains
}

// Query is the input of an estimate.
type Query struct {
	Token  tokens.Token
	Wallet string // address on the token's chain

	// TargetChain is the smart chain to swap to, or "". It makes the estimate of
	// a Bitcoin balance include what a swap to that chain puts into the
	// transaction; of other balances it changes nothing.
	TargetChain string
	GasDrop     bool // room for extra gas tokens; Bitcoin only

	FeeRate       string   // in the format of the token's chain; "": the current rate
	MinFeeRate    *float64 // lowest rate to use, sat/vB; Bitcoin only
	FeeMultiplier *float64 // multiplies the current rate (Bitcoin) or cost; not with FeeRate
}

// Spendable is the result of a [Query].
type Spendable struct {
	Amount       tokens.Amount
	FeeRateSatVB float64 // sat/vB used in the estimate; 0 except for Bitcoin
}

// Estimate returns what can be swapped. The query is validated before anything
// is requested; errors name its fields as the published interface does
// (protocol: utilities.md §10, swap-flows-spv-and-core.md C10). A balance that
// cannot be read is an error, never zero.
//
// Round trips, with the requests of each in parallel: two on Bitcoin (coins and
// fee rate, then unconfirmed parents if there are any), one on a smart chain.
func (e Estimator) Estimate(ctx context.Context, q Query) (Spendable, error) {
	if q.Token.Chain == tokens.Lightning {
		return Spendable{}, fault.At("token", fault.New(fault.Unsupported, "the balance of a Lightning wallet cannot be looked up"))
	}
	if q.FeeRate != "" && q.FeeMultiplier != nil {
		return Spendable{}, fault.Invalid("feeMultiplier", "cannot be combined with feeRate")
	}
	if q.Token.Chain == tokens.Bitcoin {
		return e.bitcoin(ctx, q)
	}
	return e.smart(ctx, q)
}
