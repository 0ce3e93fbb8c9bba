package quote

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/big"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/internal/async"
	"github.com/swapper-go/swapper/internal/btc/single"
	"github.com/swapper-go/swapper/internal/lp"
	"github.com/swapper-go/swapper/internal/lp/discovery"
	"github.com/swapper-go/swapper/internal/lp/verify"
	"github.com/swapper-go/swapper/internal/swap"
)

// fromBTC quotes a swap whose escrow the user opens before paying bitcoin to the LP
// (protocol: lp-protocol.md §5.5, §6.4).
func (o *order) fromBTC(ctx context.Context) (*swap.Record, error) {
	if _, err := single.Index(o.Reader.Bitcoin); err != nil { // before anybody is asked: the payment would not be seen
		return nil, err
	}
	var random [8]byte
	if _, err := io.ReadFull(o.Rand, random[:]); err != nil {
		return nil, fmt.Errorf("read randomness: %w", err)
	}
	sequence := binary.BigEndian.Uint64(random[:])
	market, native, rate := o.price(ctx, o.token), o.price(ctx, o.info.Native), o.feeRate(ctx)
	tip, own := async.Start(ctx, o.Reader.Bitcoin.TipHeight), o.bitcoinRates(ctx)
	bounties := perVersion(ctx, o, func(ctx context.Context, k chains.Contract) (*lp.Bounty, error) {
		return proofBounty(ctx, o.info.ID, k, o.token.Address, o.now.Unix(), tip)
	})
	return o.collect(ctx, func(ctx context.Context, c discovery.Candidate, k chains.Contract) (*swap.Record, error) {
		promised := bounties(k)
		funds := async.Start(ctx, func(ctx context.Context) (chains.LPFunds, error) { return k.Liquidity(ctx, c.Address, o.token.Address) })
		got, err := o.LPs.FromBTC(ctx, c.LP.URL, lp.FromBTCRequest{Chain: o.info.ID, DepositToken: o.info.Native.Address, Claimer: o.user, Amount: o.Amount, Token: c.Token,
			ExactOut: !o.ExactIn, Sequence: sequence, Bounty: promised, FeeRate: rate}, lp.Early{})
		if err != nil {
			return nil, err
		}
		bounty, err := promised.Wait(ctx)
		if err != nil {
			return nil, err
		}
		want, err := o.receiving(ctx, c, k, market, native)
		if err != nil {
			return nil, err
		}
		has, err := funds.Wait(ctx)
		if err != nil {
			return nil, err
		}
		auth, fees, err := o.authorized(ctx, k, got.Escrow, got.Auth, rate)
		if err != nil {
			return nil, err
		}
		a, err := verify.FromBTC(verify.FromBTCExpected{Agreed: want, Network: o.Reader.Bitcoin.Network(), Sequence: sequence, Bounty: *bounty}, got, auth, has.Balance)
		if err != nil {
			return nil, err
		}
		r, err := o.record(c, k.ClaimHashText(a.Escrow.ClaimHash), a)
		if err != nil {
			return nil, err
		}
		r.Terms.Recipient = o.user
		o.receivedFees(r, a.SwapFeeSats, new(big.Int), a.NetworkSats, nil)
		r.Terms.Confirmations = uint32(a.Payment.Confirmations)
		r.Escrow = &swap.EscrowPart{Expected: a.Escrow, Real: a.Escrow, Init: a.Auth, FeeRate: fees}
		r.Bitcoin = &swap.BitcoinPart{Address: a.Payment.Address, Script: a.Payment.Script, Sats: uint64(a.Payment.Sats), Confirmations: uint32(a.Payment.Confirmations)}
		o.estimate(ctx, r, own)
		return r, nil
	})
}

// proofBounty is the reward for claiming an escrow by the proof of a Bitcoin payment: the
// cost of bringing the relay the blocks that it lacks until then, and of the claim
// (protocol: swap-flows-escrow.md §6.3).
func proofBounty(ctx context.Context, chain string, k chains.Contract, token string, now int64, tip *async.Future[uint32]) (*lp.Bounty, error) {
	relay, ok := k.(chains.RelayContract)
	if !ok {
		return nil, fault.New(fault.Unsupported, "chain %s has no relay of Bitcoin headers", chain)
	}
	learned := async.Start(ctx, relay.RelayTip)
	header := async.Start(ctx, func(ctx context.Context) (*big.Int, error) {
		return k.Estimate(ctx, chains.Cost{Kind: chains.StepRelayHeader}, "")
	})
	claim := async.Start(ctx, func(ctx context.Context) (*big.Int, error) {
		return k.Estimate(ctx, chains.Cost{Kind: chains.StepClaimBitcoin, Token: token}, "")
	})
	at, e1 := tip.Wait(ctx)
	known, e2 := learned.Wait(ctx)
	perHeader, e3 := header.Wait(ctx)
	perClaim, e4 := claim.Wait(ctx)
	if err := errors.Join(e1, e2, e3, e4); err != nil {
		return nil, fmt.Errorf("watchtower fee: %w", err)
	}
	return verify.ProofBounty(at, known, perHeader, perClaim, now), nil
}
