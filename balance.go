package swapper

import (
	"strconv"
	"strings"

	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/internal/bounds"
)

// GetSpendableBalanceInput is the input of getSpendableBalance.
type GetSpendableBalanceInput struct {
	Wallet            string   // address on the token's chain
	Token             string   // token identifier
	TargetChain       string   // chain identifier of the destination; Bitcoin balances only
	GasDrop           bool     // leave room for extra gas tokens; Bitcoin balances only
	FeeRate           string   // in the chain's format, see Validate; empty: the current rate
	MinBitcoinFeeRate *float64 // lowest rate to use in the estimate, sat/vB; Bitcoin balances only
	FeeMultiplier     *float64 // multiplies the current rate or fee, at most 1000; cannot be combined with FeeRate
}

// Validate checks everything that can be checked without knowing the chains. A
// fee rate must have one of the four formats of docs/api.md: sats/vB as a
// decimal number, `<µLamports/CU>[;<base fee>]`, `<l1>,<l2>,<l1 data>;v3`,
// `<base fee>,<priority fee>`; whether it is the format of the token's chain is
// checked later. The error is a [*fault.Error] with [fault.InvalidInput] that names the
// field.
func (in *GetSpendableBalanceInput) Validate() error {
	if err := first(
		required("wallet", in.Wallet, maxID),
		required("token", in.Token, maxID),
		optional("targetChain", in.TargetChain, maxID),
		feeRate("feeRate", in.FeeRate),
		positive("minBitcoinFeeRate", in.MinBitcoinFeeRate, bounds.MaxFeeRate),
		positive("feeMultiplier", in.FeeMultiplier, bounds.MaxFeeMultiplier),
	); err != nil {
		return err
	}
	if in.FeeRate != "" && in.FeeMultiplier != nil {
		return fault.Invalid("feeMultiplier", "cannot be combined with feeRate")
	}
	return nil
}

// GetSpendableBalanceOutput is the result of getSpendableBalance.
type GetSpendableBalanceOutput struct {
	Balance Amount   `json:"balance"`
	FeeRate *float64 `json:"feeRate,omitempty"` // sat/vB used in the estimate; BTC on Bitcoin only
}

// feeRate checks a fee rate in any chain's format.
func feeRate(field, s string) *fault.Error {
	if s == "" {
		return nil
	}
	if len(s) <= maxFeeRateText && isFeeRate(s) {
		return nil
	}
	return fault.Invalid(field, "is not a valid fee rate for any supported chain")
}

func isFeeRate(s string) bool {
	if whole, frac, point := strings.Cut(s, "."); point {
		rate, err := strconv.ParseFloat(s, 64) // err: out of range
		return isDigits(whole) && isDigits(frac) && err == nil && rate > 0
	}
	rate, suffix, suffixed := strings.Cut(s, ";")
	parts := strings.Split(rate, ",")
	for _, p := range parts {
		if !isDigits(p) {
			return false
		}
	}
	switch len(parts) {
	case 1:
		return !suffixed || isDigits(suffix)
	case 2:
		return !suffixed
	case 3:
		return suffixed && suffix == "v3"
	}
	return false
}

func isDigits(s string) bool {
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return false
		}
	}
	return s != ""
}
