package quote

import (
	"math/big"
	"testing"

	"github.com/swapper-go/swapper/swap"
	"github.com/swapper-go/swapper/tokens"
)

// The best quote is the one that gives most for what is paid, Bitcoin's miners included:
// a provider that demands a high fee rate does not look cheaper for it.
func TestMinersCountWhenQuotesAreCompared(t *testing.T) {
	wbtc := tokens.Token{Chain: "CITREA", Address: "0x1", Decimals: 8}
	type quoted struct{ in, miners, out int64 }
	for name, c := range map[string]struct {
		from tokens.Token
		a, b quoted
		want bool
	}{
		"more out":                     {tokens.BTC(), quoted{1000, 100, 991}, quoted{1000, 100, 990}, true},
		"as much":                      {tokens.BTC(), quoted{1000, 100, 990}, quoted{1000, 100, 990}, false},
		"less in":                      {tokens.BTC(), quoted{999, 100, 990}, quoted{1000, 100, 990}, true},
		"less for miners":              {tokens.BTC(), quoted{1000, 99, 990}, quoted{1000, 100, 990}, true},
		"more out, for dearer miners":  {tokens.BTC(), quoted{1000, 150, 1000}, quoted{1000, 100, 990}, false},
		"less in, for dearer miners":   {tokens.BTC(), quoted{990, 150, 990}, quoted{1000, 100, 990}, false},
		"no miners of the user's":      {wbtc, quoted{1000, 150, 1000}, quoted{1000, 100, 990}, true},
		"no miners, and less in":       {wbtc, quoted{990, 150, 990}, quoted{1000, 100, 990}, true},
		"miners are not known of both": {tokens.BTC(), quoted{1000, 0, 991}, quoted{1000, 0, 990}, true},
	} {
		record := func(q quoted) *swap.Record {
			return &swap.Record{Terms: swap.Terms{Input: tokens.NewAmount(big.NewInt(q.in), c.from), Output: tokens.NewAmount(big.NewInt(q.out), wbtc)},
				Bitcoin: &swap.BitcoinPart{MinerSats: q.miners}}
		}
		if got := better(record(c.a), record(c.b)); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}
