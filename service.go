package swapper

import (
	"context"
)

// Service has the operations of the API (docs/api.md): the eleven of the published
// interface (protocol: utilities.md §1) and CreateGasSwap. [Client], the remote client of httpapi.NewClient and test doubles
// implement it, and httpapi.New serves any implementation over HTTP.
//
// An implementation checks its input with the input's Validate method, returns
// errors that carry a code ([fault.CodeOf]), obeys the context, and is safe for
// concurrent use. With a nil error the result is not nil; a nil list means an
// empty one.
type Service interface {
	// CreateSwap asks for a quote, stores the swap and returns its first state.
	CreateSwap(ctx context.Context, in CreateSwapInput) (*CreateSwapOutput, error)
	// CreateGasSwap buys a small amount of a chain's native token from a provider who is
	// trusted, stores the swap and returns its first state. It is an addition to the
	// published interface; a service without it fails with [fault.Unsupported].
	CreateGasSwap(ctx context.Context, in CreateGasSwapInput) (*CreateSwapOutput, error)
	// GetSwapStatus brings the swap up to date with the chains and returns its
	// state and what its user has to do next. It fails with [fault.NotFound] if
	// the swap does not exist; expired quotes are deleted after a while.
	GetSwapStatus(ctx context.Context, in GetSwapStatusInput) (*GetSwapStatusOutput, error)
	// SubmitTransaction submits what the user signed for the current action. It
	// returns as soon as the swap has moved, and after 15 seconds at the
	// latest: with the hashes if the transactions are stored by then, otherwise
	// with [fault.Timeout] and a message that asks to submit them again. Stored
	// transactions are sent without another call, and
	// GetSwapStatus reports the outcome; submitting the same transactions again
	// joins the submission in progress. Transactions that cannot be executed as
	// they are (a fee cap below the base fee, the second of two without the
	// first) are refused before anything is stored, with an error that names
	// them.
	SubmitTransaction(ctx context.Context, in SubmitTransactionInput) (*SubmitTransactionOutput, error)
	// SettleWithLnurl has the swap's invoice paid through an LNURL-withdraw
	// link and waits for the payment. In any state other than PR_CREATED it
	// fails with [fault.InvalidState].
	SettleWithLnurl(ctx context.Context, in SettleWithLnurlInput) (*SettleWithLnurlOutput, error)
	// ListSwaps returns all stored swaps of a signer without querying the
	// chains.
	ListSwaps(ctx context.Context, in ListSwapsInput) ([]ListSwapOutput, error)
	// ListPendingSwaps returns a signer's swaps in progress without querying
	// the chains.
	ListPendingSwaps(ctx context.Context, in ListSwapsInput) ([]ListSwapOutput, error)
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
