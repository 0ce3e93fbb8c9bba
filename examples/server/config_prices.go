package main

import (
	"context"
	"maps"
	"math/big"
	"slices"

	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/price"
	"github.com/swapper-go/swapper/tokens"
)

// pricesConfig is where market prices come from: a table, and services for what
// it does not have. Without services there is the table alone.
type pricesConfig struct {
	Fixed         map[string]string // sats per whole token, with up to six decimals, by token id
	USDPerBitcoin float64           // beside a table; shown to people only

	Services map[string]string            // base URLs by name: binance, okx, coingecko, coinpaprika, kraken; "": the public one
	Symbols  map[string]map[string]string // by service: its symbols of tickers that it is not known to have
}

func (c pricesConfig) source() (price.Source, error) {
	table := price.Fixed{Prices: map[string]*big.Int{}, USD: c.USDPerBitcoin / 1e8}
	for id, text := range c.Fixed {
		micro, err := tokens.ParseDecimal(text, 6)
		if err != nil || micro.Sign() <= 0 {
			return nil, fault.Invalid("fixed."+id, "must be sats per whole token, above 0, with six decimals at most")
		}
		table.Prices[id] = micro
	}
	if len(c.Services) == 0 {
		if len(table.Prices) == 0 {
			return nil, fault.Invalid("fixed", "or services is required")
		}
		return table, nil
	}
	var services []price.Source
	for _, name := range slices.Sorted(maps.Keys(c.Services)) {
		service, err := price.Service(name, price.Options{URL: c.Services[name], Symbols: c.Symbols[name]})
		if err != nil {
			return nil, err
		}
		services = append(services, service)
	}
	for name := range c.Symbols {
		if _, ok := c.Services[name]; !ok {
			return nil, fault.Invalid("symbols", "%q is not one of the services", name)
		}
	}
	market := price.NewCache(price.Median{Sources: services}, 0, nil)
	if len(table.Prices) == 0 {
		return market, nil
	}
	return both{table, market}, nil
}

// both is a table and, for what it lacks, a market.
type both struct {
	price.Fixed
	market price.Source
}

// Name implements [price.Source].
func (b both) Name() string { return b.Fixed.Name() + ", " + b.market.Name() }

// Price implements [price.Source].
func (b both) Price(ctx context.Context, t tokens.Token) (*big.Int, error) {
	if _, ok := b.Prices[t.ID()]; ok {
		return b.Fixed.Price(ctx, t)
	}
	return b.market.Price(ctx, t)
}

// USDPerSat implements [price.Source].
func (b both) USDPerSat(ctx context.Context) (float64, error) {
	if b.USD > 0 {
		return b.Fixed.USDPerSat(ctx)
	}
	return b.market.USDPerSat(ctx)
}
