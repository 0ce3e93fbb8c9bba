package psbt

import (
	"math"
	"testing"

	"github.com/swapper-go/swapper/fault"
)

func TestWalletFeeRate(t *testing.T) {
	for name, c := range map[string]struct{ backend, minimum, want float64 }{
		"a quarter more":         {4, 1, 5},
		"rounded down":           {7, 1, 8},
		"fraction":               {9, 0, 11},
		"not rounded down to 0":  {0.5, 0.1, 0.1},
		"minimum of the backend": {1, 3, 3},
		"nothing known":          {0, 0, -1},
		"no number":              {math.NaN(), 1, -1},
		"infinite":               {math.Inf(1), 1, -1},
		"negative":               {-2, 1, -1},
		"minimum no number":      {2, math.NaN(), -1},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := WalletFeeRate(c.backend, c.minimum)
			if err != nil {
				got = -1
			}
			if got != c.want {
				t.Errorf("%v, error %v; want %v", got, err, c.want)
			}
		})
	}
}

func TestVaultFeeRate(t *testing.T) {
	for name, c := range map[string]struct{ given, quoted, wallet, want float64 }{
		"given":                          {4.5, 2, 9, 4.5},
		"quote gives no number":          {2, math.NaN(), 1, -1},
		"wallet's is no number":          {0, 2, math.NaN(), -1},
		"wallet's is negative":           {0, 2, -1, -1},
		"wallet's is infinite":           {0, 2, math.Inf(1), -1},
		"given at the quoted rate":       {5, 5, 1, 5},
		"given below the quoted rate":    {4.99, 5, 9, -1},
		"wallet rate":                    {0, 1, 6, 6},
		"wallet rate below the quoted":   {0, 9.5, 2, 9.5},
		"nobody mines below 1":           {0, 0.1, 0.5, 1},
		"given below 1":                  {0.5, 0.1, 0.5, -1},
		"negative":                       {-1, 1, 1, -1},
		"no number":                      {math.NaN(), 1, 1, -1},
		"infinite, which no coins cover": {math.Inf(1), 1, 1, -1},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := VaultFeeRate(c.given, c.quoted, c.wallet)
			if err != nil {
				got = -1
				if fault.CodeOf(err) != fault.InvalidInput && c.given != 0 && !math.IsNaN(c.quoted) {
					t.Errorf("code %s", fault.CodeOf(err))
				}
			}
			if got != c.want {
				t.Errorf("%v, error %v; want %v", got, err, c.want)
			}
		})
	}
}

func TestBalanceFeeRate(t *testing.T) {
	for name, c := range map[string]struct{ fixed, backend, multiplier, minimum, want float64 }{
		"backend":              {0, 34, 0, 0, 34},
		"multiplied":           {0, 3, 1.5, 0, 4.5},
		"fixed":                {2.25, 34, 0, 0, 2.25},
		"floor under backend":  {0, 2, 0, 5, 5},
		"floor under fixed":    {1, 2, 0, 5, 5},
		"negative fixed":       {-1, 2, 0, 0, -1},
		"no number":            {math.NaN(), 2, 0, 0, -1},
		"infinite multiplier":  {0, 2, math.Inf(1), 0, -1},
		"negative multiplier":  {0, 2, -1, 0, -1},
		"floor is no number":   {0, 2, 0, math.NaN(), -1},
		"floor not reached":    {0, 9, 0, 5, 9},
		"multiplied to a half": {0, 1, 0.5, 0, 0.5},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := BalanceFeeRate(c.fixed, c.backend, c.multiplier, c.minimum)
			if err != nil {
				got = -1
			}
			if got != c.want {
				t.Errorf("%v, error %v; want %v", got, err, c.want)
			}
		})
	}
}
