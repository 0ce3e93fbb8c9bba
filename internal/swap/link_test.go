package swap

import (
	"math"
	"math/big"
	"strconv"
	"strings"
	"testing"

	"github.com/swapper-go/swapper/internal/btc/rawtx"
	"github.com/swapper-go/swapper/internal/trial"
	"github.com/swapper-go/swapper/internal/vectors"
)

func TestVectorsHyperlinksBitcoin(t *testing.T) {
	vectors.Each(t, "bitcoin", "hyperlinks_bitcoin", func(t *testing.T, c *vectors.Case) {
		var in struct{ Address, AmountSats string }
		c.Input(t, &in)
		var want struct{ Reference, Recommended string }
		c.Expected(t, &want)
		sats := trial.Must(strconv.ParseInt(in.AmountSats, 10, 64))(t)
		got := BitcoinLink(in.Address, sats)
		if got != want.Recommended {
			t.Errorf("got %s, want %s", got, want.Recommended)
		}
		if want.Reference != want.Recommended {
			head, amount, _ := strings.Cut(want.Reference, "=")
			ours, plain, _ := strings.Cut(got, "=")
			a, ok := new(big.Rat).SetString(amount)
			b, same := new(big.Rat).SetString(plain)
			if !strings.Contains(amount, "e") || head != ours || !ok || !same || a.Cmp(b) != 0 {
				t.Errorf("%s differs from %s in more than its exponent", got, want.Reference)
			}
			c.Differ(t, "bitcoin-link-plain-decimal")
		}
	})
}

func TestFormatBTC(t *testing.T) {
	for sats, want := range map[int64]string{
		0: "0", 1: "0.00000001", 10: "0.0000001", 100_000_000: "1", 150_000_000: "1.5", rawtx.MaxMoney: "21000000",
		-1: "-0.00000001", math.MinInt64: "-92233720368.54775808",
	} {
		if got := formatBTC(sats); got != want {
			t.Errorf("%d sats: %s, want %s", sats, got, want)
		}
	}
}

func TestLightningLink(t *testing.T) {
	if got := lightningLink("lnbc1Abc"); got != "lightning:LNBC1ABC" {
		t.Error(got)
	}
}
