package lp

import (
	"math/big"
	"slices"

	"github.com/swapper-go/swapper/chains"
)

// LP is a liquidity provider as it was when it was loaded: only what it has
// proven. It is never changed (protocol: lp-protocol.md §2.4).
type LP struct {
	URL       string
	Addresses map[string]string // by chain, verified
	Versions  map[string]string // contract version, by chain
	Services  map[Service]ServiceInfo
}

// Range is what amounts may be, in base units of one token; nil is unknown.
type Range struct{ Min, Max *big.Int }

// Bounds are the ranges of both sides of a swap.
type Bounds struct{ Input, Output Range }

// announced returns the bounds that follow from /info alone: those of the
// bitcoin side.
func (s ServiceInfo) announced(service Service) Bounds {
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
func (b Bounds) Probe(service Service) (exactIn, worthwhile bool) {
	if service == ToBTCLN {
		return false, false
	}
	one := big.NewInt(1)
	s := b.Shown()
	exactIn = s.Input.Min.Cmp(one) == 0
	return exactIn, exactIn || s.Output.Min.Cmp(one) == 0
}

// version returns the description of a contract version of a chain.
func version(info chains.Info, name string) (chains.Version, bool) {
	i := slices.IndexFunc(info.Versions, func(v chains.Version) bool { return v.Name == name })
	if i < 0 {
		return chains.Version{}, false
	}
	return info.Versions[i], true
}

// serves reports whether contracts of a version can do a service.
func serves(v chains.Version, s Service) bool {
	switch s {
	case FromBTCLNAuto:
		return v.LPInit
	case SPVFromBTC:
		return v.Vaults
	}
	return true
}

// FromLightning returns the service by which a chain is reached from Lightning.
// What LPs offer does not matter (protocol: swap-flows-spv-and-core.md C4).
func FromLightning(info chains.Info) Service {
	if v, ok := version(info, info.Default); ok && v.LPInit {
		return FromBTCLNAuto
	}
	return FromBTCLN
}

// FromBitcoin returns the service by which a chain is reached from Bitcoin.
func FromBitcoin(info chains.Info) Service {
	if v, ok := version(info, info.Default); ok && v.Vaults {
		return SPVFromBTC
	}
	return FromBTC
}
