package chainio

import (
	"errors"
	"testing"

	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/internal/swap"
)

// TestFundingRate: what a transaction is built for, and that nothing is built
// which would be refused when it comes back signed.
func TestFundingRate(t *testing.T) {
	rates := bitcoin.FeeRates{Fastest: 4, Minimum: 1} // the ceiling: 10 + 1.5 * 4
	for name, c := range map[string]struct {
		vault       bool
		given       float64
		least, want float64 // -1: refused
	}{
		"wallet rate":                          {false, 0, 0, 5},
		"given":                                {false, 2.5, 0, 2.5},
		"given, the lowest":                    {false, 1, 0, 1},
		"given, below it":                      {false, 0.9, 0, -1},
		"given, the highest":                   {false, 16, 0, 16},
		"given, above it":                      {false, 16.1, 0, -1},
		"a slip of a digit":                    {false, 400, 0, -1},
		"recommended":                          {false, 0, 9, 9},
		"recommended above the highest":        {false, 0, 90, 16},
		"recommended raises no ceiling":        {false, 50, 90, -1},
		"vault: wallet rate":                   {true, 0, 2, 5},
		"vault: quoted":                        {true, 0, 9.5, 9.5},
		"vault: given":                         {true, 16, 2, 16},
		"vault: given above the highest":       {true, 17, 2, -1},
		"vault: a dear quote raises a ceiling": {true, 60, 50, 60},
		"vault: given below the quote":         {true, 4, 5, -1},
	} {
		got, err := fundingRate(&swap.Fund{Vault: c.vault}, c.given, c.least, rates)
		if err != nil {
			got = -1
			if e, ok := errors.AsType[*fault.Error](err); !ok || e.Code != fault.InvalidInput || e.Field != "bitcoinFeeRate" {
				t.Errorf("%s: %v", name, err)
			}
		}
		if got != c.want {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}
