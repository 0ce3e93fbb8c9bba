package tokenlist_test

import (
	"strings"
	"testing"

	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/internal/tokenlist"
	"github.com/swapper-go/swapper/internal/vectors"
	"github.com/swapper-go/swapper/tokens"
)

func TestResolveErrors(t *testing.T) {
	r := registry(t, "STARKNET", "CITREA", "GOAT")
	for name, tc := range map[string]struct {
		text string
		code fault.Code
		says string
	}{
		"nothing":               {"", fault.InvalidInput, ""},
		"unknown ticker":        {"NOPE", fault.InvalidInput, `"NOPE": use <chain>-<ticker>`},
		"chain not configured":  {"SOLANA-SOL", fault.Unsupported, "\"SOLANA\" is not supported: it must be one of BITCOIN, LIGHTNING, STARKNET, CITREA, GOAT"},
		"ticker of two chains":  {"WBTC", fault.InvalidInput, "STARKNET-WBTC, CITREA-WBTC"},
		"address of two chains": {"0x0000000000000000000000000000000000000000", fault.InvalidInput, "CITREA-CBTC, GOAT-BTC"},
		"wrong checksum":        {"CITREA-0xDf240DC08B0FdaD1d93b74d5048871232f6BEA3d", fault.InvalidInput, "CITREA"},
		"empty ticker":          {"CITREA-", fault.InvalidInput, "chain CITREA has no token \"\": it has CBTC, "},
		"bitcoin has no address": {"BITCOIN-0x0000000000000000000000000000000000000000",
			fault.InvalidInput, ": it has BTC"},
		"very long": {strings.Repeat("A", 1<<20), fault.InvalidInput, "characters"},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := r.Resolve(tc.text)
			if err == nil {
				t.Fatalf("accepted as %s", got.ID())
			}
			if fault.CodeOf(err) != tc.code || !strings.Contains(err.Error(), tc.says) || len(err.Error()) > 400 {
				t.Errorf("code %s: %v", fault.CodeOf(err), err)
			}
			if named := fault.At("srcToken", err).Error(); !strings.HasPrefix(named, "srcToken: ") {
				t.Errorf("with its field: %q", named)
			}
		})
	}
}

// Addresses compare by value, in every spelling that a chain accepts.
func TestAddressesByValue(t *testing.T) {
	r := registry(t, everyChain...)
	for text, want := range map[string]string{
		"0x4718f5a0fc34cc1af16a1cdee98ffb20c31f5cd61d6ab07201858f4287c938d":                            "STARKNET-STRK",
		"STARKNET-0X04718F5A0FC34CC1AF16A1CDEE98FFB20C31F5CD61D6AB07201858F4287C938D":                  "STARKNET-STRK",
		"0xDF240DC08B0FDAD1D93B74D5048871232F6BEA3D":                                                   "CITREA-WBTC",
		"GOAT-0x0000000000000000000000000000000000000000":                                              "GOAT-BTC",
		"SOLANA-So11111111111111111111111111111111111111112":                                           "SOLANA-SOL",
		"0x00000000000000000000000000000000000000000000000000000000000000000000000000000000000000dead": "",
	} {
		got, err := r.Resolve(text)
		if id := got.ID(); err == nil && id != want || err != nil && want != "" {
			t.Errorf("%s is %s, %v; want %s", text, id, err, want)
		}
	}
}

func TestNewRegistryRefuses(t *testing.T) {
	with := func(change func(*tokenlist.Chain)) tokenlist.Chain {
		c := chain("CITREA")
		change(&c)
		return c
	}
	for name, chains := range map[string][]tokenlist.Chain{
		"chain twice":      {chain("GOAT"), chain("GOAT")},
		"bitcoin":          {with(func(c *tokenlist.Chain) { c.ID = tokens.Bitcoin })},
		"hyphen":           {with(func(c *tokenlist.Chain) { c.ID = "CITREA-2" })},
		"no identifier":    {with(func(c *tokenlist.Chain) { c.ID = "" })},
		"other chain":      {with(func(c *tokenlist.Chain) { c.ID = "OTHER" })},
		"no address rule":  {with(func(c *tokenlist.Chain) { c.TokenAddress = nil })},
		"bad address":      {with(func(c *tokenlist.Chain) { c.Tokens[0].Address = "0x0" })},
		"address twice":    {with(func(c *tokenlist.Chain) { c.Tokens[1].Address = strings.ToLower(c.Tokens[2].Address) })},
		"ticker twice":     {with(func(c *tokenlist.Chain) { c.Tokens[1].Ticker = c.Tokens[2].Ticker })},
		"ticker hyphen":    {with(func(c *tokenlist.Chain) { c.Tokens[1].Ticker = "A-B" })},
		"shows too much":   {with(func(c *tokenlist.Chain) { c.Tokens[1].DisplayDecimals = 9 })},
		"too many decimal": {with(func(c *tokenlist.Chain) { c.Tokens[1].Decimals = 78 })},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := tokenlist.New(chains...); err == nil {
				t.Error("accepted")
			}
		})
	}
}

func FuzzResolve(f *testing.F) {
	r := registry(f, everyChain...)
	seed := struct{ ID string }{}
	for _, c := range vectors.Load(f, "utilities", "tokens").Cases {
		c.Input(f, &seed)
		f.Add(seed.ID)
	}
	f.Fuzz(func(t *testing.T, name string) {
		got, err := r.Resolve(name)
		if err != nil {
			if fault.CodeOf(err) == fault.Internal {
				t.Fatalf("%q: %v", name, err)
			}
			return
		}
		if again, err := r.Resolve(got.ID()); err != nil || again != got {
			t.Fatalf("%q is %s, which is %v, %v", name, got.ID(), again, err)
		}
	})
}

func BenchmarkResolve(b *testing.B) {
	r := registry(b, everyChain...)
	for name, text := range map[string]string{
		"id":      "SOLANA-USDC",
		"address": "0x04718f5a0fc34cc1af16a1cdee98ffb20c31f5cd61d6ab07201858f4287c938d",
		"ticker":  "STRK",
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := r.Resolve(text); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
