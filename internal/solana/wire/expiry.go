package wire

import (
	"time"

	"github.com/swapper-go/swapper/chains"
)

// Expired reports whether an escrow is too late for somebody: for its claimer it is
// ten minutes before the expiry, for everybody else, and whenever it is to be taken
// back (refund), ten minutes after it (§17). The clock is the local one.
func (d *SwapData) Expired(who Key, now time.Time, refund bool) bool {
	if d.Expiry > 1<<62 {
		return false
	}
	expiry := time.Unix(int64(d.Expiry), 0)
	if d.IsClaimer(who) && !refund {
		return expiry.Before(now.Truncate(time.Second).Add(chains.ClaimGrace))
	}
	return expiry.Before(now.Truncate(time.Second).Add(-chains.RefundGrace))
}
