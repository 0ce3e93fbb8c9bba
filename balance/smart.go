package balance

import (
	"context"
	"math/big"
	"strconv"
	"strings"

	"golang.org/x/sync/errgroup"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/internal/bounds"
	"github.com/swapper-go/swapper/tokens"
)

func (e Estimator) smart(ctx context.Context, q Query) (Spendable, error) {
	c, ok := e.Chain(q.Token.Chain)
	if !ok {
		return Spendable{}, &fault.Error{Code: fault.Unsupported, Field: "token", Message: "the chain " + q.Token.Chain + " is not supported by this service"}
	}
	if q.GasDrop {
		return Spendable{}, fault.Invalid("gasDrop", "can only be set for Bitcoin balances")
	}
	if q.MinFeeRate != nil {
		return Spendable{}, fault.Invalid("minBitcoinFeeRate", "can only be set for Bitcoin balances")
	}
	wallet, err := c.Address(q.Wallet)
	if err != nil {
		return Spendable{}, fault.Invalid("wallet", "%w", err)
	}
	if q.FeeRate != "" {
		if err := c.CheckFeeRate(q.FeeRate); err != nil {
			return Spendable{}, fault.At("feeRate", err)
		}
	}
	millionths, err := q.millionths()
	if err != nil {
		return Spendable{}, err
	}
	var held, cost *big.Int
	g, gctx := errgroup.WithContext(ctx)
	g.Go(func() (err error) {
		held, err = c.Balance(gctx, wallet, q.Token.Address)
		return err
	})
	if info := c.Info(); q.Token.Address == info.Native.Address {
		k, ok := c.Contract(info.Default)
		if !ok {
			return Spendable{}, fault.New(fault.Internal, "chain %s has no contracts for its default version %q", info.ID, info.Default)
		}
		g.Go(func() (err error) {
			cost, err = k.Estimate(gctx, chains.Cost{Kind: chains.StepInit, Token: q.Token.Address, Payer: wallet}, q.FeeRate)
			return err
		})
	}
	if err := g.Wait(); err != nil {
		return Spendable{}, err
	}
	return Spendable{Amount: tokens.NewAmount(after(held, cost, millionths), q.Token)}, nil
}

// after takes a cost, times a factor and rounded down as the protocol says, from
// what is held. A nil cost is none.
func after(held, cost, millionths *big.Int) *big.Int {
	if cost == nil {
		return held
	}
	kept := new(big.Int).Mul(cost, millionths)
	kept.Quo(kept, big.NewInt(1_000_000))
	left := new(big.Int).Sub(held, kept)
	if left.Sign() < 0 {
		left.SetInt64(0)
	}
	return left
}

// millionths returns the multiplier, cut to six decimals, in millionths. The
// decimal number is cut that the caller wrote, not a binary fraction near it.
func (q Query) millionths() (*big.Int, error) {
	factor, err := above0("feeMultiplier", q.FeeMultiplier, bounds.MaxFeeMultiplier)
	if err != nil {
		return nil, err
	}
	if q.FeeMultiplier == nil {
		factor = 1
	}
	whole, frac, _ := strings.Cut(strconv.FormatFloat(factor, 'f', -1, 64), ".")
	frac = (frac + "000000")[:6]
	n, ok := new(big.Int).SetString(whole+frac, 10)
	if !ok || n.Sign() == 0 {
		return nil, fault.Invalid("feeMultiplier", "must be at least 0.000001")
	}
	return n, nil
}
