package tokens_test

import (
	"math/big"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/internal/vectors"
	"github.com/swapper-go/swapper/tokens"
)

func TestParseDecimalBounds(t *testing.T) {
	for name, text := range map[string]string{
		"too long":          strings.Repeat("1", 161),
		"long run of zeros": strings.Repeat("0", 1<<20),
		"invalid UTF-8":     "1\xff",
		"two points":        "1..5",
		"NUL":               "1\x00",
		"full-width digit":  "１",
	} {
		t.Run(name, func(t *testing.T) {
			got, err := tokens.ParseDecimal(text, 8)
			if err == nil {
				t.Fatalf("accepted as %s", got)
			}
			if fault.CodeOf(err) != fault.InvalidInput {
				t.Errorf("code %s", fault.CodeOf(err))
			}
		})
	}
}

// What is shown with all decimals reads back as the same amount; with fewer, as
// at most that amount.
func TestDecimalRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		raw := new(big.Int).SetBytes(rapid.SliceOfN(rapid.Byte(), 0, 32).Draw(t, "raw"))
		decimals := rapid.IntRange(0, 30).Draw(t, "decimals")
		shown := rapid.IntRange(0, 30).Draw(t, "shown")
		back, err := tokens.ParseDecimal(format(raw, decimals, decimals), decimals)
		if err != nil || back.Cmp(raw) != 0 {
			t.Fatalf("%s became %s: %v", raw, back, err)
		}
		back, err = tokens.ParseDecimal(format(raw, decimals, shown), decimals)
		if err != nil || back.Cmp(raw) > 0 {
			t.Fatalf("%s became %s: %v", raw, back, err)
		}
	})
}

func TestAmountText(t *testing.T) {
	for name, tc := range map[string]struct {
		amount               tokens.Amount
		decimal, units, text string
	}{
		"sats":    {tokens.NewAmount(big.NewInt(51040), tokens.LightningBTC()), "0.00051040", "51040", "0.00051040 BTC-LN"},
		"unknown": {tokens.NewAmount(nil, tokens.BTC()), "0.00000000", "0", "unknown amount of BTC"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := tc.amount.Decimal(); got != tc.decimal {
				t.Errorf("Decimal %q, want %q", got, tc.decimal)
			}
			if got := tc.amount.Units(); got != tc.units {
				t.Errorf("Units %q, want %q", got, tc.units)
			}
			if got := tc.amount.String(); got != tc.text {
				t.Errorf("String %q, want %q", got, tc.text)
			}
		})
	}
}

func FuzzParseDecimal(f *testing.F) {
	seed := struct{ Text string }{}
	for _, c := range vectors.Load(f, "utilities", "decimal_parse").Cases {
		c.Input(f, &seed)
		f.Add(seed.Text, 8)
	}
	f.Fuzz(func(t *testing.T, text string, decimals int) {
		decimals %= 80
		raw, err := tokens.ParseDecimal(text, decimals)
		if err != nil {
			return
		}
		if raw.Sign() < 0 {
			t.Fatalf("%q is negative: %s", text, raw)
		}
		back, err := tokens.ParseDecimal(format(raw, decimals, max(decimals, 0)), decimals)
		if len(text) < 70 && (err != nil || back.Cmp(raw) != 0) {
			t.Fatalf("%q: %s became %s: %v", text, raw, back, err)
		}
	})
}

func BenchmarkFormatDecimal(b *testing.B) {
	raw, _ := new(big.Int).SetString("123456789012345678901", 10)
	b.ReportAllocs()
	for b.Loop() {
		format(raw, 18, 9)
	}
}

func BenchmarkParseDecimal(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		if _, err := tokens.ParseDecimal("123.00051040", 8); err != nil {
			b.Fatal(err)
		}
	}
}

// format is the text of an amount of a token with these decimals.
func format(raw *big.Int, decimals, shown int) string {
	return tokens.NewAmount(raw, tokens.Token{Decimals: decimals, DisplayDecimals: shown}).Decimal()
}
