package swap

import (
	"slices"

	"github.com/swapper-go/swapper/fault"
)

// Two swaps with one payment hash: the store's unique keys prevent paying a second
// one through us. They cannot prevent a payment that a wallet sends by itself or
// that a reorganisation brings back; then both swaps are followed, and both report it.

// payingRival asks whether another swap pays the same invoice; nil where that does
// not matter.
func payingRival(r *Record) *RivalAsk {
	if r.Type != ToBTCLN || r.State != OutCreated && r.State != OutSoftExpired || r.Lightning == nil || r.Lightning.Hash == "" {
		return nil
	}
	return &RivalAsk{ByPaying, r.Lightning.Hash}
}

// hashRival asks whether another swap is paid by the same payment hash; nil where
// that does not matter.
func hashRival(r *Record) *RivalAsk {
	if r.Type != FromBTCLNAuto && r.Type != FromBTCLN || r.State != LnCreated || r.Lightning.Hash == "" {
		return nil
	}
	return &RivalAsk{ByHash, r.Lightning.Hash}
}

// SameHash asks for all other swaps with the payment hash, whatever has become of them.
// An LP knows them by it, and may mean another one by what it says.
func (r *Record) SameHash() []RivalAsk {
	if r.Lightning == nil || r.Lightning.Hash == "" {
		return nil
	}
	hash := r.Lightning.Hash
	return []RivalAsk{{ByPaying, hash}, {ByHash, hash}, {ByHash, idleValue(hash)}}
}

// rivalled reports whether another swap is known to use the same payment.
func (in Decision) rivalled() bool { return in.Obs.Rival.Known() && in.Obs.Rival.Value }

// paidTwice returns [ErrPaidElsewhere] if another swap pays this swap's invoice
// too, else nil.
func (r *Record) paidTwice() error {
	if !slices.Contains(r.Shared, ByPaying) {
		return nil
	}
	return ErrPaidElsewhere
}

// ErrTaken returns the error for a command that cannot be carried out because
// another swap holds the same key of the index; err is the cause. The message does
// not contain the other swap's id, because the id grants access.
func ErrTaken(index string, err error) error {
	switch index {
	case ByPaying:
		return &fault.Error{Code: fault.InvalidState, Message: ErrPaidElsewhere.Message, Err: err}
	case ByHash:
		return &fault.Error{Code: fault.InvalidState, Message: errHashElsewhere.Message, Err: err}
	}
	return &fault.Error{Code: fault.InvalidState, Message: "another swap has the same escrow, transaction or key", Err: err}
}

// Errors for a payment hash that two swaps share. An LP that learns the preimage
// through one of them can take the money of the other.
var (
	ErrPaidElsewhere = fault.New(fault.InvalidState, "another swap is paying or has paid this invoice; paying it twice would lose one payment")
	errHashElsewhere = fault.New(fault.InvalidState, "another swap has the same payment hash; its preimage could be used to take both payments")
)
