package verify

import (
	"errors"
	"fmt"
	"math/big"
)

// maxDecimals bounds 10^decimals: 10^77 still fits 256 bits.
const maxDecimals = 77

// Errors for quotes and prices that cannot be used in a calculation. Code that
// checks an LP's answer blames the LP for them, not the caller.
var (
	errPrice    = errors.New("the market price must be greater than zero")
	errDecimals = errors.New("the token's number of decimals is unknown")
)

// unit returns 10^decimals.
func unit(decimals int) (*big.Int, error) {
	if decimals < 0 || decimals > maxDecimals {
		return nil, errDecimals
	}
	return new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(decimals)), nil), nil
}

// FromBitcoin returns the base units of a token with the given decimals that
// sats are worth at a price in micro-sats per whole token, truncated (protocol:
// lp-protocol.md §6.1, fromBtc).
func FromBitcoin(sats, price *big.Int, decimals int) (*big.Int, error) {
	d, err := unit(decimals)
	if err != nil {
		return nil, err
	}
	if price == nil || price.Sign() <= 0 {
		return nil, errPrice
	}
	if sats == nil {
		return nil, errors.New("no amount to convert")
	}
	v := new(big.Int).Mul(sats, d)
	return v.Mul(v, million).Quo(v, price), nil
}

// FromBitcoinUp is [FromBitcoin], rounded up.
func FromBitcoinUp(sats, price *big.Int, decimals int) (*big.Int, error) {
	v, err := FromBitcoin(sats, price, decimals)
	if err != nil || sats.Sign() <= 0 {
		return v, err
	}
	d, _ := unit(decimals)
	exact := new(big.Int).Mul(sats, d)
	if exact.Mul(exact, million).Cmp(new(big.Int).Mul(v, price)) > 0 {
		v.Add(v, big.NewInt(1))
	}
	return v, nil
}

// ToBitcoin returns the sats that base units of a token are worth, truncated in
// two steps as the network does (protocol: lp-protocol.md §6.1, toBtc).
func ToBitcoin(units, price *big.Int, decimals int) (*big.Int, error) {
	d, err := unit(decimals)
	if err != nil {
		return nil, err
	}
	if price == nil || price.Sign() <= 0 {
		return nil, errPrice
	}
	if units == nil {
		return nil, errors.New("no amount to convert")
	}
	v := new(big.Int).Mul(units, price)
	return v.Quo(v, million).Quo(v, d), nil
}

// perToken returns the price in micro-sats per whole token at which units are
// exchanged for sats, cut.
func perToken(sats, units, d *big.Int) (*big.Int, error) {
	if units.Sign() == 0 {
		return nil, fmt.Errorf("%w: %s sats buy less than one base unit", errQuote, sats)
	}
	v := new(big.Int).Mul(sats, million)
	return v.Mul(v, d).Quo(v, units), nil
}
