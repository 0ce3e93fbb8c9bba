package swap

import (
	"fmt"
	"time"
)

// EffectKind names something that is done to the outside world.
type EffectKind string

const (
	SendTx       EffectKind = "send"      // broadcast the next submitted transaction
	PostPSBT     EffectKind = "post"      // hand the user's PSBT to the LP
	CallWithdraw EffectKind = "withdraw"  // hand our invoice to an LNURL-withdraw service
	Publish      EffectKind = "publish"   // give the preimage to the watchtowers
	Broadcast    EffectKind = "broadcast" // send the user's Bitcoin payment
	SetRefund    EffectKind = "refund"    // tell the LP where a payment goes back to
)

// Effect is something to be done now. It is recomputed from the record and the
// facts of each pass, so that a crash before it repeats it, and it is never
// waited for: its [Outcome] is the input of another pass.
//
// It is due when it is returned, and may have to wait for a place then: at the
// moment at which it begins the flow is asked again.
type Effect struct {
	Kind EffectKind
	// Mark says that the effect must not be started twice: that it has been
	// started is made durable before it is.
	Mark bool
	Step int // send: which transaction
	// Reveals says that it makes the preimage public. That it may have is made
	// durable before it does: from then on only a claim helps the user.
	Reveals bool
	Until   time.Time // when it must have ended; zero: any time
}

// Key is the name of the effect's history in Record.Tried.
func (e Effect) Key() string {
	if e.Kind == SendTx {
		return fmt.Sprintf("%s:%d", e.Kind, e.Step)
	}
	return string(e.Kind)
}

// Due reports whether it is time for an effect, by its history.
func (e Effect) Due(r *Record, now time.Time) bool {
	return int64(r.Tried[e.Key()].NotBefore) <= now.UnixMilli()
}

// ToLP reports whether an effect is a call to the swap's LP.
func (e Effect) ToLP() bool { return e.Kind == PostPSBT || e.Kind == SetRefund }
