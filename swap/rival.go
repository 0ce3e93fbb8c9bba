package swap

import (
	"slices"

	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/internal/swapstate"
)

// Two swaps with one payment hash: the store's unique keys keep a second one from
// being paid through us. What a wallet sends by itself, or a reorganisation brings
// back, they cannot keep from happening; then both are followed, and say so.

// payingRival asks whether another swap pays the same invoice; nil where that does
// not matter.
func payingRival(r *Record) *RivalAsk {
	if r.Type != ToBTCLN || r.State != swapstate.OutCreated && r.State != swapstate.OutSoftExpired || r.Lightning == nil || r.Lightning.Hash == "" {
		return nil
	}
	return &RivalAsk{ByPaying, r.Lightning.Hash}
}

// hashRival asks whether another swap is paid by the same payment hash; nil where
// that does not matter.
func hashRival(r *Record) *RivalAsk {
	if r.Type != FromBTCLNAuto || r.State != swapstate.LnCreated || r.Lightning.Hash == "" {
		return nil
	}
	return &RivalAsk{ByHash, r.Lightning.Hash}
}

// rivalled reports whether another swap is known to pay for the same.
func (in In) rivalled() bool { return in.Obs.Rival.Known() && in.Obs.Rival.Value }

// paidTwice says that an open swap pays an invoice that another one pays too; nil
// if it does not.
func (r *Record) paidTwice() error {
	if !slices.Contains(r.Shared, ByPaying) {
		return nil
	}
	return ErrPaidElsewhere
}

// ErrTaken is the error of a command that another swap has already carried out.
// It does not contain the other swap's id, because the id grants access.
func ErrTaken(index string, err error) error {
	switch index {
	case ByPaying:
		return &fault.Error{Code: fault.InvalidState, Message: ErrPaidElsewhere.Message, Err: err}
	case ByHash:
		return &fault.Error{Code: fault.InvalidState, Message: errHashElsewhere.Message, Err: err}
	}
	return &fault.Error{Code: fault.InvalidState, Message: "another swap has the same escrow, transaction or key", Err: err}
}

// Errors about a payment hash that two swaps have. An LP that learns its preimage
// in one of them can take the money of the other.
var (
	ErrPaidElsewhere = fault.New(fault.InvalidState, "another swap is paying or has paid this invoice; paying it twice would lose one payment")
	errHashElsewhere = fault.New(fault.InvalidState, "another swap has the same payment hash; its preimage could be used to take both payments")
)
