package quote

import (
	"context"
	"fmt"
	"io"
	"math/big"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/internal/async"
	"github.com/swapper-go/swapper/internal/bigs"
	"github.com/swapper-go/swapper/internal/btc/rawtx"
	"github.com/swapper-go/swapper/internal/lp"
	"github.com/swapper-go/swapper/internal/lp/discovery"
	"github.com/swapper-go/swapper/internal/lp/verify"
	"github.com/swapper-go/swapper/internal/swap"
	"github.com/swapper-go/swapper/tokens"
)

// payoutConfirmations are asked for of a payout to Bitcoin (protocol: swap-flows-escrow.md §5.1).
const payoutConfirmations = 2

func (o *order) toBTC(ctx context.Context) (*swap.Record, error) {
	var random [4]byte
	if _, err := io.ReadFull(o.Rand, random[:]); err != nil {
		return nil, fmt.Errorf("read randomness: %w", err)
	}
	nonce, err := rawtx.NewNonce(o.now, uint32(random[0])<<16|uint32(random[1])<<8|uint32(random[2]))
	if err != nil {
		return nil, err
	}
	market, rate := o.price(ctx, o.token), o.feeRate(ctx)
	own := o.bitcoinRates(ctx)
	return o.collect(ctx, func(ctx context.Context, c discovery.Candidate, k chains.Contract) (*swap.Record, error) {
		got, err := o.LPs.ToBTC(ctx, c.LP.URL, lp.ToBTCRequest{Chain: o.info.ID, Address: o.DstAddress, Amount: o.Amount, ExactIn: o.ExactIn,
			ConfirmationTarget: verify.PayoutTarget, Confirmations: payoutConfirmations, Nonce: nonce, Token: c.Token, Offerer: o.user, FeeRate: rate}, lp.Early{})
		if err != nil {
			return nil, err
		}
		p, err := market.Wait(ctx)
		if err != nil {
			return nil, err
		}
		rates, err := own.Wait(ctx)
		if err != nil {
			return nil, err
		}
		auth, fees, err := o.authorized(ctx, k, got.Escrow, got.Auth, rate)
		if err != nil {
			return nil, err
		}
		a, err := verify.ToBTC(verify.ToBTCExpected{Agreed: o.agreed(c, k, p, nil), Script: o.to.Script(), Nonce: nonce,
			Confirmations: payoutConfirmations, ConfirmationTarget: verify.PayoutTarget, FeeRate: needed(rates)}, got, auth)
		if err != nil {
			return nil, err
		}
		r, err := o.escrowRecord(c, k, a, fees)
		if err != nil {
			return nil, err
		}
		r.Bitcoin = &swap.BitcoinPart{Address: o.DstAddress, Sats: a.Output.Uint64(), Nonce: nonce, Confirmations: payoutConfirmations}
		return r, nil
	})
}

// authorized asks whether the LP's authorisation to open the escrow of its
// answer is good.
func (o *order) authorized(ctx context.Context, k chains.Contract, data []byte, auth chains.Auth, rate *async.Future[string]) (verify.Authorized, string, error) {
	fees, err := rate.Wait(ctx)
	if err != nil {
		return verify.Authorized{}, "", err
	}
	e, err := verify.ReadEscrow(k, data)
	if err != nil {
		return verify.Authorized{}, "", err
	}
	until, err := k.VerifyInit(ctx, e, auth, fees, o.user)
	return verify.Authorized{Until: until, Err: err}, fees, nil
}

// escrowRecord is the record of a swap whose escrow is agreed in full.
func (o *order) escrowRecord(c discovery.Candidate, k chains.Contract, a verify.Accepted, fees string) (*swap.Record, error) {
	r, err := o.record(c, k.ClaimHashText(a.Escrow.ClaimHash), a)
	if err != nil {
		return nil, err
	}
	r.Escrow = &swap.EscrowPart{Expected: a.Escrow, Real: a.Escrow, Init: a.Auth, FeeRate: fees}
	r.Terms.SwapFee = tokens.NewAmount(a.SwapFee, o.token)
	network := tokens.NewAmount(bigs.OrZero(a.NetworkFee), o.token)
	r.Terms.NetworkFee = &network
	return r, nil
}

func sats(n int64) *big.Int { return big.NewInt(n) }
