package verify

import (
	"math/big"

	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/internal/bigs"
	"github.com/swapper-go/swapper/internal/btc/psbt"
)

// Policy is how strict the checks are, and what a swap may cost. The zero value
// is the usual one. Limits in parts per million are of the swap's value in sats;
// beside each of them a small sum always passes, because some costs are the same
// for every amount.
type Policy struct {
	// TolerancePPM is how much worse than the market a quote may be; 0 means
	// [DefaultTolerancePPM].
	TolerancePPM int64
	// MaxFeePPM bounds the LP's fee, announced or not; 0 means 50 000, 5 %. Fees
	// up to 1000 sats always pass.
	MaxFeePPM int64
	// MaxWatchtowerPPM bounds what a watchtower gets for settling a swap from
	// Bitcoin or Lightning; 0 means 50 000, 5 %. Pay worth up to 1000 sats always
	// passes: about what claims cost, whatever is swapped. The pay follows from what
	// the chain's nodes say of fees, so this is what a node that lies can cost. An
	// amount too small to keep to it is refused.
	MaxWatchtowerPPM int64
	// AnyFee accepts fees above the announced ones, up to MaxFeePPM, which LPs with
	// plugins may charge (protocol: lp-protocol.md §8.5); the price is checked all
	// the same.
	AnyFee bool
	// AnyNode accepts Lightning nodes of any capacity, known to the graph or not:
	// for private networks.
	AnyNode bool
	// MaxDepositPPM bounds the security deposit of the legacy types; 0 means
	// 50 000, 5 %. Deposits worth up to 2000 sats always pass: they cover a refund
	// transaction.
	MaxDepositPPM int64
	// MaxMinerFeePPM bounds what Bitcoin's miners get: of the user for his payment,
	// unconfirmed parents included, and of an LP for its payout; 0 means 50 000, 5 %.
	// Fees up to 100 000 sats always pass, which a payment needs on a dear day. Rates
	// and sizes are what others say, so this is what a backend, an LP or a slip of a
	// digit can cost.
	MaxMinerFeePPM int64
	// PayoutVSize is the size, in vB, of the payout transaction that a network fee
	// may pay for; 0 means 400, some inputs more than usual.
	PayoutVSize int64
}

// usualPPM is the limit of what is beside the price: 5 %.
const usualPPM = 50_000

// What always passes, in sats.
const (
	smallFee        = 1000
	smallWatchtower = 1000
	smallDeposit    = 2000 // about what a refund transaction costs
)

func (p Policy) tolerance() int64 {
	if p.TolerancePPM > 0 {
		return p.TolerancePPM
	}
	return DefaultTolerancePPM
}

// limit returns what ppm, or the usual limit, of swapSats is, and small if that
// is more.
func limit(swapSats *big.Int, ppm, small int64) *big.Int {
	if ppm <= 0 {
		ppm = usualPPM
	}
	most := bigs.MulDiv(swapSats, big.NewInt(ppm), million)
	if least := big.NewInt(small); most.Cmp(least) < 0 {
		return least
	}
	return most
}

func (p Policy) fee(swapSats *big.Int) *big.Int { return limit(swapSats, p.MaxFeePPM, smallFee) }

// minerFee is the most that miners may get for a swap worth swapSats; both in sats.
func (p Policy) minerFee(swapSats *big.Int) *big.Int {
	return limit(swapSats, p.MaxMinerFeePPM, psbt.SmallMinerFee)
}

// Validate refuses negative values, with an error that names the field.
func (p Policy) Validate() error {
	for _, f := range []struct {
		name  string
		value int64
	}{
		{"tolerancePPM", p.TolerancePPM}, {"maxFeePPM", p.MaxFeePPM}, {"maxWatchtowerPPM", p.MaxWatchtowerPPM},
		{"maxDepositPPM", p.MaxDepositPPM}, {"maxMinerFeePPM", p.MaxMinerFeePPM}, {"payoutVSize", p.PayoutVSize},
	} {
		if f.value < 0 {
			return fault.Invalid("policy."+f.name, "must not be negative, but is %d; 0 is the usual value", f.value)
		}
	}
	return nil
}

func (p Policy) watchtower(swapSats *big.Int) *big.Int {
	return limit(swapSats, p.MaxWatchtowerPPM, smallWatchtower)
}

func (p Policy) deposit(swapSats *big.Int) *big.Int {
	return bigs.Add(limit(swapSats, p.MaxDepositPPM, 0), big.NewInt(smallDeposit))
}

// WatchtowerMin returns the least value of a swap, in sats, of which a watchtower
// may get paySats: 0 if that always passes.
func (p Policy) WatchtowerMin(paySats *big.Int) *big.Int {
	if paySats.Cmp(big.NewInt(smallWatchtower)) <= 0 {
		return new(big.Int)
	}
	ppm := big.NewInt(p.MaxWatchtowerPPM)
	if ppm.Sign() <= 0 {
		ppm.SetInt64(usualPPM)
	}
	least := new(big.Int).Mul(paySats, million)
	return least.Add(least, ppm).Sub(least, big.NewInt(1)).Quo(least, ppm)
}

// Watchtower refuses a swap worth swapSats of which a watchtower would get more
// than is accepted; both in sats. The error has the code fault.InvalidInput and
// the field amount.
func (p Policy) Watchtower(paySats, swapSats *big.Int) error {
	if most := p.watchtower(swapSats); paySats.Cmp(most) > 0 {
		return fault.Invalid("amount", "is too low for the chain's current fees: settling a swap of %s sats costs %s sats, more than the accepted %s; use a larger amount", swapSats, paySats, most)
	}
	return nil
}
