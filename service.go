package swapper

import (
	"context"

	"github.com/swapper-go/swapper/fault"
)

// Service has the eleven operations of the API (docs/api.md, protocol:
// utilities.md §1). [Client], the remote client of httpapi.NewClient and test doubles
// implement it, and httpapi.New serves any implementation over HTTP.
//
// An implementation checks its input with the input's Validate method, returns
// errors that carry a code ([CodeOf]), obeys the context, and is safe for
// concurrent use. With a nil error the result is not nil; a nil list means an
// empty one.
type Service interface {
	// CreateSwap asks for a quote, stores the swap and returns its first state.
	CreateSwap(ctx context.Context, in CreateSwapInput) (*CreateSwapOutput, error)
	// GetSwapStatus brings the swap up to date with the chains and returns its
	// state and what its user has to do next. It fails with [CodeNotFound] if
	// the swap does not exist; expired quotes are deleted after a while.
	GetSwapStatus(ctx context.Context, in GetSwapStatusInput) (*GetSwapStatusOutput, error)
	// SubmitTransaction submits what the user signed for the current action. It
	// returns as soon as the swap has moved, and after 15 seconds at the
	// latest: with the hashes if the transactions are stored by then, otherwise
	// with [CodeTimeout] and a message that asks to submit them again. Stored
	// transactions are sent without another call, and
	// GetSwapStatus reports the outcome; submitting the same transactions again
	// joins the submission in progress. Transactions that cannot be executed as
	// they are (a fee cap below the base fee, the second of two without the
	// first) are refused before anything is stored, with an error that names
	// them.
	SubmitTransaction(ctx context.Context, in SubmitTransactionInput) (*SubmitTransactionOutput, error)
	// SettleWithLnurl has the swap's invoice paid through an LNURL-withdraw
	// link and waits for the payment. In any state other than PR_CREATED it
	// fails with [CodeInvalidState].
	SettleWithLnurl(ctx context.Context, in SettleWithLnurlInput) (*SettleWithLnurlOutput, error)
	// ListSwaps returns all stored swaps of a signer without querying the
	// chains.
	ListSwaps(ctx context.Context, in ListSwapsInput) ([]ListSwapOutput, error)
	// ListPendingSwaps returns a signer's swaps in progress without querying
	// the chains.
	ListPendingSwaps(ctx context.Context, in ListPendingSwapsInput) ([]ListSwapOutput, error)
	// GetSupportedTokens returns the tokens that can be paid or received.
	GetSupportedTokens(ctx context.Context, in GetSupportedTokensInput) ([]Token, error)
	// GetSwapCounterTokens returns the tokens that a given token can be swapped for or from.
	GetSwapCounterTokens(ctx context.Context, in GetSwapCounterTokensInput) ([]Token, error)
	// GetSwapLimits returns the smallest and largest amounts of a pair of tokens.
	GetSwapLimits(ctx context.Context, in GetSwapLimitsInput) (*GetSwapLimitsOutput, error)
	// ParseAddress recognises an address, invoice, link or URI. For an LNURL it
	// queries the service behind it.
	ParseAddress(ctx context.Context, in ParseAddressInput) (*ParseAddressOutput, error)
	// GetSpendableBalance returns how much of a wallet's balance can be swapped
	// after the swap's own costs.
	GetSpendableBalance(ctx context.Context, in GetSpendableBalanceInput) (*GetSpendableBalanceOutput, error)
}

// Error is the error type of every operation, see [fault.Error]. Read it with
// errors.As, or just its code with [CodeOf].
type Error = fault.Error

// Code is a stable, machine-readable error code, see [fault.Code].
type Code = fault.Code

// The codes of [Error] (protocol: utilities.md §12). They are part of the wire
// format and never change their meaning.
const (
	CodeInvalidInput      = fault.InvalidInput      // an input value is not acceptable; Field names it
	CodeNotFound          = fault.NotFound          // no such swap
	CodeUnsupported       = fault.Unsupported       // the route, chain, token or operation is not available
	CodeAmountOutOfBounds = fault.AmountOutOfBounds // Min and Max are set when known
	CodeInvalidState      = fault.InvalidState      // not possible in the swap's current state
	CodeUpstream          = fault.Upstream          // a liquidity provider, node or service failed or gave a wrong answer
	CodeTimeout           = fault.Timeout           // the deadline expired
	CodeInternal          = fault.Internal          // everything else
)

// CodeOf returns the code of any error, wrapped or not; see [fault.CodeOf].
func CodeOf(err error) Code { return fault.CodeOf(err) }
