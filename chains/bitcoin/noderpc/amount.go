package noderpc

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/swapper-go/swapper/internal/btc/rawtx"
)

// sats reads a BTC amount as nodes write it, a JSON number with up to eight
// decimals, possibly with an exponent (1e-08). It never passes through a float:
// 0.29 BTC are 29000000 sats (protocol: bitcoin.md §4).
func sats(btc json.Number) (int64, error) {
	digits, shift := string(btc), 8
	if mantissa, exponent, ok := strings.Cut(strings.ToLower(digits), "e"); ok {
		e, err := strconv.Atoi(exponent)
		if err != nil || e < -30 || e > 30 {
			return 0, fmt.Errorf("amount %.40q has an exponent out of range", btc)
		}
		digits, shift = mantissa, shift+e
	}
	whole, fraction, _ := strings.Cut(digits, ".")
	negative := strings.HasPrefix(whole, "-")
	whole = strings.TrimPrefix(whole, "-")
	all := whole + fraction
	if shift -= len(fraction); shift < 0 {
		// Places below one sat must be zero.
		cut := max(len(all)+shift, 0)
		if strings.Trim(all[cut:], "0") != "" {
			return 0, fmt.Errorf("amount %.40q has more than eight decimals", btc)
		}
		all, shift = all[:cut], 0
	}
	all = strings.TrimLeft(all+strings.Repeat("0", shift), "0")
	if all == "" {
		all = "0"
	}
	v, err := strconv.ParseUint(all, 10, 63)
	if whole == "" || err != nil {
		return 0, fmt.Errorf("%.40q is not a valid amount of bitcoin", btc)
	}
	if v > uint64(rawtx.MaxMoney) || negative && v > 0 {
		return 0, fmt.Errorf("%.40s BTC is out of range", btc)
	}
	return int64(v), nil
}

// rate reads a fee rate in BTC per 1000 vbytes and returns sat/vB.
func rate(btcPerKvB json.Number) (float64, error) {
	perKvB, err := strconv.ParseFloat(string(btcPerKvB), 64)
	if err != nil {
		return 0, fmt.Errorf("fee rate: %w", err)
	}
	return perKvB * 1e5, nil
}
