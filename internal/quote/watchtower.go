package quote

import (
	"context"
	"errors"
	"fmt"
	"math/big"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/internal/async"
	"github.com/swapper-go/swapper/internal/chainio"
	"github.com/swapper-go/swapper/internal/lp/discovery"
	"github.com/swapper-go/swapper/internal/lp/verify"
	"github.com/swapper-go/swapper/internal/swap"
	"github.com/swapper-go/swapper/tokens"
)

// vaultPay is what a watchtower is paid for settling a swap through a vault of a
// chain, in native base units (protocol: swap-flows-spv-and-core.md A4).
func vaultPay(ctx context.Context, chain string, k chains.Contract, tip *async.Future[uint32]) (*big.Int, error) {
	vaults, ok := k.(chains.VaultContract)
	if !ok {
		return nil, chainio.NoVaults(chain)
	}
	relay := async.Start(ctx, vaults.RelayTip)
	header := async.Start(ctx, func(ctx context.Context) (*big.Int, error) {
		return k.Estimate(ctx, chains.Cost{Kind: chains.StepRelayHeader}, "")
	})
	claim := async.Start(ctx, func(ctx context.Context) (*big.Int, error) {
		return k.Estimate(ctx, chains.Cost{Kind: chains.StepVaultClaim}, "")
	})
	at, e1 := tip.Wait(ctx)
	known, e2 := relay.Wait(ctx)
	perHeader, e3 := header.Wait(ctx)
	perClaim, e4 := claim.Wait(ctx)
	if err := errors.Join(e1, e2, e3, e4); err != nil {
		return nil, fmt.Errorf("watchtower fee: %w", err)
	}
	return verify.CallerFee(at, known, perHeader, perClaim, verify.FeeSafetyPPM), nil
}

// autoBounty is what a watchtower is paid for claiming an automatic Lightning swap
// for a token, in native base units (protocol: lp-protocol.md §6.6).
func autoBounty(ctx context.Context, k chains.Contract, token string) (*big.Int, error) {
	fee, err := k.Estimate(ctx, chains.Cost{Kind: chains.StepClaimSecret, Token: token}, "")
	if err != nil {
		return nil, fmt.Errorf("claim fee: %w", err)
	}
	return verify.AutoBounty(fee), nil
}

// WatchtowerPay returns what a watchtower is paid for settling a swap from bitcoin
// to a token of a configured chain, and the least value of a swap that pays it: by
// contract version, at the chain's fees of the moment. It is empty for types of swaps that promise a watchtower nothing. With an
// error, the versions are left out whose pay is not known.
func (qt *Quoter) WatchtowerPay(ctx context.Context, typ swap.Type, t tokens.Token) (map[string]discovery.WatchtowerPay, error) {
	o := order{Quoter: qt, chain: qt.Reader.Chains[t.Chain]}
	o.info = o.chain.Info()
	var pay func(context.Context, chains.Contract) (*big.Int, error)
	switch typ {
	case swap.SPVFromBTC:
		tip := async.Start(ctx, qt.Reader.Bitcoin.TipHeight)
		pay = func(ctx context.Context, k chains.Contract) (*big.Int, error) { return vaultPay(ctx, t.Chain, k, tip) }
	case swap.FromBTCLNAuto:
		pay = func(ctx context.Context, k chains.Contract) (*big.Int, error) { return autoBounty(ctx, k, t.Address) }
	case swap.FromBTC:
		tip, now := async.Start(ctx, qt.Reader.Bitcoin.TipHeight), qt.Engine.Now().Unix()
		pay = func(ctx context.Context, k chains.Contract) (*big.Int, error) {
			bounty, err := proofBounty(ctx, t.Chain, k, t.Address, now, tip)
			if err != nil {
				return nil, err
			}
			return bounty.At(now + verify.FromBTCLasts), nil
		}
	default:
		return nil, nil
	}
	native := o.price(ctx, o.info.Native)
	all := perVersion(ctx, &o, func(ctx context.Context, k chains.Contract) (*big.Int, error) {
		units, err := pay(ctx, k)
		if err != nil {
			return nil, err
		}
		np, err := native.Wait(ctx)
		if err != nil {
			return nil, err
		}
		return verify.ToBitcoin(units, np, o.info.Native.Decimals)
	})
	known := map[string]discovery.WatchtowerPay{}
	var failed error
	for _, v := range o.info.Versions {
		k, ok := o.chain.Contract(v.Name)
		if !ok {
			continue
		}
		sats, err := all(k).Wait(ctx)
		if err != nil {
			failed = errors.Join(failed, err)
			continue
		}
		known[v.Name] = discovery.WatchtowerPay{Sats: sats, Min: qt.Policy.WatchtowerMin(sats)}
	}
	return known, failed
}
