package starknet

import (
	"context"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/internal/settle"
	"github.com/swapper-go/swapper/internal/starknet/wire"
)

// VerifyInit takes one round trip: the account of the other party is asked whether the
// signature is its own, and along with it the time of the block that is being made,
// unless that was read in the last seconds. By our own clock the authorisation must also
// be valid for at least [chains.AuthGrace] longer.
func (k *contract) VerifyInit(ctx context.Context, e chains.Escrow, auth chains.Auth, _, sender string) (time.Time, error) {
	s, err := wire.SwapDataOf(e)
	if err != nil {
		return time.Time{}, err
	}
	if err := k.CheckSwapData(s); err != nil {
		return time.Time{}, &chains.AuthError{Reason: "is for an escrow in other contracts", Err: err}
	}
	from, err := account("signer", sender)
	if err != nil {
		return time.Time{}, err
	}
	c := k.chain
	question, err := c.net.CheckInit(s, auth, from, c.env.Now(), 0)
	if err != nil {
		return time.Time{}, err
	}
	var blockTime int64
	g, inner := errgroup.WithContext(ctx)
	g.Go(func() error { return c.ledger.Signed(inner, question) })
	g.Go(func() (err error) { blockTime, err = c.ledger.BlockTime(inner); return err })
	if err := g.Wait(); err != nil {
		return time.Time{}, err
	}
	now := c.env.Now()
	if _, err := c.net.CheckInit(s, auth, from, now, blockTime); err != nil {
		return time.Time{}, err
	}
	return time.UnixMilli(settle.AuthUsableUntil(auth, now)), nil
}

// VerifyRefund takes one round trip.
func (k *contract) VerifyRefund(ctx context.Context, e chains.Escrow, auth chains.Auth) error {
	s, err := wire.SwapDataOf(e)
	if err != nil {
		return err
	}
	if err := k.CheckSwapData(s); err != nil {
		return &chains.AuthError{Reason: "is for an escrow in other contracts", Err: err}
	}
	question, err := k.chain.net.CheckRefund(s, auth, k.chain.env.Now())
	if err != nil {
		return err
	}
	return k.chain.ledger.Signed(ctx, question)
}

// Escrows takes those round trips of [starkread.Reader.Escrows].
func (k *contract) Escrows(ctx context.Context, queries []chains.EscrowQuery) ([]chains.EscrowFact, error) {
	return k.reader.Escrows(ctx, queries)
}

// Liquidity takes one round trip.
func (k *contract) Liquidity(ctx context.Context, lp, token string) (chains.LPFunds, error) {
	who, err := account("lp", lp)
	if err != nil {
		return chains.LPFunds{}, err
	}
	of, err := account("token", token)
	if err != nil {
		return chains.LPFunds{}, err
	}
	return k.reader.Funds(ctx, who, of)
}
