package swapper

import (
	"context"
	"github.com/swapper-go/swapper/fault"
)

// Service is the eleven operations of the interface (docs/api.md, protocol:
// utilities.md §1). The library's own client, the remote client
// httpapi.Client and a test's stand-in all are a Service, and httpapi.New serves
// any of them over HTTP.
//
// An implementation checks its input with the input's Validate method, returns
// errors that carry a code ([CodeOf]), obeys the context, and is safe for
// concurrent use. With a nil error the answer is not nil; lists may be nil,
// which means empty.
type Service interface {
	// CreateSwap asks for a quote, stores the swap and returns its first state.
	CreateSwap(ctx context.Context, in CreateSwapInput) (*CreateSwapOutput, error)
	// GetSwapStatus brings the swap up to date with the chains and returns its
	// state and what its user has to do next. It fails with [CodeNotFound] when no
	// such swap is stored; an expired quote is deleted after a while.
	GetSwapStatus(ctx context.Context, in GetSwapStatusInput) (*GetSwapStatusOutput, error)
	// SubmitTransaction hands in what the user signed for the current action. It
	// returns when the swap has moved, and within 15 seconds anyhow: with the hashes
	// if the network has the transactions by then, else with [CodeTimeout] and a
	// sentence that says whether they are stored. What is stored is sent without
	// further ado, and GetSwapStatus tells the rest; handing in the same transactions
	// again joins what is under way. Transactions that cannot be executed as they are
	// (a fee cap below the base fee, the last of two without the first) are refused
	// by name before anything is stored.
	SubmitTransaction(ctx context.Context, in SubmitTransactionInput) (*SubmitTransactionOutput, error)
	// SettleWithLnurl has the swap's invoice paid through an LNURL-withdraw link
	// and waits for the payment. Outside of the state PR_CREATED it fails with
	// [CodeInvalidState].
	SettleWithLnurl(ctx context.Context, in SettleWithLnurlInput) (*SettleWithLnurlOutput, error)
	// ListSwaps returns every stored swap of a signer, without asking any chain.
	ListSwaps(ctx context.Context, in ListSwapsInput) ([]ListSwapOutput, error)
	// ListPendingSwaps returns the swaps of a signer that are under way, without
	// asking any chain.
	ListPendingSwaps(ctx context.Context, in ListPendingSwapsInput) ([]ListSwapOutput, error)
	// GetSupportedTokens returns the tokens that can be paid or received.
	GetSupportedTokens(ctx context.Context, in GetSupportedTokensInput) ([]Token, error)
	// GetSwapCounterTokens returns the tokens that a given token can be swapped for or from.
	GetSwapCounterTokens(ctx context.Context, in GetSwapCounterTokensInput) ([]Token, error)
	// GetSwapLimits returns the smallest and largest amounts of a pair of tokens.
	GetSwapLimits(ctx context.Context, in GetSwapLimitsInput) (*GetSwapLimitsOutput, error)
	// ParseAddress says what an address, invoice, link or URI is. For an LNURL it
	// asks the service behind it.
	ParseAddress(ctx context.Context, in ParseAddressInput) (*ParseAddressOutput, error)
	// GetSpendableBalance returns what of a wallet's balance is left to swap after the swap's own costs.
	GetSpendableBalance(ctx context.Context, in GetSpendableBalanceInput) (*GetSpendableBalanceOutput, error)
}

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

type callerKey struct{}

// WithCaller returns a context that says on whose behalf an operation is called:
// any text that tells callers apart, as an account's number. Idempotency keys
// belong to a caller: the same key of another one is another key, so that nobody
// gets at another's swap by guessing or repeating it. Without a name all callers
// are one. Names are stored as hashes only.
//
// Over HTTP the server names the caller, see httpapi.WithCaller; what a remote
// client has in its context does not travel.
func WithCaller(ctx context.Context, name string) context.Context {
	return context.WithValue(ctx, callerKey{}, name)
}

// CallerOf returns the name that [WithCaller] gave, "" if there is none.
func CallerOf(ctx context.Context) string {
	name, _ := ctx.Value(callerKey{}).(string)
	return name
}
