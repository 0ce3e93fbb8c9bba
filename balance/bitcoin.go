package balance

import (
	"context"
	"math/big"
	"strconv"
	"strings"

	"golang.org/x/sync/errgroup"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/internal/bounds"
	"github.com/swapper-go/swapper/internal/btc/psbt"
	"github.com/swapper-go/swapper/internal/btc/single"
	"github.com/swapper-go/swapper/tokens"
)

// receiver is the output that is estimated for: as large as any, and with a
// higher dust limit than the others of its kind (protocol: bitcoin.md §8).
const receiver = bitcoin.P2WSH

func (e Estimator) bitcoin(ctx context.Context, q Query) (Spendable, error) {
	var draft psbt.Draft
	if q.TargetChain != "" {
		c, ok := e.Chain(q.TargetChain)
		if !ok {
			return Spendable{}, &fault.Error{Code: fault.Unsupported, Field: "targetChain", Message: "the chain is not supported by this service"}
		}
		draft = vaultDraft(c, q.GasDrop)
	}
	wallet, err := bitcoin.ParseAddress(q.Wallet, e.Bitcoin.Network())
	if err != nil {
		return Spendable{}, fault.Invalid("wallet", "%w", err)
	}
	fixed, multiplier, minimum, err := q.rates()
	if err != nil {
		return Spendable{}, err
	}
	var coins []psbt.Coin
	var now bitcoin.FeeRates
	g, gctx := errgroup.WithContext(ctx)
	g.Go(func() (err error) {
		coins, err = psbt.WalletCoins(gctx, e.Bitcoin, wallet)
		return err
	})
	if fixed == 0 {
		g.Go(func() (err error) {
			now, err = single.FeeRates(gctx, e.Bitcoin)
			return err
		})
	}
	if err := g.Wait(); err != nil {
		return Spendable{}, err
	}
	// Nodes do not relay what pays less than their minimum.
	current := max(now.Fastest, now.Minimum)
	if fixed == 0 && !(current > 0) {
		return Spendable{}, fault.New(fault.Upstream, "the Bitcoin backend returned no fee rate")
	}
	draft.FeeRate, err = psbt.BalanceFeeRate(fixed, current, multiplier, minimum)
	if err != nil {
		return Spendable{}, fault.At("feeRate", err)
	}
	most, err := psbt.MaxSpendable(draft, receiver, coins)
	if err != nil {
		return Spendable{}, err
	}
	return Spendable{tokens.NewAmount(big.NewInt(most.Balance()), q.Token), draft.FeeRate}, nil
}

// vaultDraft is what a swap to a chain puts into the transaction besides the
// payment: nothing if the chain has no vaults, else the vault and the longest
// data that any of its contract versions asks for.
func vaultDraft(c chains.Chain, gasDrop bool) psbt.Draft {
	longest := 0
	for _, v := range c.Info().Versions {
		k, ok := c.Contract(v.Name)
		if !ok || !v.Vaults {
			continue
		}
		if vaults, ok := k.(chains.VaultContract); ok {
			longest = max(longest, vaults.WithdrawalDataLen(gasDrop))
		}
	}
	if longest == 0 {
		return psbt.Draft{}
	}
	return psbt.VaultDraft(longest)
}

// rates reads the numbers of a query; what is absent is 0.
func (q Query) rates() (fixed, multiplier, minimum float64, err error) {
	if q.FeeRate != "" {
		if fixed, err = satsPerVB(q.FeeRate); err != nil {
			return 0, 0, 0, err
		}
	}
	if multiplier, err = above0("feeMultiplier", q.FeeMultiplier, bounds.MaxFeeMultiplier); err != nil {
		return 0, 0, 0, err
	}
	minimum, err = above0("minBitcoinFeeRate", q.MinFeeRate, bounds.MaxFeeRate)
	return fixed, multiplier, minimum, err
}

func above0(field string, f *float64, most float64) (float64, error) {
	if f == nil {
		return 0, nil
	}
	if !(*f > 0 && *f <= most) {
		return 0, fault.Invalid(field, "must be a number greater than 0 and at most %v", int64(most))
	}
	return *f, nil
}

// satsPerVB reads digits, with or without a fraction, and nothing else.
func satsPerVB(s string) (float64, error) {
	whole, frac, point := strings.Cut(s, ".")
	rate, err := strconv.ParseFloat(s, 64)
	if len(s) > 128 || !digits(whole) || point && !digits(frac) || err != nil || rate <= 0 || rate > bounds.MaxFeeRate {
		return 0, fault.Invalid("feeRate", "must be a number of sat/vB greater than 0 and at most %d", int64(bounds.MaxFeeRate))
	}
	return rate, nil
}

func digits(s string) bool { return s != "" && strings.Trim(s, "0123456789") == "" }
