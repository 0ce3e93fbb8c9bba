package discovery

import (
	"errors"
	"fmt"
	"math/big"
	"strings"

	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/internal/bigs"
	"github.com/swapper-go/swapper/internal/lp"
)

// roundError says that no candidate gave a quote, and why each did not. Its cause
// is the last failure. It is for failures of LPs and networks: what the caller
// can mend is a [fault.Error] that names the field, see [CallersFault].
type roundError struct{ Failures []Failure }

// maxNamed is how many failures an error names.
const maxNamed = 5

func (e *roundError) Error() string { return e.text(error.Error) }

func (e *roundError) text(of func(error) string) string {
	var out strings.Builder
	out.WriteString("no liquidity provider returned a usable quote: ")
	for i, f := range e.Failures {
		if i == maxNamed {
			fmt.Fprintf(&out, "; and %d more", len(e.Failures)-i)
			break
		}
		if i > 0 {
			out.WriteString("; ")
		}
		out.WriteString(of(f.Err))
	}
	return out.String()
}

// Unwrap returns the whole as an error with a code, so that it reads the same
// wherever it is shown, and the last failure.
func (e *roundError) Unwrap() []error {
	last := e.Failures[len(e.Failures)-1].Err
	code := fault.CodeOf(last)
	for _, f := range e.Failures {
		if c := fault.CodeOf(f.Err); code == fault.Internal {
			code = c
		}
	}
	return []error{&fault.Error{Code: code, Message: e.text(fault.Public)}, last}
}

// verdict is the error of a round without a quote. An error that the caller can
// fix comes first: whatever else failed, the request cannot succeed as it is.
func (q Query) verdict(failures []Failure) error {
	round := &roundError{failures}
	var ranges []Range
	for _, f := range failures {
		if b, ok := errors.AsType[*lp.OutOfBoundsError](f.Err); ok && !q.inside(Range{b.Min, b.Max}) {
			ranges = append(ranges, Range{b.Min, b.Max})
		}
	}
	if len(ranges) > 0 {
		return outOfBounds(400, q.Amount, q.nearest(ranges))
	}
	for _, f := range failures {
		if e := CallersFault(q, f.Err); e != nil {
			own := *e
			own.Err = round
			return &own
		}
	}
	return round
}

// inside reports whether a range holds the amount, if there is one.
func (q Query) inside(r Range) bool {
	return q.Amount != nil && q.Amount.Cmp(r.Min) >= 0 && q.Amount.Cmp(r.Max) <= 0
}

// nearest returns the bounds to name when several LPs have named theirs: all
// together, unless the amount lies in a gap between them.
func (q Query) nearest(ranges []Range) Range {
	var all Range
	for _, r := range ranges {
		all.widen(r)
	}
	if !q.inside(all) {
		return all
	}
	best, distance := ranges[0], (*big.Int)(nil)
	for _, r := range ranges {
		d := bigs.Sub(r.Min, q.Amount)
		if d.Sign() < 0 {
			d = bigs.Sub(q.Amount, r.Max)
		}
		if distance == nil || d.Cmp(distance) < 0 {
			best, distance = r, d
		}
	}
	return best
}

// CallersFault returns what the caller can mend of a failed quote, by the name of
// the field as the interface has it; nil if err is not about the request. It
// knows the codes by which LPs refuse what somebody asked for (protocol:
// lp-protocol.md §4.2).
func CallersFault(q Query, err error) *fault.Error {
	e, found := errors.AsType[*fault.Error](err)
	if found && e.Field != "" && (e.Code == fault.InvalidInput || e.Code == fault.InvalidState) {
		return e // what we found ourselves
	}
	if b, ok := errors.AsType[*lp.OutOfBoundsError](err); ok {
		if !q.inside(Range{b.Min, b.Max}) {
			return fault.OutOfBounds("amount", q.Amount, b.Min, b.Max)
		}
		if q.Gas != nil && q.Gas.Sign() > 0 {
			return fault.Invalid("amount", "does not cover the gas amount and the fees")
		}
		return fault.Invalid("amount", "was refused by the liquidity provider: %s (code %d)", b.Message, b.Code)
	}
	if r, ok := errors.AsType[*lp.RequestError](err); ok {
		return q.refused(r)
	}
	if found && e.Field != "" && e.Code == fault.AmountOutOfBounds {
		return e
	}
	return nil
}

// refused returns the field that an LP's code is about.
func (q Query) refused(r *lp.RequestError) *fault.Error {
	field := ""
	switch r.Code {
	case lp.CodeTimeTooShort:
		field = "lightningPaymentHTLCTimeout"
	case lp.CodeTooLow, lp.CodeTooHigh, lp.CodeMaxFee:
		field = "amount"
	case lp.CodeAddressUnread, lp.CodeAddressTooLong:
		field = "dstAddress"
	case lp.CodeNegativeGas:
		field = "gasAmount"
	case lp.CodeGasTooHigh:
		if r.Most != nil && q.Gas != nil && q.Gas.Cmp(r.Most) > 0 {
			return fault.OutOfBounds("gasAmount", q.Gas, nil, r.Most)
		}
		return fault.Invalid("gasAmount", "is too high in combination with the watchtower's fee: %s", r.Message)
	case lp.CodeProcessed, lp.CodeInvoiceExpires, lp.CodeInvoiceUnread, lp.CodeInvoiceNoAmount:
		if q.Service == lp.ToBTCLN { // for payouts to Bitcoin they are about what we chose
			field = "dstAddress"
		}
	case lp.CodeBadBody:
		field = q.parameter(r.Message)
	}
	if field == "" {
		return nil
	}
	return fault.Invalid(field, "was refused by the liquidity provider: %s (code %d)", r.Message, r.Code)
}

// parameter returns the field behind the parameter that LPs name in brackets, as
// in "Invalid request body (paymentHash)".
func (q Query) parameter(message string) string {
	_, rest, _ := strings.Cut(message, "(")
	name, _, found := strings.Cut(rest, ")")
	if !found {
		return ""
	}
	name, _, _ = strings.Cut(name, " ")
	switch name {
	case "amount", "gasAmount", "paymentHash", "refundAddress":
		return name
	case "address", "pr":
		return "dstAddress"
	case "offerer":
		return "srcAddress"
	case "description":
		return "lightningInvoiceDescription"
	case "descriptionHash":
		return "lightningInvoiceDescriptionHash"
	case "expiryTimestamp":
		return "lightningPaymentHTLCTimeout"
	}
	return ""
}
