package discovery

import (
	"math/big"

	"github.com/swapper-go/swapper/internal/lp"
)

// LP is a liquidity provider as it was when it was loaded: only what it has
// proven. It is never changed (protocol: lp-protocol.md §2.4).
type LP struct {
	URL       string
	Addresses map[string]string // by chain, verified
	Versions  map[string]string // contract version, by chain
	Services  map[lp.Service]lp.ServiceInfo
}

// Range is what amounts may be, in base units of one token; nil is unknown.
type Range struct{ Min, Max *big.Int }

// Bounds are the ranges of both sides of a swap.
type Bounds struct{ Input, Output Range }

// announced returns the bounds that follow from /info alone: those of the
// bitcoin side.
func announced(s lp.ServiceInfo, service lp.Service) Bounds {
	r := Range{big.NewInt(s.Min), big.NewInt(s.Max)}
	if service.ToBitcoin() {
		return Bounds{Output: r}
	}
	return Bounds{Input: r}
}

// widen extends a range to hold another one.
func (r *Range) widen(o Range) {
	if o.Min != nil && (r.Min == nil || o.Min.Cmp(r.Min) < 0) {
		r.Min = o.Min
	}
	if o.Max != nil && (r.Max == nil || o.Max.Cmp(r.Max) > 0) {
		r.Max = o.Max
	}
}

// raise makes min the least that the range allows; 0 says nothing.
func (r *Range) raise(min *big.Int) {
	if min.Sign() > 0 && (r.Min == nil || r.Min.Cmp(min) < 0) {
		r.Min = min
	}
}

// Shown returns the bounds as users see them: an unknown minimum is 1 base
// unit, an unknown maximum is absent (protocol: lp-protocol.md §2.7).
func (b Bounds) Shown() Bounds {
	for _, r := range []*Range{&b.Input, &b.Output} {
		if r.Min == nil {
			r.Min = big.NewInt(1)
		}
	}
	return b
}

// Probe reports whether a throw-away quote for 1 base unit would teach a bound
// that is still unknown, and of which side: LPs refuse it and name their bounds.
// Payments to Lightning need an invoice and cannot be probed (protocol:
// swap-flows-spv-and-core.md C7).
func (b Bounds) Probe(service lp.Service) (exactIn, worthwhile bool) {
	if service == lp.ToBTCLN {
		return false, false
	}
	one := big.NewInt(1)
	s := b.Shown()
	exactIn = s.Input.Min.Cmp(one) == 0
	return exactIn, exactIn || s.Output.Min.Cmp(one) == 0
}
