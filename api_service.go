package swapper

import "context"

// Service is the eleven operations of the interface (SPEC.md §4, protocol:
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
