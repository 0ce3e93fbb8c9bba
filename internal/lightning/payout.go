package lightning

import (
	"cmp"
	"encoding/hex"
	"slices"
	"time"

	"github.com/swapper-go/swapper/fault"
)

// HTLC timeouts of a payout over Lightning, in seconds (protocol:
// swap-flows-escrow.md §5.5).
const (
	DefaultHTLCTimeoutSeconds    = 5 * 24 * 3600
	DefaultMaxHTLCTimeoutSeconds = 10 * 24 * 3600
)

// usualMinFinalCLTV is the final delta whose routing budget the base timeout gives.
const usualMinFinalCLTV = 144

// blockSeconds is what the network reckons a block to take in the worst case:
// 600 s with a safety factor of 2.
const blockSeconds = 600 * 2

// HTLCTimeout returns how long, in seconds from now, the escrow of a Lightning
// payout must last for an invoice with the given final CLTV delta: base, longer
// by what the invoice wants beyond 144 blocks, but not beyond max. extended is the flag
// lightningPaymentWithLongHTLCExpiration. base and max are what the request
// says, or the defaults, and must be positive (protocol: swap-flows-escrow.md
// §5.5).
func HTLCTimeout(baseSeconds, maxSeconds, minFinalCLTV int64) (seconds int64, extended bool, err error) {
	const limit = 1 << 40
	if baseSeconds <= 0 || baseSeconds > limit {
		return 0, false, fault.Invalid("lightningPaymentHTLCTimeout", "must be a positive number of seconds")
	}
	if maxSeconds <= 0 || maxSeconds > limit {
		return 0, false, fault.Invalid("lightningPaymentMaxHTLCTimeout", "must be a positive number of seconds")
	}
	extra := min(max(minFinalCLTV, usualMinFinalCLTV)-usualMinFinalCLTV, limit/blockSeconds) * blockSeconds
	seconds = min(baseSeconds+extra, max(baseSeconds, maxSeconds))
	return seconds, seconds > baseSeconds, nil
}

// HTLCWait is [HTLCTimeout] for what a request says, where 0 is the default. A maximum
// that is given alone is one for the usual time too.
func HTLCWait(usual, most time.Duration, minFinalCLTV int64) (seconds int64, extended bool, err error) {
	if usual == 0 {
		usual = DefaultHTLCTimeoutSeconds * time.Second
		if most != 0 {
			usual = min(usual, most)
		}
	}
	most = cmp.Or(most, DefaultMaxHTLCTimeoutSeconds*time.Second)
	return HTLCTimeout(int64(usual/time.Second), int64(max(usual, most)/time.Second), minFinalCLTV)
}

// The usual cap on routing fees.
const (
	RoutingFeeBaseSats = 10
	RoutingFeePPM      = 2000
)

// MaxRoutingFee returns the most that a payment of amountSats may cost in
// routing fees: base plus ppm millionths of the amount, rounded down. The usual
// cap is [RoutingFeeBaseSats] and [RoutingFeePPM] (protocol: bitcoin.md §18.2).
func MaxRoutingFee(amountSats, baseSats, ppm int64) int64 {
	const million = 1_000_000
	return baseSats + amountSats/million*ppm + amountSats%million*ppm/million
}

// IsNonCustodial reports whether the invoice has a route hint: the payee is
// then most likely a wallet behind a private channel, which must be online to
// be paid (protocol: swap-flows-escrow.md §5.6).
func (inv *Invoice) IsNonCustodial() bool {
	return slices.ContainsFunc(inv.RouteHints, func(hint []Hop) bool { return len(hint) > 0 })
}

// WillLikelyFail reports whether the liquidity provider's probe found no way to
// pay the invoice: confidence is exactly 0, and no hop of any route hint is a
// node that is known to refuse probes (protocol: swap-flows-escrow.md §5.6).
func (inv *Invoice) WillLikelyFail(confidence float64) bool {
	return confidence == 0 && !slices.ContainsFunc(inv.RouteHints, func(hint []Hop) bool {
		return slices.ContainsFunc(hint, func(h Hop) bool { return refusesProbes(h.Node) })
	})
}

func refusesProbes(node [33]byte) bool {
	switch hex.EncodeToString(node[:]) {
	case "038f8f113c580048d847d6949371726653e02b928196bad310e3eda39ff61723f6",
		"03a6ce61fcaacd38d31d4e3ce2d506602818e3856b4b44faff1dde9642ba705976":
		return true
	}
	return false
}
