package discovery

import (
	"cmp"
	"math/big"
	"slices"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/internal/lp"
)

// Query says which swap a quote is wanted for.
type Query struct {
	Service lp.Service
	Chain   string
	Token   string // address of the smart chain's token
	ExactIn bool
	Amount  *big.Int // base units of the fixed side; nil: not known yet, as for a whole wallet
	Gas     *big.Int // base units of the native token that are wanted besides; nil: none
	Lasts   int64    // seconds until the escrow of a Lightning payout ends; 0: not known yet
}

// onItsWay is how much of [Query].Lasts, in seconds, may be over when an LP looks
// at its clock.
const onItsWay = 60

// lasts reports whether an LP is left enough time.
func (q Query) lasts(s lp.ServiceInfo) bool {
	return q.Service != lp.ToBTCLN || q.Lasts == 0 || s.MinTime == 0 || q.Lasts >= s.MinTime+onItsWay
}

// sats returns the amount if it is the bitcoin side that is fixed.
func (q Query) sats() *big.Int {
	if q.ExactIn == q.Service.ToBitcoin() {
		return nil
	}
	return q.Amount
}

// Candidate is an LP that can serve a query, and what is needed to ask it.
type Candidate struct {
	LP      *LP
	Service lp.ServiceInfo
	Token   string // the query's token as the LP spells it
	Address string // the LP's own on the query's chain
	Version string // contract version
}

// candidates returns the LPs that can serve a query, the cheapest by their
// announced fee first; the order means nothing more, since all are asked. The
// amount counts only when the bitcoin side is fixed (protocol: lp-protocol.md
// §2.6). LPs in the penalty box are left out, and those that need more time than
// the escrow of a Lightning payout lasts.
func (d *Directory) candidates(q Query) []Candidate {
	chain := d.chain(q.Chain)
	if chain == nil {
		return nil
	}
	amount := q.sats()
	now := d.s.Now()
	var out []Candidate
	for _, p := range d.LPs() {
		s, offers := p.Services[q.Service]
		if !offers || !q.lasts(s) || amount != nil && (amount.Cmp(big.NewInt(s.Min)) < 0 || amount.Cmp(big.NewInt(s.Max)) > 0) {
			continue
		}
		spelled, listed := d.spelling(s, q.Chain, q.Token)
		name := p.version(q.Chain)
		v, known := lp.Version(chain.Info(), name)
		if !listed || !known || !serves(v, q.Service) || !d.penalties.free(p.URL, q.Pair(), now) {
			continue
		}
		out = append(out, Candidate{LP: p, Service: s, Token: spelled, Address: p.Addresses[q.Chain], Version: name})
	}
	slices.SortStableFunc(out, func(a, b Candidate) int {
		if amount == nil {
			return cmp.Compare(a.Service.FeePPM, b.Service.FeePPM)
		}
		return cmp.Compare(a.Service.FeeSats(amount.Int64()), b.Service.FeeSats(amount.Int64()))
	})
	return out
}

func (p *LP) version(chain string) string {
	if v := p.Versions[chain]; v != "" {
		return v
	}
	return "v1"
}

// noCandidate returns the error that explains why no LP can be asked.
func (d *Directory) noCandidate(q Query) error {
	lps := d.LPs()
	if len(lps) == 0 {
		return d.NoOffer()
	}
	amount, now := q.sats(), d.s.Now()
	var ranges []Range
	var least int64 // seconds that an escrow must last
	boxed := false
	for _, p := range lps {
		s, offers := p.Services[q.Service]
		if _, listed := d.spelling(s, q.Chain, q.Token); offers && listed {
			r := Range{big.NewInt(s.Min), big.NewInt(s.Max)}
			ranges = append(ranges, r)
			switch {
			case amount != nil && !q.inside(r):
			case !d.penalties.free(p.URL, q.Pair(), now):
				boxed = true
			case !q.lasts(s) && (least == 0 || s.MinTime < least):
				least = s.MinTime
			}
		}
	}
	switch {
	case least > 0:
		return fault.Invalid("lightningPaymentHTLCTimeout", "must be at least %d seconds, which the liquidity providers require", least+onItsWay)
	case boxed:
		return errBoxed()
	case amount != nil && len(ranges) > 0:
		if r := q.nearest(ranges); !q.inside(r) {
			return outOfBounds(200, amount, r)
		}
	}
	return fault.New(fault.Upstream, "no liquidity provider offers this swap at the moment; try again later")
}

// outOfBounds is the refusal of an amount by all LPs together.
func outOfBounds(status int, amount *big.Int, r Range) error {
	return &lp.OutOfBoundsError{RequestError: lp.RequestError{Status: status, Message: fault.OutOfBounds("amount", amount, r.Min, r.Max).Error()}, Amount: amount, Min: r.Min, Max: r.Max}
}

// serves reports whether contracts of a version can do a service.
func serves(v chains.Version, s lp.Service) bool {
	switch s {
	case lp.FromBTCLNAuto:
		return v.LPInit
	case lp.SPVFromBTC:
		return v.Vaults
	}
	return true
}
