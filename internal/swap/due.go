package swap

import (
	"time"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/internal/lp"
)

// NextMoment returns the next time after now at which a swap changes by the
// clock alone: the quote expires, the time for a payment ends, an escrow
// becomes refundable or too old to claim. It returns 0 if there is none.
func (r *Record) NextMoment(now time.Time) Millis {
	var moments []Millis
	if !r.begun() {
		moments = append(moments, r.Expiry)
	}
	if r.Lightning != nil {
		moments = append(moments, r.Lightning.EndsAt)
	}
	if r.Vault != nil && !r.begun() {
		moments = append(moments, r.Vault.Deadline)
	}
	if r.Escrow != nil && r.Escrow.Real != nil {
		end := time.Unix(r.Escrow.Real.Expiry, 0)
		if r.Type == ToBTC || r.Type == ToBTCLN {
			end = end.Add(chains.RefundGrace)
		} else {
			end = lp.DutyClaim.Before(end.Unix())
		}
		moments = append(moments, At(end.Add(time.Second))) // whole seconds are compared, strictly
		if r.Type == FromBTC && r.Bitcoin != nil {
			moments = append(moments, At(lp.DutySignToPay.Before(r.payUntil()).Add(time.Second)), r.payEnd())
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

// begun reports whether the escrow is open, or Bitcoin has the payment to a vault: then the
// end of the quote changes nothing. A swap that goes back is stored anew, with its next moment.
func (r *Record) begun() bool {
	switch r.Type {
	case ToBTC, ToBTCLN:
		return r.State == OutCommitted
	case FromBTC:
		return r.State == InCommitted || r.State == InConfirmed
	case FromBTCLN, FromBTCLNAuto:
		return r.State == LnCommitted
	case SPVFromBTC:
		return r.State == SPVBroadcasted || r.State == SPVConfirmed
	}
	return false
}
