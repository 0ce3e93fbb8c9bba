package swapper

import (
	"context"
	"math/big"
	"slices"
	"strings"

	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/internal/address"
	"github.com/swapper-go/swapper/internal/quote"
	"github.com/swapper-go/swapper/internal/swap"
)

// CreateGasSwapInput requests a small amount of a chain's native token, for
// users who have none yet to pay fees with.
type CreateGasSwapInput struct {
	SrcToken      string   // BITCOIN-BTC or LIGHTNING-BTC, or an alias of either
	ChainID       string   // the smart chain whose native token is wanted
	Amount        *big.Int // base units of the native token to pay out
	DstAddress    string   // recipient
	RefundAddress string   // for BITCOIN-BTC: where the provider returns a payment that it cannot use; can be set later
	// LP is the base URL of the provider; "": Config.LPs.Trusted. A caller ([WithCaller]) can name
	// only providers that the service uses.
	LP string
	// IdempotencyKey makes a repeated call of the same caller return the swap
	// of the first; "" for none. See [WithCaller].
	IdempotencyKey string
}

// Validate checks everything that can be checked without knowing the chains.
// The error is a [*fault.Error] with [fault.InvalidInput] that names the field.
func (in *CreateGasSwapInput) Validate() error {
	if in.Amount == nil {
		return fault.Invalid("amount", "is required and must not be empty")
	}
	return first(
		required("srcToken", in.SrcToken, maxID),
		required("chainId", in.ChainID, maxID),
		amountFrom("amount", in.Amount, 1),
		required("dstAddress", in.DstAddress, maxAddressText),
		optional("refundAddress", in.RefundAddress, maxAddressText),
		optional("lp", in.LP, maxAddressText),
		idempotencyKey(in.IdempotencyKey),
	)
}

// CreateGasSwap implements [Service]: it makes a swap of the type TRUSTED_FROM_BTC or
// TRUSTED_FROM_BTCLN. No contract secures it: the provider is trusted to pay
// out once it has the bitcoin, so the amount should be small. Its price and
// fees are verified all the same, and a payout or refund counts only once the
// chain shows it.
//
// GetSwapStatus works on it as on any other swap (protocol:
// swap-flows-spv-and-core.md B), and so does SubmitTransaction where the user signs
// with a Bitcoin wallet.
//
// Errors: [fault.InvalidInput] names the field; [fault.AmountOutOfBounds] has the
// provider's Min and Max, which GetSwapLimits does not tell; [fault.Upstream] names the
// provider and what was wrong with its response.
func (c *Client) CreateGasSwap(ctx context.Context, in CreateGasSwapInput) (_ *CreateSwapOutput, err error) {
	ctx, end, err := c.life.begin(ctx)
	if err != nil {
		return nil, err
	}
	defer end(&err)
	if err := in.Validate(); err != nil {
		return nil, err
	}
	src, err := c.registry.Resolve(in.SrcToken)
	if err != nil {
		return nil, fault.At("srcToken", err)
	}
	q := quote.GasRequest{Src: src, Chain: in.ChainID, Amount: in.Amount, Address: in.DstAddress,
		RefundAddress: address.Strip(in.RefundAddress), LP: in.LP, Caller: CallerOf(ctx), Owner: newOwner(ctx), Key: in.IdempotencyKey}
	switch _, called := callOf(ctx); {
	case q.LP == "":
		q.LP = c.config.LPs.Trusted
	case called:
		if err := c.mayName(ctx, q.LP); err != nil {
			return nil, err
		}
	}
	if q.LP == "" {
		return nil, fault.Invalid("lp", "is required: %s has no default provider for trusted gas swaps", c.config.Network)
	}
	m, err := c.quoter.CreateGas(ctx, q)
	if err != nil {
		return nil, err
	}
	return c.created(ctx, m), nil
}

// mayName refuses a provider that the service does not use: whoever is asked gets requests that
// the service signs, and is asked from where the service is.
func (c *Client) mayName(ctx context.Context, lp string) error {
	same := func(url string) bool { return strings.TrimRight(url, "/") == strings.TrimRight(lp, "/") }
	if c.config.LPs.Trusted != "" && same(c.config.LPs.Trusted) || slices.ContainsFunc(c.config.LPs.URLs, same) {
		return nil
	}
	if err := c.loaded(ctx); err != nil {
		return err
	}
	for _, p := range c.offers.LPs() {
		if same(p.URL) {
			return nil
		}
	}
	return fault.Invalid("lp", "is none of the service's providers")
}

// SetGasRefundAddress sets the address to which the bitcoin of a
// TRUSTED_FROM_BTC swap is returned if the provider cannot use it, for example
// because it arrived too late. The address is stored durably before the method
// returns, and is sent to the provider as often as needed. It can be set only
// once, here or when the swap is created: a different address is refused with
// [fault.InvalidState], and a caller who does not own the swap with [fault.Unsupported].
func (c *Client) SetGasRefundAddress(ctx context.Context, swapID, to string) (err error) {
	ctx, end, err := c.life.begin(ctx)
	if err != nil {
		return err
	}
	defer end(&err)
	a, err := bitcoin.ParseAddress(address.Strip(to), c.config.Network)
	if err != nil {
		return fault.Invalid("refundAddress", "%w", err)
	}
	r, err := c.engine.Load(ctx, swapID)
	if err != nil {
		return err
	}
	if !owns(ctx, "")(r) {
		return fault.New(fault.Unsupported, "only the swap's owner says where its bitcoin goes back to")
	}
	if r.Type != swap.TrustedFromBTC {
		return fault.New(fault.Unsupported, "swaps of type %s have no refund address to set", r.Type)
	}
	_, err = c.engine.Advance(ctx, swapID, swap.RefundTo{Address: a.String()})
	return err
}

// ListGasSwaps lists the trusted gas swaps of a signer (the recipient), newest
// first, in the form of [Client.ListSwaps]. Those paid with on-chain bitcoin
// appear only here: the network's own lists leave them out.
func (c *Client) ListGasSwaps(ctx context.Context, in ListSwapsInput) (_ []ListSwapOutput, err error) {
	ctx, end, err := c.life.begin(ctx)
	if err != nil {
		return nil, err
	}
	defer end(&err)
	return c.list(ctx, in, false, func(t swap.Type) bool { return t == swap.TrustedFromBTC || t == swap.TrustedFromBTCLN })
}
