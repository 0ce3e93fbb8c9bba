package solana

import (
	"context"
	"encoding/binary"
	"math/big"
	"time"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/internal/async"
	"github.com/swapper-go/swapper/internal/solana/read"
	"github.com/swapper-go/swapper/internal/solana/wire"
)

// How prices are estimated (protocol: chain-solana.md §12).
const (
	maxPrice      = 200_000 // micro-lamports per compute unit, the most that is offered
	priceLevel    = "veryHigh"
	priceSamples  = 4   // blocks
	pricePeriod   = 100 // slots that they are drawn from
	priceValidity = 5 * time.Second
)

// FeeRate takes the round trips of [solread.Ledger.Price]: one, and two more where the
// node estimates no fees and no blocks were looked at for five seconds. The price is
// kept within fixed bounds, and remembered for five seconds; calls at the same time share
// one question.
func (c *chain) FeeRate(ctx context.Context) (string, error) {
	rate, err := c.currentRate(ctx)
	if err != nil {
		return "", err
	}
	return rate.String(), nil
}

// CheckFeeRate takes no round trip.
func (c *chain) CheckFeeRate(s string) error { return wire.CheckFeeRate(s) }

func (c *chain) currentRate(ctx context.Context) (wire.FeeRate, error) {
	now := c.env.Now()
	c.mu.Lock()
	known, at := c.price, c.pricedAt
	c.mu.Unlock()
	if age := now.Sub(at); !at.IsZero() && age >= 0 && age < priceValidity {
		return wire.FeeRate{Price: known}, nil
	}
	return async.Do(ctx, &c.pricing, "", func(ctx context.Context) (wire.FeeRate, error) {
		price, err := c.ledger.Price(ctx, c.pricePolicy(), c.vaults())
		if err != nil {
			return wire.FeeRate{}, err
		}
		c.mu.Lock()
		c.price, c.pricedAt = price, now
		c.mu.Unlock()
		return wire.FeeRate{Price: price}, nil
	})
}

func (c *chain) pricePolicy() read.PricePolicy {
	return read.PricePolicy{Cap: maxPrice, Level: priceLevel, Samples: priceSamples, Period: pricePeriod, Draw: c.draw}
}

// vaults are the accounts that nearly every transaction of a swap writes to.
func (c *chain) vaults() []wire.Key {
	var all []wire.Key
	for _, t := range c.tokens {
		if mint, err := wire.ParseKey(t.Address); err == nil {
			all = append(all, c.contracts[0].Vault(mint))
		}
	}
	return all[:min(len(all), 32)]
}

// draw returns a random number below n.
func (c *chain) draw(n int) int {
	var b [8]byte
	if _, err := c.env.Rand.Read(b[:]); err != nil {
		return 0
	}
	return int(binary.LittleEndian.Uint64(b[:]) % uint64(n))
}

// Balance takes one round trip. Of SOL it is what a wallet can spend: with what is
// wrapped, less the rent of the account for wrapping it if there is none, and less a
// reserve for fees.
func (c *chain) Balance(ctx context.Context, owner, token string) (*big.Int, error) {
	who, err := address("wallet", owner)
	if err != nil {
		return nil, err
	}
	of, err := mint("token", token)
	if err != nil {
		return nil, err
	}
	w, err := c.ledger.Wallet(ctx, who, of)
	if err != nil {
		return nil, err
	}
	return w.Balance(of), nil
}

// Estimate takes those round trips of FeeRate if there is no fee rate, and one for the
// cost of opening an escrow with SOL, which depends on whether the payer has an account
// for wrapped SOL. What a node says of prices is bounded, see FeeRate, and with it what
// watchtowers are paid.
func (k *contract) Estimate(ctx context.Context, cost chains.Cost, feeRate string) (*big.Int, error) {
	var rate wire.FeeRate
	var err error
	if feeRate != "" {
		rate, err = wire.ParseFeeRate(feeRate)
		err = fault.At("feeRate", err)
	} else {
		rate, err = k.chain.currentRate(ctx)
	}
	if err != nil {
		return nil, err
	}
	token := wire.WSOL
	if cost.Token != "" {
		if token, err = mint("token", cost.Token); err != nil {
			return nil, err
		}
	}
	switch cost.Kind {
	case chains.StepInit:
		return k.initCost(ctx, token, cost.Payer, rate)
	case chains.StepClaimSecret:
		return wire.ClaimFee(&wire.SwapData{Kind: chains.HTLC, PayOut: true}, rate), nil
	case chains.StepClaimBitcoin:
		return wire.ClaimFee(&wire.SwapData{Kind: chains.Onchain, PayOut: true}, rate), nil
	case chains.StepRelayHeader:
		return big.NewInt(wire.FeePerHeader), nil
	}
	return nil, fault.New(fault.Unsupported, "unknown expense %d", cost.Kind)
}

// initCost is what a wallet must keep of its SOL to open the dearest escrow.
func (k *contract) initCost(ctx context.Context, token wire.Key, payer string, rate wire.FeeRate) (*big.Int, error) {
	if token != wire.WSOL {
		return k.InitFee(&wire.SwapData{PayIn: true}, wire.FeeRate{Price: rate.Price, Static: rate.Static, Bribe: rate.Bribe}, true), nil
	}
	wrapped := false
	if payer != "" {
		who, err := address("wallet", payer)
		if err != nil {
			return nil, err
		}
		w, err := k.chain.ledger.Wallet(ctx, who, wire.WSOL)
		if err != nil {
			return nil, err
		}
		wrapped = w.Token != nil
	}
	return k.DearestInitFee(rate, wrapped), nil
}
