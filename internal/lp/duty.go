package lp

import (
	"time"

	"github.com/swapper-go/swapper/chains"
)

// Duty is what the receiving side of a swap still has to do. It says when it is too late: a
// pure function of the moment at which something ends, of the clocks, and of what is still to
// be done by then. Its margins are one table, which flows, the verification of providers, and
// documents name.
type Duty int

// What still has to be done with an escrow that the receiver claims with a preimage,
// before its expiry, and with one that he opens to be paid for his bitcoin, before the
// last moment to send them.
const (
	DutySign      Duty = iota // the user signs the opening; then all that DutyOpen needs
	DutyOpen                  // the opening is mined; then all that DutyFinalise needs
	DutyFinalise              // the open escrow becomes final; then the claim
	DutyClaim                 // the claim is published, and is mined in any case
	DutyLastClaim             // the claim is published, and may lose against the refund: the user's choice
	DutySignToPay             // the user signs the opening, and pays afterwards
	DutyOpenToPay             // the opening is mined, and the user pays afterwards
)

// How long each act may take. The finality is that of the slowest chain on which a
// user opens an escrow; Solana needs about 13 s.
const (
	signing  = 3 * time.Minute
	mining   = 2 * time.Minute
	finality = 3 * time.Minute
)

// margins is how much time must be left for what is still to be done. The reference's
// providers sign for an escrow of 2,400 s and for an opening within 600 s, so that
// 1,800 s are left at the worst when the opening is sent (protocol: lp-protocol.md
// §8.4); all margins are below that.
var margins = [...]time.Duration{
	DutySign:      signing + mining + finality + chains.ClaimGrace,
	DutyOpen:      mining + finality + chains.ClaimGrace,
	DutyFinalise:  finality + chains.ClaimGrace,
	DutyClaim:     chains.ClaimGrace, // protocol: swap-flows-escrow.md §3.2
	DutyLastClaim: mining,
	DutySignToPay: 1800 * time.Second, // protocol: lp-protocol.md §6.4
	DutyOpenToPay: mining + finality,
}

// Margin returns how much time must be left.
func (t Duty) Margin() time.Duration { return margins[t] }

// Before returns the last moment at which it is not too late, for something that ends
// at end, in Unix seconds.
func (t Duty) Before(end int64) time.Time { return time.Unix(end, 0).Add(-margins[t]) }

// TooLate reports whether less than the margin is left until end, in Unix seconds. It
// is a duty, so it goes by the later of our clock and that of the newest block, both in
// whole seconds. A head without a time does not count.
func (t Duty) TooLate(end int64, head chains.Block, now time.Time) bool {
	return end < max(now.Unix(), head.Time)+int64(margins[t]/time.Second)
}

// NextDuty returns what is to be done with an escrow that was opened, or that somebody else
// or the user is about to open.
func NextDuty(f chains.EscrowFact) Duty {
	switch {
	case f.State == chains.EscrowNone:
		return DutyOpen
	case f.State == chains.EscrowOpen && !f.Final:
		return DutyFinalise
	}
	return DutyClaim
}
