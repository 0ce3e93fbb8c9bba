package quote

import (
	"math/big"
	"testing"

	"github.com/swapper-go/swapper/internal/swap"
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

// The better of two quotes is the one that leaves the user more, all costs counted:
// what the claim of a legacy swap from Bitcoin costs is paid beside the amounts.
func TestTheBetterQuote(t *testing.T) {
	coin := tokens.Token{Chain: "SOLANA", Address: "coin", Decimals: 8}
	record := func(in, out, network int64) *swap.Record {
		r := &swap.Record{}
		r.Terms.Input, r.Terms.Output = tokens.NewAmount(big.NewInt(in), tokens.BTC()), tokens.NewAmount(big.NewInt(out), coin)
		r.Terms.NetworkSats = big.NewInt(network)
		return r
	}
	for name, c := range map[string]struct {
		typ    swap.Type
		a, b   *swap.Record
		better bool
	}{
		"more out":                         {swap.FromBTC, record(1000, 901, 50), record(1000, 900, 50), true},
		"as much out":                      {swap.FromBTC, record(1000, 900, 50), record(1000, 900, 50), false},
		"more out, and dearer to claim":    {swap.FromBTC, record(1000, 940, 100), record(1000, 900, 50), false},
		"less out, and cheaper to claim":   {swap.FromBTC, record(1000, 900, 50), record(1000, 940, 100), true},
		"less in":                          {swap.FromBTC, record(999, 900, 50), record(1000, 900, 50), true},
		"less in, and dearer to claim":     {swap.FromBTC, record(960, 900, 100), record(1000, 900, 50), false},
		"vault, less out, cheaper network": {swap.SPVFromBTC, record(1000, 900, 50), record(1000, 901, 100), false}, // the amounts are net of it
		"payout, less in, dearer network":  {swap.ToBTC, record(999, 900, 100), record(1000, 900, 50), true},
	} {
		t.Run(name, func(t *testing.T) {
			c.a.Type, c.b.Type = c.typ, c.typ
			if got := better(c.a, c.b); got != c.better {
				t.Errorf("better %v", got)
			}
		})
	}
}
