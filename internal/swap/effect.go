package swap

import (
	"fmt"
	"strings"
	"time"
)

// EffectKind is the kind of an [Effect].
type EffectKind string

const (
	SendTx       EffectKind = "send"      // broadcast the next submitted transaction
	PostPSBT     EffectKind = "post"      // send the user's PSBT to the LP
	CallWithdraw EffectKind = "withdraw"  // send our invoice to an LNURL-withdraw service
	Publish      EffectKind = "publish"   // publish the preimage to the watchtowers
	Broadcast    EffectKind = "broadcast" // send the user's Bitcoin payment
	SetRefund    EffectKind = "refund"    // tell the LP the refund address
	HandOver     EffectKind = "handOver"  // leave the claim to the service's own watchtower
)

// Effect is something to be done now in the outside world. It is recomputed
// from the record and the facts in each pass, so that it is repeated after a
// crash, and it is never waited for: its [Outcome] is the input of another
// pass.
//
// It is due when it is returned but may have to wait for a free slot; when it
// starts, the flow is asked again.
type Effect struct {
	Kind EffectKind
	// Mark says that the effect must not be started twice: its start is
	// recorded durably before it happens.
	Mark bool
	Step int // send: which transaction
	// Reveals says that the effect makes the preimage public. This is recorded
	// durably before it happens: from then on only a claim helps the user.
	Reveals bool
	Until   time.Time // deadline; zero: none
}

// Key is the key of the effect's history in [Record.Tried].
func (e Effect) Key() string {
	if e.Kind == SendTx {
		return fmt.Sprintf("%s:%d", e.Kind, e.Step)
	}
	return string(e.Kind)
}

// KindOf returns the kind of the effect whose history has this key.
func KindOf(key string) EffectKind {
	kind, _, _ := strings.Cut(key, ":")
	return EffectKind(kind)
}

// Due reports whether an effect may be started now, given its history.
func (e Effect) Due(r *Record, now time.Time) bool {
	return int64(r.Tried[e.Key()].NotBefore) <= now.UnixMilli()
}

// ToLP reports whether an effect is a call to the swap's LP.
func (e Effect) ToLP() bool { return e.Kind == PostPSBT || e.Kind == SetRefund }
