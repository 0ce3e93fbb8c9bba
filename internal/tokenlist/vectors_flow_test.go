package tokenlist_test

import (
	"encoding/json"
	"math/big"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/swapper-go/swapper/internal/trial"
	"github.com/swapper-go/swapper/internal/vectors"
	"github.com/swapper-go/swapper/tokens"
)

func TestVectorsFlowAmounts(t *testing.T) {
	vectors.Each(t, "swap-flows-escrow", "amounts", func(t *testing.T, c *vectors.Case) {
		var in struct {
			Op, Text, Chain, Ticker string
			Raw                     *string
			Decimals                int
			DisplayDecimals         *int
		}
		c.Input(t, &in)
		if in.Op == "parse" {
			checkParse(t, c, c.Want(t), "raw", in.Text, in.Decimals)
			return
		}
		amount := tokens.NewAmount(nil, tokens.Token{Chain: in.Chain, Ticker: in.Ticker, Decimals: in.Decimals,
			DisplayDecimals: shown(in.DisplayDecimals, in.Decimals)})
		var want struct{ API map[string]any }
		trial.Do(t, json.Unmarshal(c.Want(t), &want))
		switch {
		case in.Raw == nil:
			c.Differ(t, "status-unknown-amount")
			want.API["amount"] = plainly(new(big.Int), in.Decimals, amount.Token.DisplayDecimals)
		default:
			amount.Raw = integer(t, *in.Raw)
			if text := plainly(amount.Raw, in.Decimals, amount.Token.DisplayDecimals); amount.Raw.Sign() < 0 && want.API["amount"] != text {
				c.Differ(t, "decimal-sign-first")
				want.API["amount"] = text
			}
		}
		got := map[string]any{"amount": amount.Decimal(), "rawAmount": amount.Units(), "decimals": float64(amount.Token.Decimals),
			"symbol": amount.Token.Ticker, "chain": amount.Token.Chain}
		if diff := cmp.Diff(want.API, got); diff != "" {
			t.Errorf("amount differs (-want +got):\n%s", diff)
		}
	})
}

// plainly writes an amount as a person would: the sign, then the digits of its
// magnitude, cut to the places that are shown.
func plainly(raw *big.Int, decimals, places int) string {
	sign := ""
	if raw.Sign() < 0 {
		sign = "-"
	}
	digits := new(big.Int).Abs(raw).String()
	if decimals <= 0 {
		return sign + digits + strings.Repeat("0", -decimals)
	}
	digits = strings.Repeat("0", max(0, decimals+1-len(digits))) + digits
	whole, frac := digits[:len(digits)-decimals], digits[len(digits)-decimals:]
	if places = min(places, decimals); places == 0 {
		return sign + whole
	}
	return sign + whole + "." + frac[:places]
}
