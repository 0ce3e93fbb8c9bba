package starknet

import (
	"strings"

	"github.com/swapper-go/swapper/fault"
)

// maxPriceDigits bounds each price of a fee rate: what 128 bits hold.
const maxPriceDigits = 39

// CheckFeeRate returns an error unless s is `<l1>,<l2>,<l1 data>;v3`, three gas
// prices in fri (protocol: utilities.md §10). Only version 3 transactions are
// supported.
func CheckFeeRate(s string) error {
	rate, v3 := strings.CutSuffix(s, ";v3")
	prices := strings.Split(rate, ",")
	if !v3 || len(prices) != 3 {
		return fault.Invalid("feeRate", "must be <l1 gas price>,<l2 gas price>,<l1 data gas price>;v3, in fri")
	}
	for _, p := range prices {
		if p == "" || len(p) > maxPriceDigits || strings.Trim(p, "0123456789") != "" {
			return fault.Invalid("feeRate", "has a gas price that is not a whole number of fri")
		}
	}
	return nil
}
