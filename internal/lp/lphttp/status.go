package lphttp

import (
	"context"
	"math/big"

	"github.com/swapper-go/swapper/internal/lp"
)

// Status asks how a swap stands. A refusal (status other than 200) is a
// *[lp.RequestError]; everything that the protocol answers with status 200 is a
// Status, whatever its code.
func (c *Client) Status(ctx context.Context, q lp.StatusQuery) (lp.Status, error) {
	path, err := q.Path()
	if err != nil {
		return lp.Status{}, err
	}
	return c.status(ctx, toFollow, q.URL, path)
}

// SetRefundAddress tells the LP where an on-chain payment goes back to. url is
// that of the swap, service path included. Asking twice is a refusal with the
// code [lp.CodeRefundIsSet].
func (c *Client) SetRefundAddress(ctx context.Context, url, paymentHash string, sequence *big.Int, address string) (lp.Status, error) {
	return c.status(ctx, toAct, url, lp.RefundAddressPath(paymentHash, sequence, address))
}

func (c *Client) status(ctx context.Context, why purpose, url, path string) (lp.Status, error) {
	text, err := c.get(ctx, why, url, path)
	if err != nil {
		return lp.Status{}, err
	}
	return lp.ReadStatus(url, text)
}
