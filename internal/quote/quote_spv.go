package quote

import (
	"context"
	"errors"
	"fmt"
	"math/big"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/internal/async"
	"github.com/swapper-go/swapper/internal/bigs"
	"github.com/swapper-go/swapper/internal/chainio"
	"github.com/swapper-go/swapper/internal/lp"
	"github.com/swapper-go/swapper/internal/lp/discovery"
	"github.com/swapper-go/swapper/internal/lp/verify"
	"github.com/swapper-go/swapper/internal/swap"
)

// ShownBefore is how long before its hard end a quote is shown as expired, so
// that a transaction signed at the last moment still arrives (protocol:
// swap-flows-spv-and-core.md A11).
const ShownBefore = 20_000 // milliseconds

func (o *order) spvFromBTC(ctx context.Context) (*swap.Record, error) {
	market, native := o.price(ctx, o.token), o.price(ctx, o.info.Native)
	heads := async.Start(ctx, o.chain.Heads)
	own := o.bitcoinRates(ctx)
	tip := async.Start(ctx, o.Reader.Bitcoin.TipHeight)
	shares := perVersion(ctx, o, func(ctx context.Context, k chains.Contract) (*big.Int, error) {
		return o.callerShare(ctx, k, tip, market, native)
	})
	amount := async.Known(o.Amount)
	return o.collect(ctx, func(ctx context.Context, c discovery.Candidate, k chains.Contract) (*swap.Record, error) {
		vaults, ok := k.(chains.VaultContract)
		if !ok {
			return nil, chainio.NoVaults(o.info.ID)
		}
		sent := shares(k)
		ctx, cancel := context.WithCancel(ctx) // ends what is asked ahead of a refusal
		defer cancel()
		before := o.vaultAhead(ctx, c, vaults)
		got, err := o.LPs.SPV(ctx, c.LP.URL, lp.SPVRequest{Chain: o.info.ID, Address: o.user, Amount: amount, Token: c.Token, GasAmount: o.GasAmount, GasToken: o.info.Native.Address,
			ExactOut: !o.ExactIn, CallerFeeRate: sent})
		if err != nil {
			return nil, err
		}
		share, err := sent.Wait(ctx)
		if err != nil {
			return nil, err
		}
		a, err := o.acceptVault(ctx, c, vaults, got, before, func(facts verify.VaultFacts) (verify.Accepted, error) {
			want, err := o.receiving(ctx, c, k, market, native)
			if err != nil {
				return verify.Accepted{}, err
			}
			rates, err := own.Wait(ctx)
			if err != nil {
				return verify.Accepted{}, err
			}
			return verify.SPV(verify.SPVExpected{Agreed: want, Network: o.Reader.Bitcoin.Network(), GasAmount: o.GasAmount,
				CallerShare: uint32(share.Uint64()), MaxFeeRate: verify.MaxFeeRate(needed(rates))}, got, facts)
		})
		if err != nil {
			return nil, err
		}
		final, err := heads.Wait(ctx)
		if err != nil {
			return nil, err
		}
		r, err := o.spvRecord(c, a, got, final.Final.Height)
		if err != nil {
			return nil, err
		}
		rates, err := own.Wait(ctx)
		if err != nil {
			return nil, err
		}
		r.Bitcoin.MinerSats, err = o.Reader.UsualFee(r, &swap.Fund{Vault: true}, rates)
		return r, err
	})
}

// callerShare is the watchtower's part of the payout (protocol:
// swap-flows-spv-and-core.md A4).
func (o *order) callerShare(ctx context.Context, k chains.Contract, tip *async.Future[uint32], market, native *async.Future[*big.Int]) (*big.Int, error) {
	fee, err := vaultPay(ctx, o.info.ID, k, tip)
	if err != nil {
		return nil, err
	}
	p, e1 := market.Wait(ctx)
	np, e2 := native.Wait(ctx)
	if err := errors.Join(e1, e2); err != nil {
		return nil, fmt.Errorf("watchtower fee: %w", err)
	}
	share, err := verify.CallerShare(fee, verify.Payout{Amount: o.Amount, ExactIn: o.ExactIn,
		TokenIsNative: o.token.Address == o.info.Native.Address, Decimals: o.token.Decimals, Price: p, NativeDecimals: o.info.Native.Decimals, NativePrice: np})
	switch {
	case o.trial && errors.Is(err, verify.ErrTooLittle): // LPs refuse the amount anyway
		return new(big.Int), nil
	case errors.Is(err, verify.ErrTooLittle):
		return nil, fault.Invalid("amount", "is too low: %w", err)
	case err != nil:
		return nil, err
	case !o.trial:
		if err := o.affordable(fee, p, np); err != nil {
			return nil, err
		}
	}
	return new(big.Int).SetUint64(uint64(share)), nil
}

// affordable holds what a watchtower gets, native base units, against the policy
// before anybody is asked.
func (o *order) affordable(pay, market, native *big.Int) error {
	paySats, err := verify.ToBitcoin(pay, native, o.info.Native.Decimals)
	if err != nil {
		return err
	}
	swapSats := o.Amount
	if !o.ExactIn {
		if swapSats, err = verify.ToBitcoin(o.Amount, market, o.token.Decimals); err != nil {
			return err
		}
	}
	return o.Policy.Watchtower(paySats, swapSats)
}

func (o *order) spvRecord(c discovery.Candidate, a verify.Accepted, got lp.SPVQuote, from uint64) (*swap.Record, error) {
	v := a.Vault
	r, err := o.record(c, v.QuoteID, a)
	if err != nil {
		return nil, err
	}
	r.From = from
	r.Terms.Recipient = o.user
	r.Expiry = swap.At(a.Expires) - ShownBefore
	r.Bitcoin = &swap.BitcoinPart{Address: v.LPAddress, Sats: got.BTCAmount.Uint64(), Confirmations: v.Confirmations}
	r.Vault = &swap.VaultPart{QuoteID: v.QuoteID, Owner: v.ID.Owner, VaultID: v.ID.ID, Multipliers: v.Multipliers, UTXO: v.UTXO.String(), UTXOSats: v.UTXOSats,
		Script: v.Script, LPScript: v.LPScript, Sats: v.Sats, Raw: v.Raw, Shares: [3]uint32{v.Shares.Caller, v.Shares.Fronting, v.Shares.Execution},
		MinFeeRate: v.MinFeeRate, Deadline: swap.At(a.Expires)}
	o.receivedFees(r, got.SwapFeeBTC, got.GasSwapFeeBTC, VaultNetworkFee(got, v.Shares), got.TotalGas)
	r.Terms.Confirmations = v.Confirmations
	return r, nil
}

// shareUnits is what fee shares are parts of.
const shareUnits = 100_000

// VaultNetworkFee is what watchtowers and fronters get, in sats (protocol:
// swap-flows-spv-and-core.md A11).
func VaultNetworkFee(got lp.SPVQuote, s bitcoin.FeeShares) *big.Int {
	token, gas := int64(s.Caller)+int64(s.Fronting)+int64(s.Execution), int64(s.Caller)+int64(s.Fronting)
	without := func(paid, fee *big.Int, share int64) *big.Int {
		return bigs.MulDiv(new(big.Int).Sub(paid, fee), big.NewInt(shareUnits), big.NewInt(shareUnits+share))
	}
	net := without(got.BTCAmountSwap, got.SwapFeeBTC, token)
	net.Add(net, without(got.BTCAmountGas, got.GasSwapFeeBTC, gas))
	return bigs.MulDiv(net, big.NewInt(token), big.NewInt(shareUnits))
}
