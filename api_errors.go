package swapper

import "github.com/swapper-go/swapper/fault"

// Error is the error of every operation; see [fault.Error]. Read it with
// errors.As, or only its code with [CodeOf].
type Error = fault.Error

// Code is a stable word that says what kind of thing went wrong; see [fault.Code].
type Code = fault.Code

// The codes of [Error] (protocol: utilities.md §12). They are part of the wire
// format and never change their meaning.
const (
	CodeInvalidInput      = fault.InvalidInput      // a value of the input cannot be accepted; Field names it
	CodeNotFound          = fault.NotFound          // no such swap
	CodeUnsupported       = fault.Unsupported       // the route, chain, token or operation is not available
	CodeAmountOutOfBounds = fault.AmountOutOfBounds // Min and Max are set when known
	CodeInvalidState      = fault.InvalidState      // not possible in the swap's present state
	CodeUpstream          = fault.Upstream          // a liquidity provider, node or service answered wrongly or not at all
	CodeTimeout           = fault.Timeout           // the deadline passed
	CodeInternal          = fault.Internal          // everything else
)

// CodeOf returns the code of any error, wrapped or not; see [fault.CodeOf].
func CodeOf(err error) Code { return fault.CodeOf(err) }
