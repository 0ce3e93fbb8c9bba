package verify

import (
	"fmt"

	"github.com/swapper-go/swapper/fault"
)

// The reasons of refusals.
const (
	reasonID        = "id"        // the swap's id is missing or too long, or is another swap's
	reasonType      = "type"      // another type of swap than the request's tokens have
	reasonToken     = "token"     // another token, or another notion of it
	reasonQuote     = "quote"     // the fixed side, the price or the fees, by the policy
	reasonRecipient = "recipient" // somebody else would be paid
	reasonExpiry    = "expiry"    // the quote has expired
	reasonAgreed    = "agreed"    // differs from what was agreed when the swap was created
	reasonAction    = "action"    // would do something else than the swap needs
	reasonChain     = "chain"     // the wallet's own nodes say otherwise
)

// RefusedError says what the service said and what is true. Its code is
// [fault.Upstream].
type RefusedError struct {
	Reason string // a stable name: id, type, token, quote, recipient, expiry, agreed, action or chain (docs/verify.md)
	Field  string // of the answer, as in quote.inputAmount.rawAmount
	Said   string // by the service
	True   string // or what was asked for, agreed or is accepted
	Err    error  // the check that failed, may be nil
}

func (e *RefusedError) Error() string {
	return fmt.Sprintf("the service's answer is refused (%s): %s is %.200q, but must be: %s", e.Reason, e.Field, e.Said, e.True)
}

// Unwrap returns the error with its code, and the failed check.
func (e *RefusedError) Unwrap() []error {
	coded := &fault.Error{Code: fault.Upstream, Field: e.Field, Message: e.Error()}
	if e.Err == nil {
		return []error{coded}
	}
	return []error{coded, e.Err}
}

func same(reason, field, said, want string) error {
	if said == want {
		return nil
	}
	return &RefusedError{Reason: reason, Field: field, Said: said, True: want}
}
