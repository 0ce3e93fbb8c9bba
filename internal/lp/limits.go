package lp

import (
	"math/big"
	"slices"

	"github.com/swapper-go/swapper/internal/bigs"
	"github.com/swapper-go/swapper/internal/pricecheck"
)

// Limits returns what amounts of a swap some LP takes: the announced bounds of
// the bitcoin side, and what LPs have answered to quote requests (protocol:
// lp-protocol.md §2.7). Unknown bounds are nil.
func (d *Directory) Limits(service Service, chain, token string) Bounds {
	return d.limits(service, chain, token, func(_ *LP, b Bounds) Bounds { return b })
}

func (d *Directory) limits(service Service, chain, token string, complete func(*LP, Bounds) Bounds) Bounds {
	var all Bounds
	now := d.s.Now()
	for _, lp := range d.LPs() {
		s, offers := lp.Services[service]
		spelled, listed := d.spelling(s, chain, token)
		if !offers || !listed || !d.penalties.free(lp.URL, Pair{service, chain, token}, now) {
			continue
		}
		b := complete(lp, d.bounds(lp, service, chain, spelled))
		all.Input.widen(b.Input)
		all.Output.widen(b.Output)
	}
	return all
}

// bounds returns what is known of the bounds of one LP.
func (d *Directory) bounds(lp *LP, service Service, chain, spelled string) Bounds {
	d.mu.Lock()
	defer d.mu.Unlock()
	if b, ok := d.learned[boundsKey{lp.URL, service, chain, spelled}]; ok {
		return b
	}
	return lp.Services[service].announced(service)
}

// learn notes the bounds that an LP has answered with: those of the input for an
// exact input, else of the output. They replace what was known, the announced
// ones too.
func (d *Directory) learn(c Candidate, q Query, min, max *big.Int) {
	b := d.bounds(c.LP, q.Service, q.Chain, c.Token)
	if q.ExactIn {
		b.Input = Range{min, max}
	} else {
		b.Output = Range{min, max}
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if slices.Contains(d.lps, c.LP) { // else it was replaced meanwhile
		d.learned[boundsKey{c.LP.URL, q.Service, q.Chain, c.Token}] = b
	}
}

// Worth is what the bounds of the bitcoin side are converted with.
type Worth struct {
	Price       *big.Int // of the token, micro-sats per whole token
	Decimals    int      // of the token
	NetworkSats int64    // what paying out the least amount may cost, for services to bitcoin

	// Watchtower is what a watchtower is paid for settling a swap, by contract
	// version, for services from bitcoin; without an entry the pay is not known, or
	// there is none.
	Watchtower map[string]WatchtowerPay
}

// WatchtowerPay is what a watchtower is paid, in sats.
type WatchtowerPay struct {
	Sats *big.Int
	Min  *big.Int // the least value of a swap that pays it ([Policy.WatchtowerMin])
}

// LimitsAt is [Directory.Limits] with the side that is not bitcoin: of an LP that
// has not named its bounds there, it follows from those of the bitcoin side, the
// announced fees and the market's price, and is rounded inwards. Neither minimum of
// a service from bitcoin is below what its watchtower's pay demands, which can
// exceed the maximum: then the chain's fees are too high for any amount. Errors are
// those of a price that cannot be.
func (d *Directory) LimitsAt(service Service, chain, token string, w Worth) (Bounds, error) {
	var failed error
	b := d.limits(service, chain, token, func(lp *LP, b Bounds) Bounds {
		known, derived := &b.Output, &b.Input
		if !service.ToBitcoin() {
			known, derived = derived, known
		}
		var err error
		if derived.Min == nil && derived.Max == nil && known.Min != nil && known.Max != nil {
			if *derived, err = w.other(lp.Services[service], service.ToBitcoin(), *known); err != nil {
				failed = err
			}
		}
		if pay, known := w.Watchtower[lp.version(chain)]; known && !service.ToBitcoin() {
			if err := w.raise(&b, lp.Services[service], pay); err != nil {
				failed = err
			}
		}
		return b
	})
	return b, failed
}

// raise brings both minima up to what pays a watchtower. An exact input must also
// leave something after the pay and the LP's fees, which it contains.
func (w Worth) raise(b *Bounds, s ServiceInfo, pay WatchtowerPay) error {
	units, err := pricecheck.FromBitcoinUp(pay.Min, w.Price, w.Decimals)
	if err != nil {
		return err
	}
	b.Output.raise(units)
	b.Input.raise(pay.Min)
	if pay.Sats.Sign() > 0 && s.FeePPM < million.Int64() {
		left := big.NewInt(million.Int64() - s.FeePPM)
		rest := sum(pay.Sats, big.NewInt(s.BaseFee))
		rest.Add(rest, big.NewInt(1))                                       // what is left
		b.Input.raise(sum(bigs.MulDiv(rest, million, left), big.NewInt(3))) // pay and two fees are rounded up
	}
	return nil
}

// other converts the bounds of the bitcoin side.
func (w Worth) other(s ServiceInfo, toBitcoin bool, r Range) (Range, error) {
	with := func(sats, network *big.Int) *big.Int {
		fee := bigs.MulDiv(sats, big.NewInt(s.FeePPM), million)
		fee.Add(fee, big.NewInt(s.BaseFee))
		if toBitcoin {
			return sum(sats, sum(fee, network))
		}
		return minus(sats, fee)
	}
	low, high := with(r.Min, big.NewInt(w.NetworkSats)), with(r.Max, new(big.Int))
	if low.Sign() <= 0 {
		low = big.NewInt(1)
	}
	if high.Sign() < 0 {
		high = new(big.Int)
	}
	least, err := pricecheck.FromBitcoinUp(low, w.Price, w.Decimals)
	if err != nil {
		return Range{}, err
	}
	most, err := pricecheck.FromBitcoin(high, w.Price, w.Decimals)
	return Range{least, most}, err
}
