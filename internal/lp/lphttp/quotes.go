package lphttp

import (
	"context"
	"fmt"

	"github.com/swapper-go/swapper/internal/httpx"
	"github.com/swapper-go/swapper/internal/lp"
)

// quoted asks a streamed endpoint for a quote and reads it.
func quoted[T any](ctx context.Context, c *Client, base string, call lp.Call[T], early lp.Early) (T, error) {
	data, err := c.quote(ctx, base, call.Path, call.Body, early)
	if err != nil {
		var zero T
		return zero, err
	}
	return call.Read(base, data)
}

// ToBTC asks the LP at base for a quote.
func (c *Client) ToBTC(ctx context.Context, base string, r lp.ToBTCRequest, early lp.Early) (lp.ToBTCQuote, error) {
	return quoted(ctx, c, base, r.Call(c.o.Extra), early)
}

// ToBTCLN asks the LP at base for a quote.
func (c *Client) ToBTCLN(ctx context.Context, base string, r lp.ToBTCLNRequest, early lp.Early) (lp.ToBTCLNQuote, error) {
	return quoted(ctx, c, base, r.Call(c.o.Extra), early)
}

// PrepareToBTCLN makes the first of the two steps of an exact input.
func (c *Client) PrepareToBTCLN(ctx context.Context, base string, r lp.PrepareToBTCLNRequest, early lp.Early) (lp.PreparedToBTCLN, error) {
	return quoted(ctx, c, base, r.Call(c.o.Extra), early)
}

// ToBTCLNExactIn makes the second step of an exact input. The request consumes
// the prepared one, even if it fails.
func (c *Client) ToBTCLNExactIn(ctx context.Context, base string, r lp.ToBTCLNExactInRequest, early lp.Early) (lp.ToBTCLNQuote, error) {
	return quoted(ctx, c, base, r.Call(c.o.Extra), early)
}

// FromBTC asks the LP at base for a quote.
func (c *Client) FromBTC(ctx context.Context, base string, r lp.FromBTCRequest, early lp.Early) (lp.FromBTCQuote, error) {
	return quoted(ctx, c, base, r.Call(c.o.Extra), early)
}

// FromBTCLN asks the LP at base for a quote.
func (c *Client) FromBTCLN(ctx context.Context, base string, r lp.FromBTCLNRequest, early lp.Early) (lp.FromBTCLNQuote, error) {
	return quoted(ctx, c, base, r.Call(c.o.Extra), early)
}

// FromBTCLNAuto asks the LP at base for a quote.
func (c *Client) FromBTCLNAuto(ctx context.Context, base string, r lp.FromBTCLNAutoRequest, early lp.Early) (lp.FromBTCLNAutoQuote, error) {
	return quoted(ctx, c, base, r.Call(c.o.Extra), early)
}

// SPV asks the LP at base for a quote.
func (c *Client) SPV(ctx context.Context, base string, r lp.SPVRequest) (lp.SPVQuote, error) {
	return quoted(ctx, c, base, r.Call(c.o.Extra), lp.Early{})
}

// TrustedLN asks the LP at base for a quote.
func (c *Client) TrustedLN(ctx context.Context, base string, r lp.TrustedRequest) (lp.TrustedLNQuote, error) {
	return trusted(ctx, c, base, r.LN())
}

// TrustedBTC asks the LP at base for a quote.
func (c *Client) TrustedBTC(ctx context.Context, base string, r lp.TrustedRequest) (lp.TrustedBTCQuote, error) {
	return trusted(ctx, c, base, r.BTC())
}

func trusted[T any](ctx context.Context, c *Client, base string, call lp.Call[T]) (T, error) {
	text, err := c.get(ctx, toQuote, base, call.Path)
	if err != nil {
		var zero T
		return zero, err
	}
	return call.ReadPlain(base, text)
}

// PostSPV hands over the signed PSBT of a quote and returns the transaction id
// that the LP names. It is sent once: after an error that [lp.PostRefused] does not
// know the LP may have the PSBT or not, whatever it answered. A PSBT that is too large
// for LPs is refused with the code fault.InvalidInput and not sent.
func (c *Client) PostSPV(ctx context.Context, base, chain, quoteID string, psbt []byte) (txID string, err error) {
	call, err := lp.PostSPV(chain, quoteID, psbt)
	if err != nil {
		return "", err
	}
	data, err := c.post(ctx, toAct, httpx.RetryPolicy{Calls: 1, Final: isAnswer}, base, call.Path, call.Body, lp.Early{})
	if err != nil {
		return "", fmt.Errorf("send the PSBT: %w", err)
	}
	return call.Read(base, data)
}
