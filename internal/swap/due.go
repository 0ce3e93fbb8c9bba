package swap

import (
	"time"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/internal/deadline"
)

// NextMoment returns the next time after now at which a swap changes by the
// clock alone: the quote expires, the time for a payment ends, an escrow
// becomes refundable or too old to claim. It returns 0 if there is none.
func (r *Record) NextMoment(now time.Time) Millis {
	moments := []Millis{r.Expiry}
	if r.Lightning != nil {
		moments = append(moments, r.Lightning.EndsAt)
	}
	if r.Vault != nil {
		moments = append(moments, r.Vault.Deadline)
	}
	if r.Escrow != nil && r.Escrow.Real != nil {
		end := time.Unix(r.Escrow.Real.Expiry, 0)
		if r.Type == ToBTC || r.Type == ToBTCLN {
			end = end.Add(chains.RefundGrace)
		} else {
			end = deadline.Claim.Before(end.Unix())
		}
		moments = append(moments, At(end.Add(time.Second))) // whole seconds are compared, strictly
		if r.Type == FromBTC && r.Bitcoin != nil {
			moments = append(moments, At(deadline.SignToPay.Before(r.payUntil()).Add(time.Second)), r.payEnd())
		}
	}
	var next Millis
	for _, m := range moments {
		if m++; m > At(now) && m > 1 && (next == 0 || m < next) { // a moment has passed one millisecond later
			next = m
		}
	}
	return next
}
