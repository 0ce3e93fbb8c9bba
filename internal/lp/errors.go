package lp

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/big"
	"net"
	"unicode/utf8"

	"github.com/swapper-go/swapper/fault"
)

// Statuses of HTTP: of an answer, and the one that an error code in it counts as.
const (
	statusOK      = 200
	statusRefused = 400
)

// RequestError is an LP's refusal: an error code, a status that is not 200, or
// an answer without the fields that it must have. It is an answer, so the call
// is not repeated, and the LP keeps its place. Its fault code is
// [fault.Upstream].
type RequestError struct {
	LP      string // base URL; "" if all LPs together are meant
	Status  int    // HTTP status; 400 for an error code in an answer with status 200, as the network's clients count it
	Code    int    // of the protocol (lp-protocol.md §4.2); 0 if there was none
	Message string // the LP's words, cut to a bounded length

	Most *big.Int // with code 20504 the most gas that the LP sells, native base units; nil if it does not say
}

func (e *RequestError) Error() string {
	text := e.Message
	if text == "" {
		text = "no reason given"
	}
	if e.LP == "" { // of all LPs together
		return text
	}
	if e.Code != 0 {
		return fmt.Sprintf("%s refused: %s (code %d)", e.LP, text, e.Code)
	}
	if e.Status == statusOK { // not a refusal, see [bad]
		return fmt.Sprintf("%s: %s", e.LP, text)
	}
	return fmt.Sprintf("%s refused: %s (status %d)", e.LP, text, e.Status)
}

func (e *RequestError) Unwrap() error {
	return &fault.Error{Code: fault.Upstream, Message: e.Error()}
}

// OutOfBoundsError says that the amount is too low or too high, and what would
// do. The bounds are in the unit of the requested amount: input units for an
// exact input, output units for an exact output. Its fault code is
// [fault.AmountOutOfBounds]. It is a *[RequestError] too.
type OutOfBoundsError struct {
	RequestError
	Amount   *big.Int // that was asked for; nil: not known
	Min, Max *big.Int
}

func (e *OutOfBoundsError) Unwrap() []error {
	return []error{fault.OutOfBounds("amount", e.Amount, e.Min, e.Max), &e.RequestError}
}

// LPError says that an LP lied or is broken: its answer contradicts the request,
// itself, the chain or the market. The LP goes to the penalty box unless the
// error says otherwise. Its fault code is [fault.Upstream].
type LPError struct {
	LP     string // base URL; set by [discovery.Collect] if the check does not know it
	Check  Check  // the check that failed, for tests and logs; "" if it was none of them
	Reason string // the lie, as in "total is 5, expected 4"
	Err    error  // what the check found, may be nil

	shown string // what callers are shown of Reason; "" is all of it

	// Recoverable says that an honest LP can get here, and that asking the same
	// LP again can succeed: its vault UTXO was spent while it was quoting. It is
	// not punished.
	Recoverable bool
	// Clock says that the verdict rests on the local clock, which may be the one
	// that is wrong. The answer is refused, the LP is not punished.
	Clock bool
	// Lenient says that an honest LP can get here and asking again does not help:
	// its Lightning node is small, or our node could not simulate a contract. The
	// answer is refused, the LP is not punished.
	Lenient bool
}

// Lie returns the error of a failed check with a formatted reason; the check is "" if it
// was none of them. A %w verb in the format also sets the cause.
func Lie(c Check, format string, args ...any) *LPError {
	whole := fmt.Errorf(format, args...)
	return &LPError{Check: c, Reason: whole.Error(), Err: errors.Unwrap(whole), shown: fault.Invalid("", format, args...).Message} // about what the LP sent
}

func (e *LPError) Error() string { return e.text(e.Reason) }

// Public leaves out what a node said in the course of the check.
func (e *LPError) Public() string { return e.text(cmp.Or(e.shown, e.Reason)) }

func (e *LPError) text(reason string) string {
	if e.LP == "" {
		return "invalid response: " + reason
	}
	return fmt.Sprintf("%s sent an invalid response: %s", e.LP, reason)
}

func (e *LPError) Unwrap() []error {
	own := &fault.Error{Code: fault.Upstream, Message: e.Public()}
	if e.Err == nil {
		return []error{own}
	}
	return []error{own, e.Err}
}

// Punishable reports whether err is a reason to leave the LP alone for a while.
func Punishable(err error) bool {
	e, ok := errors.AsType[*LPError](err)
	return ok && !e.Recoverable && !e.Clock && !e.Lenient
}

// CallError is a call that failed on the way: no connection, a deadline, an
// answer that is not in the protocol's form. Repeating it may help; the LP keeps
// its place. Its fault code is [fault.Timeout] or [fault.Upstream].
type CallError struct {
	LP  string // base URL
	Err error
}

func (e *CallError) Error() string { return fmt.Sprintf("call to %s: %v", e.LP, e.Err) }

func (e *CallError) Unwrap() []error {
	code := fault.Upstream
	if t, ok := errors.AsType[net.Error](e.Err); ok && t.Timeout() || errors.Is(e.Err, context.DeadlineExceeded) || errors.Is(e.Err, context.Canceled) {
		code = fault.Timeout
	}
	return []error{fault.New(code, "call to %s: %w", e.LP, e.Err), e.Err}
}

// maxMessage bounds what is kept of an LP's words, in bytes.
const maxMessage = 300

// words cuts an LP's text to a length that can be shown and logged.
func words(s string) string {
	if len(s) <= maxMessage {
		return s
	}
	s = s[:maxMessage]
	for s != "" && !utf8.ValidString(s) {
		s = s[:len(s)-1]
	}
	return s + "..."
}
