package wire

import (
	"encoding/json"
	"math/big"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/ethereum/go-ethereum/common"

	"github.com/swapper-go/swapper/internal/trial"
	"github.com/swapper-go/swapper/internal/vectors"
)

// anyNetwork returns a deployed network of a chain: its fee rules are the same
// on all of them.
func anyNetwork(t testing.TB, chain string) Network {
	t.Helper()
	for _, p := range published {
		if p.chain == chain {
			return trial.Must(Preset(chain, p.bitcoin))(t)
		}
	}
	t.Fatalf("no network of %s", chain)
	return Network{}
}

// checkLooseRate compares the reference's answer to a rate that is refused here
// for its form: numbers with signs, blanks and in hex, and an empty one as 0.
func checkLooseRate(t *testing.T, want json.RawMessage, rate string, gas uint64) {
	t.Helper()
	parts := strings.Split(rate, ",")
	number := func(i int) string {
		text := strings.TrimSpace(parts[i])
		base := 10
		if strings.HasPrefix(text, "0x") {
			text, base = text[2:], 16
		}
		n, ok := new(big.Int).SetString(text, base)
		if !ok && text != "" {
			t.Fatalf("a rate %q", rate)
		}
		if !ok {
			return "0"
		}
		return n.String()
	}
	priority := number(1)
	base, _ := new(big.Int).SetString(number(0), 10)
	tip, _ := new(big.Int).SetString(priority, 10)
	vectors.SameJSON(t, want, map[string]string{"maxFeePerGas": base.Add(base, tip).String(), "maxPriorityFeePerGas": priority,
		"gasLimit": strconv.FormatUint(gas, 10)})
}

var rateForm = regexp.MustCompile(`^[0-9]+,[0-9]+(,[0-9]+)?$`)

func TestVectorsFees(t *testing.T) {
	vectors.Each(t, "chain-evm", "fees", func(t *testing.T, c *vectors.Case) {
		var in struct {
			Fn, FeeRate, Chain, Signer string
			Gas                        uint64
			BaseFeePerGas, L1FeeRate   string
			Swap                       json.RawMessage
		}
		c.Input(t, &in)
		want := c.Want(t)
		if in.Fn == "getFeeRate" {
			checkFeeRate(t, c, bigOf(t, in.BaseFeePerGas), bigOf(t, in.L1FeeRate))
			return
		}
		rate, err := ParseFeeRate(in.FeeRate)
		if !vectors.Refused(want) && !rateForm.MatchString(in.FeeRate) {
			c.Differ(t, "evm-fee-rate-digits")
			checkLooseRate(t, want, in.FeeRate, in.Gas)
			want = json.RawMessage(`{"error":true}`)
		}
		if vectors.Refused(want) {
			if err == nil {
				t.Errorf("accepted %q as %s", in.FeeRate, rate)
			}
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		signer := common.HexToAddress(in.Signer)
		citrea, plain := anyNetwork(t, ChainCitrea), anyNetwork(t, ChainBotanix)
		var got map[string]any
		switch in.Fn {
		case "getGasFee":
			got = map[string]any{
				"evm":           plain.Cost(rate, in.Gas, 0).String(),
				"citrea":        citrea.costNoTip(rate, in.Gas, 0).String(),
				"citreaDiff100": citrea.costNoTip(rate, in.Gas, 100).String(),
			}
		case "applyFeeRate":
			got = map[string]any{"maxFeePerGas": rate.MaxFeePerGas().String(),
				"maxPriorityFeePerGas": rate.Priority.String(), "gasLimit": new(big.Int).SetUint64(in.Gas).String()}
		case "swapFees":
			want = vectors.Without(t, want, "refund")
			s, n := swapOf(t, in.Swap), anyNetwork(t, in.Chain)
			got = map[string]any{
				"commit":    n.InitCost(rate, s, signer).String(),
				"claim":     n.ClaimCost(rate, s, signer).String(),
				"initGas":   initGas(s),
				"claimGas":  claimGasBase(s),
				"refundGas": refundGas(s),
			}
		case "tokenFees":
			want = vectors.Without(t, want, "transfer")
			n := anyNetwork(t, in.Chain)
			got = map[string]any{"approve": n.approveCost(rate).String(),
				"relayPerBlock": n.HeaderCost(rate).String()}
		case "commitFee":
			got = map[string]any{"commit": anyNetwork(t, in.Chain).InitCost(rate, swapOf(t, in.Swap), signer).String()}
		default:
			t.Fatalf("unknown function %s", in.Fn)
		}
		vectors.SameJSON(t, want, got)
	})
}

// checkFeeRate compares the offered rate, and where the cap would make it lower
// than the block's base fee, checks that the transaction can be mined.
func checkFeeRate(t *testing.T, c *vectors.Case, baseFee, l1Fee *big.Int) {
	t.Helper()
	var want map[string]string
	c.Expected(t, &want)
	got := map[string]string{}
	theirs := map[string]string{} // which cap the base fee without a look at the block's
	stranded := false
	for chain := range want {
		n := anyNetwork(t, chain)
		rate := trial.Must(n.FeeRate(baseFee, l1Fee))(t)
		got[chain] = rate.String()
		if limit := new(big.Int).SetUint64(n.MaxBaseFee); rate.Base.Cmp(limit) > 0 {
			rate.Base = limit
		}
		theirs[chain] = rate.String()
		rate.Base, _ = new(big.Int).SetString(strings.Split(got[chain], ",")[0], 10)
		if again, err := ParseFeeRate(got[chain]); err != nil || again.String() != got[chain] {
			t.Errorf("round trip of %s: %s, %v", got[chain], again, err)
		}
		if stranded = baseFee.Cmp(new(big.Int).SetUint64(n.MaxBaseFee)) > 0; stranded && rate.Base.Cmp(baseFee) < 0 {
			t.Errorf("%s offers %s, below the block's %s", chain, rate.Base, baseFee)
		}
	}
	if stranded {
		c.Differ(t, "evm-fee-cap")
		vectors.SameJSON(t, c.Want(t), theirs)
		return
	}
	vectors.SameJSON(t, c.Want(t), got)
}

func FuzzFeeRate(f *testing.F) {
	for _, s := range []string{"7,100000", "1250000,100000,25000000000", "", ",", "1,2,3,4", "-5,1", "1.5,2", "0x1,2", "1_0,2", " 1,2"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		r, err := ParseFeeRate(s)
		if err != nil {
			return
		}
		again, err := ParseFeeRate(r.String())
		if err != nil || again.String() != r.String() {
			t.Errorf("%q: read as %s, again as %s (%v)", s, r, again, err)
		}
	})
}
