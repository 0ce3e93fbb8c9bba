// Package fault defines the error type of the library's API: a stable
// machine-readable code, the input field that the error is about, and a
// human-readable message.
//
// Every package of the library returns errors that carry a code if the
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

// Code is a stable, machine-readable word for the kind of an error. Codes are
// part of the wire format of the HTTP mount (protocol: utilities.md §12) and
// never change their meaning.
type Code string

const (
	// InvalidInput: an input value is not acceptable; Field names it.
	InvalidInput Code = "invalid_input"
	// NotFound: the swap, or something else that was named, does not exist.
	NotFound Code = "not_found"
	// Unsupported: the route, chain, token or operation is not available here.
	Unsupported Code = "unsupported"
	// AmountOutOfBounds: the amount is outside the limits; Min and Max are set
	// when known.
	AmountOutOfBounds Code = "amount_out_of_bounds"
	// InvalidState: the operation is not possible in the swap's current state.
	InvalidState Code = "invalid_state"
	// Upstream: a liquidity provider, RPC node or service failed or gave a
	// wrong answer.
	Upstream Code = "upstream"
	// Timeout: the operation's deadline expired.
	Timeout Code = "timeout"
	// Internal: everything else; the details belong in the log, not in the
	// response.
	Internal Code = "internal"
)

// Error is an error with a code. Values are immutable once returned and safe
// for concurrent use.
type Error struct {
	Code    Code
	Field   string   // path of the input field, e.g. `signedTxs[1]`; empty if no single field is at fault
	Message string   // human-readable, without the field's name; fit for any caller, see [Error.Public]
	Min     *big.Int // lowest accepted amount in base units, nil when unknown (AmountOutOfBounds only)
	Max     *big.Int // highest accepted amount in base units, nil when unknown (AmountOutOfBounds only)
	Err     error    // the cause for errors.Is and errors.As, may be nil; Message includes what a caller should read of it
}

// Error returns `field: text`, or the text alone when no field is named, or an amount is out
// of bounds. It is for logs: the
// text has everything that is known, hosts of the operator's nodes and their words included.
// [Error.Public] is for callers.
func (e *Error) Error() string {
	if w, ok := e.Err.(*whole); ok {
		return e.named(w.Error())
	}
	return e.named(e.Message)
}

// whole is the cause of an error whose message leaves something out, with the text that
// leaves out nothing.
type whole struct{ error }

func (w *whole) Unwrap() error { return w.error }

// Public returns `field: message`, or the message alone where [Error.Error] does.
func (e *Error) Public() string { return e.named(e.Message) }

func (e *Error) named(text string) string {
	if e.Field == "" || e.Code == AmountOutOfBounds { // whose text says which amount
		return text
	}
	return e.Field + ": " + text
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// New returns an error with a code and a formatted message. A %w verb in the
// format also sets the cause. Of an argument that is an error the message has what is
// [Public] of it, and of one that is [Hidden] nothing; [Error.Error] has both.
func New(code Code, format string, args ...any) *Error {
	return newError(code, "", format, args...)
}

// Invalid returns an [InvalidInput] error about the named field.
func Invalid(field, format string, args ...any) *Error {
	return newError(InvalidInput, field, format, args...)
}

// OutOfBounds returns an [AmountOutOfBounds] error; amount, min and max are base units,
// nil when unknown. About the field `amount` its text begins with the reference service's
// words, which some of its clients look for.
func OutOfBounds(field string, amount, min, max *big.Int) *Error {
	e := &Error{Code: AmountOutOfBounds, Field: field}
	what := field + " must be"
	if field == "amount" {
		what = "Swap amount too high or too low! It must be"
		switch {
		case min != nil && amount != nil && amount.Cmp(min) < 0:
			what = "Swap amount too low! It must be"
		case max != nil && amount != nil && amount.Cmp(max) > 0:
			what = "Swap amount too high! It must be"
		}
	}
	switch {
	case min != nil && max != nil:
		e.Message = fmt.Sprintf("%s from %s to %s base units", what, min, max)
	case min != nil:
		e.Message = fmt.Sprintf("%s at least %s base units", what, min)
	case max != nil:
		e.Message = fmt.Sprintf("%s at most %s base units", what, max)
	default:
		e.Message = what + " within bounds"
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
	if message := fmt.Errorf(format, shown(code, args)...).Error(); message != e.Message {
		e.Message, e.Err = message, &whole{f}
	}
	return e
}

// At adds the input field to an error, for callers that know the field when the
// code that found the fault does not. An error without a code, or that already
// names a field, is returned unchanged.
func At(field string, err error) error {
	e, ok := err.(*Error)
	if !ok || e.Field != "" {
		return err
	}
	named := *e
	named.Field = field
	return &named
}
