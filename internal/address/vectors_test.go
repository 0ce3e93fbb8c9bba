package address

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/internal/vectors"
)

// synchronous is what the reference's variant without a network call answers.
type synchronous struct {
	Type    string
	Address string
	Sats    string // empty if there is no amount
}

func recognised(r Result) synchronous {
	s := synchronous{Type: r.Type, Address: r.Address}
	if r.Amount != nil {
		s.Sats = r.Amount.Units()
	}
	return s
}

// compare checks an answer without network call against the reference's; want is
// nil where it refused. Where they differ it names the rule and checks ours.
func compare(t *testing.T, c *vectors.Case, p *Parser, text string, want *synchronous) {
	t.Helper()
	r, err := p.Recognise(text)
	got := recognised(r)
	switch {
	case err != nil && want == nil:
		return
	case err == nil && want != nil && got == *want:
		return
	}
	sameAsReference(t, p, text, want)
	if id, ok := refusedByRule(text); ok {
		c.Differ(t, id)
		if err == nil {
			t.Errorf("%q is accepted as %+v", text, got)
		}
		return
	}
	if err != nil && want != nil && want.Type == "BITCOIN" {
		if _, bad := bitcoin.ParseAddress(want.Address, p.network); bad != nil {
			c.Differ(t, "bitcoin-address-off-curve")
			return
		}
	}
	if plain := plainly(text); err == nil && plain != text {
		c.Differ(t, "uri-spelling")
		again, err := p.Recognise(plain)
		if diff := cmp.Diff(recognised(again), got); diff != "" || err != nil {
			t.Errorf("%q differs from %q, %v:\n%s", text, plain, err, diff)
		}
		return
	}
	if err != nil && want != nil && onlyLength(text) && want.Type != "BITCOIN" {
		c.Differ(t, "evm-address-form")
		return
	}
	t.Errorf("%q: got %+v, %v; want %+v", text, got, err, want)
}

func TestVectorsBIP21(t *testing.T) {
	vectors.Each(t, "bitcoin", "bip21", func(t *testing.T, c *vectors.Case) {
		var in struct{ Network, Address string }
		c.Input(t, &in)
		var out *struct {
			Error                     bool
			Address, Type, AmountSats string
			SwapType                  int
		}
		c.Expected(t, &out)
		if out != nil && !out.Error && out.SwapType != map[string]int{"BITCOIN": 2}[out.Type] { // TO_BTC
			t.Errorf("the reference makes swaps of type %d", out.SwapType)
		}
		var want *synchronous
		if out != nil && !out.Error {
			want = &synchronous{out.Type, out.Address, out.AmountSats}
		}
		var stripped string
		if c.Member(t, "strippedAddress", &stripped) && Strip(in.Address) != stripped {
			t.Errorf("stripped to %q, want %q", Strip(in.Address), stripped)
		}
		compare(t, c, parser(t, in.Network), in.Address, want)
	})
}

func TestVectorsCoreParseAddress(t *testing.T) {
	vectors.Each(t, "swap-flows-spv-and-core", "parse_address", func(t *testing.T, c *vectors.Case) {
		var in struct {
			Network, Address string
			Chains           []string
		}
		c.Input(t, &in)
		var out struct {
			Error, None   bool
			Address, Type string
			Amount        *string
		}
		c.Expected(t, &out)
		var want *synchronous
		if !out.Error && !out.None {
			want = &synchronous{Type: out.Type, Address: out.Address}
			if out.Amount != nil {
				want.Sats = *out.Amount
			}
		}
		compare(t, c, parser(t, in.Network, in.Chains...), in.Address, want)
	})
}

func TestVectorsBitcoinAddresses(t *testing.T) {
	vectors.Each(t, "bitcoin", "addresses", func(t *testing.T, c *vectors.Case) {
		var in struct{ Network, Address string }
		c.Input(t, &in)
		var out struct{ ValidAddress bool }
		c.Expected(t, &out)
		var want *synchronous
		if out.ValidAddress {
			want = &synchronous{Type: "BITCOIN", Address: in.Address}
		}
		compare(t, c, parser(t, in.Network), in.Address, want)
	})
}
