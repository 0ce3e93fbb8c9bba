package watchtower

import (
	"context"
	"errors"
	"math/big"
	"testing"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/tokens"
)

type fixed map[string]int64

func (f fixed) Price(_ context.Context, t tokens.Token) (*big.Int, error) {
	if n, ok := f[t.Ticker]; ok {
		return big.NewInt(n), nil
	}
	return nil, errors.New("no price")
}

// Pay is worth something in tokens that the chain is configured with and that have a price.
func TestWorth(t *testing.T) {
	native := tokens.Token{Ticker: "ETH", Decimals: 18, Address: "native"}
	info := chains.Info{Native: native, Tokens: []tokens.Token{native, {Ticker: "WBTC", Decimals: 8, Address: "wbtc"}, {Ticker: "ODD", Decimals: 6, Address: "odd"}}}
	prices := fixed{"ETH": 4, "WBTC": 100, "ODD": 0}
	for name, c := range map[string]struct {
		prices pricing
		token  string
		n      int64
		want   string // "": an error
	}{
		"native":          {nil, "native", 7, "7"},
		"nothing":         {prices, "wbtc", 0, "0"},
		"a token":         {prices, "wbtc", 3, "750000000000"},
		"without prices":  {nil, "wbtc", 3, "0"},
		"an unknown one":  {prices, "other", 3, "0"},
		"no price of it":  {fixed{"ETH": 4}, "wbtc", 3, ""},
		"no native price": {fixed{"WBTC": 4}, "wbtc", 3, ""},
		"a price of 0":    {prices, "odd", 3, ""},
	} {
		t.Run(name, func(t *testing.T) {
			k := &claimer{info: info, config: Config{Prices: c.prices}}
			got, err := k.worth(t.Context(), c.token, big.NewInt(c.n))
			if c.want == "" && err == nil || c.want != "" && (err != nil || got.String() != c.want) {
				t.Errorf("%v, %v, want %q", got, err, c.want)
			}
		})
	}
}
