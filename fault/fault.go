// Package fault defines the error that crosses the library's API: a stable
// machine-readable code, the input field it is about, and a sentence for a
// person.
//
// Every package of the library returns errors that carry a code where the
// caller can act on it. Use [CodeOf] to read the code of any error, wrapped or
// not, and errors.As with *[Error] for the other members.
package fault

import (
	"context"
	"errors"
	"fmt"
	"math/big"
	"net"
)

// Code is a stable word that says what kind of thing went wrong. Codes are part
// of the wire format of the HTTP mount (protocol: utilities.md §12) and never
// change their meaning.
type Code string

const (
	// InvalidInput: a value that the caller gave cannot be accepted; Field names it.
	InvalidInput Code = "invalid_input"
	// NotFound: the swap, or another thing that was named, does not exist.
	NotFound Code = "not_found"
	// Unsupported: the route, chain, token or operation is not available here.
	Unsupported Code = "unsupported"
	// AmountOutOfBounds: the amount is outside of what can be swapped; Min and Max are set when known.
	AmountOutOfBounds Code = "amount_out_of_bounds"
	// InvalidState: the swap is not in a state in which the operation is possible.
	InvalidState Code = "invalid_state"
	// Upstream: a liquidity provider, an RPC node or a service answered wrongly or not at all.
	Upstream Code = "upstream"
	// Timeout: the deadline of the operation passed.
	Timeout Code = "timeout"
	// Internal: everything else; the details belong in the log, not in the answer.
	Internal Code = "internal"
)

// Error is an error with a code. Values are immutable once returned and safe
// for concurrent use.
type Error struct {
	Code    Code
	Field   string   // path of the input field, as in `signedTxs[1]`; empty when no single field is at fault
	Message string   // a sentence for a person, without the field's name; never contains a secret
	Min     *big.Int // lowest accepted amount in base units, nil when unknown (AmountOutOfBounds only)
	Max     *big.Int // highest accepted amount in base units, nil when unknown (AmountOutOfBounds only)
	Err     error    // the cause for errors.Is and errors.As, may be nil; what a person should read of it stands in Message
}

// Error returns `field: message`, or the message alone when no field is named.
func (e *Error) Error() string {
	if e.Field == "" {
		return e.Message
	}
	return e.Field + ": " + e.Message
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// New returns an error with a code and a formatted message. A %w verb in the
// format also sets the cause.
func New(code Code, format string, args ...any) *Error {
	return newError(code, "", format, args...)
}

// Invalid returns an [InvalidInput] error about the named field.
func Invalid(field, format string, args ...any) *Error {
	return newError(InvalidInput, field, format, args...)
}

// OutOfBounds returns an [AmountOutOfBounds] error; min and max are base units,
// nil when unknown.
func OutOfBounds(field string, min, max *big.Int) *Error {
	e := &Error{Code: AmountOutOfBounds, Field: field, Message: "amount out of bounds"}
	switch {
	case min != nil && max != nil:
		e.Message = fmt.Sprintf("amount must be from %s to %s base units", min, max)
	case min != nil:
		e.Message = fmt.Sprintf("amount must be at least %s base units", min)
	case max != nil:
		e.Message = fmt.Sprintf("amount must be at most %s base units", max)
	}
	if min != nil {
		e.Min = new(big.Int).Set(min)
	}
	if max != nil {
		e.Max = new(big.Int).Set(max)
	}
	return e
}

// CodeOf returns the code of err: that of the outermost *[Error] in its chain,
// [Timeout] for deadline and network timeouts and for cancellation, and
// [Internal] for anything else. CodeOf(nil) is the empty code.
func CodeOf(err error) Code {
	if err == nil {
		return ""
	}
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Code
	}
	if errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled) {
		return Timeout
	}
	if t, ok := errors.AsType[net.Error](err); ok && t.Timeout() {
		return Timeout
	}
	return Internal
}

func newError(code Code, field, format string, args ...any) *Error {
	f := fmt.Errorf(format, args...)
	e := &Error{Code: code, Field: field, Message: f.Error()}
	switch f.(type) {
	case interface{ Unwrap() error }, interface{ Unwrap() []error }:
		e.Err = f
	}
	return e
}

// At returns err with the input field that it is about, for callers that know
// the field when the place that found the fault does not. An err without a
// code, or that names a field already, is returned as it is.
func At(field string, err error) error {
	e, ok := err.(*Error)
	if !ok || e.Field != "" {
		return err
	}
	named := *e
	named.Field = field
	return &named
}
