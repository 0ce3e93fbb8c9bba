package discovery

import (
	"math/big"
	"slices"

	"github.com/swapper-go/swapper/internal/bigs"
	"github.com/swapper-go/swapper/internal/lp"
	"github.com/swapper-go/swapper/internal/lp/verify"
)

// Limits returns what amounts of a swap some LP takes: the announced bounds of
// the bitcoin side, and what LPs have answered to quote requests (protocol:
// lp-protocol.md §2.7). Unknown bounds are nil.
func (d *Directory) Limits(service lp.Service, chain, token string) Bounds {
	return d.limits(service, chain, token, func(_ *LP, b Bounds) Bounds { return b })
}

func (d *Directory) limits(service lp.Service, chain, token string, complete func(*LP, Bounds) Bounds) Bounds {
	var all Bounds
	now := d.s.Now()
	for _, p := range d.LPs() {
		s, offers := p.Services[service]
		spelled, listed := d.spelling(s, chain, token)
		if !offers || !listed || !d.penalties.free(p.URL, lp.Pair{Service: service, Chain: chain, Token: token}, now) {
			continue
		}
		b := complete(p, d.bounds(p, service, chain, spelled))
		all.Input.widen(b.Input)
		all.Output.widen(b.Output)
	}
	return all
}

// bounds returns what is known of the bounds of one LP.
func (d *Directory) bounds(p *LP, service lp.Service, chain, spelled string) Bounds {
	d.mu.Lock()
	defer d.mu.Unlock()
	if b, ok := d.learned[boundsKey{p.URL, service, chain, spelled}]; ok {
		return b
	}
	return announced(p.Services[service], service)
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
	Min  *big.Int // the least value of a swap that pays it ([verify.Policy.WatchtowerMin])
}

// LimitsAt is [Directory.Limits] with the side that is not bitcoin: of an LP that
// has not named its bounds there, it follows from those of the bitcoin side, the
// announced fees and the market's price, and is rounded inwards. Neither minimum of
// a service from bitcoin is below what its watchtower's pay demands, which can
// exceed the maximum: then the chain's fees are too high for any amount. Errors are
// those of a price that cannot be.
func (d *Directory) LimitsAt(service lp.Service, chain, token string, w Worth) (Bounds, error) {
	var failed error
	b := d.limits(service, chain, token, func(p *LP, b Bounds) Bounds {
		known, derived := &b.Output, &b.Input
		if !service.ToBitcoin() {
			known, derived = derived, known
		}
		var err error
		if derived.Min == nil && derived.Max == nil && known.Min != nil && known.Max != nil {
			if *derived, err = w.other(p.Services[service], service.ToBitcoin(), *known); err != nil {
				failed = err
			}
		}
		if pay, known := w.Watchtower[p.version(chain)]; known && !service.ToBitcoin() {
			if err := w.raise(&b, p.Services[service], pay); err != nil {
				failed = err
			}
		}
		return b
	})
	return b, failed
}

var perMillion = big.NewInt(1_000_000)

// raise brings both minima up to what pays a watchtower. An exact input must also
// leave something after the pay and the LP's fees, which it contains.
func (w Worth) raise(b *Bounds, s lp.ServiceInfo, pay WatchtowerPay) error {
	units, err := verify.FromBitcoinUp(pay.Min, w.Price, w.Decimals)
	if err != nil {
		return err
	}
	b.Output.raise(units)
	b.Input.raise(pay.Min)
	if pay.Sats.Sign() > 0 && s.FeePPM < perMillion.Int64() {
		left := big.NewInt(perMillion.Int64() - s.FeePPM)
		rest := bigs.Add(pay.Sats, big.NewInt(s.BaseFee))
		rest.Add(rest, big.NewInt(1))                                               // what is left
		b.Input.raise(bigs.Add(bigs.MulDiv(rest, perMillion, left), big.NewInt(3))) // pay and two fees are rounded up
	}
	return nil
}

// other converts the bounds of the bitcoin side.
func (w Worth) other(s lp.ServiceInfo, toBitcoin bool, r Range) (Range, error) {
	with := func(sats, network *big.Int) *big.Int {
		fee := bigs.MulDiv(sats, big.NewInt(s.FeePPM), perMillion)
		fee.Add(fee, big.NewInt(s.BaseFee))
		if toBitcoin {
			return bigs.Add(sats, bigs.Add(fee, network))
		}
		return bigs.Sub(sats, fee)
	}
	low, high := with(r.Min, big.NewInt(w.NetworkSats)), with(r.Max, new(big.Int))
	if low.Sign() <= 0 {
		low = big.NewInt(1)
	}
	if high.Sign() < 0 {
		high = new(big.Int)
	}
	least, err := verify.FromBitcoinUp(low, w.Price, w.Decimals)
	if err != nil {
		return Range{}, err
	}
	most, err := verify.FromBitcoin(high, w.Price, w.Decimals)
	return Range{least, most}, err
}
