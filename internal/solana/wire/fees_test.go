package wire

import (
	"encoding/json"
	"errors"
	"math"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/internal/trial"
	"github.com/swapper-go/swapper/internal/vectors"
)

func TestVectorsFees(t *testing.T) {
	vectors.Each(t, "chain-solana", "fees", func(t *testing.T, c *vectors.Case) {
		var in struct {
			Fn, Version, FeePayer, Offerer, Claimer, Token, ClaimHash, Signer string
			FeeRate, FetchedFeeRate                                           *string
			ComputeUnits                                                      uint64
			ComputeBudget                                                     *uint32
			IncludeStaticFee, ClaimerATAExists                                bool
			InstructionsBeforeBegin                                           int
			DummyInstruction                                                  ixJSON
			Swap                                                              json.RawMessage
			WSOLAccountAmount, WSOLBalance                                    *json.Number
		}
		c.Input(t, &in)
		var want json.RawMessage
		c.Expected(t, &want)
		p := programs(in.Version)
		var d *SwapData
		if in.Swap != nil {
			d = swapOf(t, in.Swap)
		}
		switch in.Fn {
		case "getPriorityFee":
			f, err := ParseFeeRate(*in.FeeRate)
			switch {
			case *in.FeeRate == "8000" && in.IncludeStaticFee:
				c.Differ(t, "sol-fee-rate")
				same(t, "fee", "400", f.PriorityFee(in.ComputeUnits).String())
				return
			case strings.Trim(*in.FeeRate, "0123456789;#abcdefghijkmnopqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ") != "" || strings.Contains(*in.FeeRate, "0x"):
				c.Differ(t, "sol-fee-rate")
				if fault.CodeOf(err) != fault.InvalidInput {
					t.Errorf("%q was read: %v", *in.FeeRate, err)
				}
				return
			}
			if c.Refuses(t, err) {
				return
			}
			fee := f.PriorityFee(in.ComputeUnits)
			if !in.IncludeStaticFee {
				fee = f.computeFee(in.ComputeUnits)
			}
			vectors.SameJSON(t, want, map[string]string{"fee": fee.String()})
		case "applyFeeRate":
			f, err := ParseFeeRate(*in.FeeRate)
			var all []Instruction
			if err == nil {
				all, err = applied(f, in.ComputeBudget, key(t, in.FeePayer), in.InstructionsBeforeBegin, in.DummyInstruction.instruction(t))
			}
			if !c.Refuses(t, err) {
				vectors.SameJSON(t, want, map[string]any{"instructions": allJSON(all)})
			}
		case "getFeeRate":
			sampledPrice(t, c, want)
		case "estimates":
			f := feeRate(t, *in.FeeRate)
			vectors.SameJSON(t, vectors.Without(t, want, "refundFee"), map[string]string{
				"commitFee": p.InitFee(d, f, in.ClaimerATAExists).String(), "rawCommitFee": p.rawInitFee(d, f).String(),
				"claimFee": ClaimFee(d, f).String(), "rawClaimFee": rawClaimFee(d, f).String(),
				"rawRefundFee": RawRefundFee(d, f).String()})
		case "estimatesNull":
			u := func(n uint64) string { return strconv.FormatUint(n, 10) }
			vectors.SameJSON(t, want, map[string]string{"commitFee": u(2*signatureFee + p.EscrowRent()), "rawCommitFee": u(2 * signatureFee), "rawClaimFee": u(signatureFee), "rawRefundFee": u(3 * signatureFee)})
		case "spendableCommitFee":
			spendableFee(t, c, p, in.FeeRate, *in.FetchedFeeRate, in.WSOLAccountAmount != nil, want)
		default:
			feeAccounts(t, c, p, in.Fn, d, in.Signer, want)
		}
	})
}

// applied puts what a fee rate demands around an instruction, behind some others.
func applied(f FeeRate, units *uint32, payer Key, before int, dummy Instruction) ([]Instruction, error) {
	var n uint32
	if units != nil {
		n = *units
	}
	var all []Instruction
	for range before {
		all = append(all, dummy)
	}
	head, err := f.Head(n, before)
	if err != nil {
		return nil, err
	}
	all = append(append(all, head...), dummy)
	tail, err := f.tail(payer, n, before+1)
	return append(all, tail...), err
}

func spendableFee(t *testing.T, c *vectors.Case, p Programs, given *string, fetched string, wsol bool, want json.RawMessage) {
	t.Helper()
	text := fetched
	if given != nil {
		text = *given
	}
	got := p.DearestInitFee(feeRate(t, text), wsol).String()
	if given == nil || strings.Contains(*given, ";") && strings.Contains(*given, "#") && strings.Count(*given, ";") == 2 {
		vectors.SameJSON(t, want, map[string]string{"commitFee": got})
		return
	}
	// Wrapping costs what it costs, whoever names the fee rate; no base fee is one of 0.
	c.Differ(t, "sol-wrap-cost")
	rate := feeRate(t, text)
	units := uint64(unitsInitPayIn + unitsWrap)
	fee := uint64(2*signatureFee) + p.EscrowRent()
	if !wsol {
		units, fee = units+unitsATA, fee+TokenAccountRent
	}
	same(t, "commit fee", strconv.FormatUint(fee+rate.Price*units/1_000_000+rate.Static, 10), got)
}

func feeAccounts(t *testing.T, c *vectors.Case, p Programs, fn string, d *SwapData, signer string, want json.RawMessage) {
	t.Helper()
	f := feeRate(t, "20000;0")
	var accounts []Key
	switch fn {
	case "getInitPayInFeeRate", "getInitFeeRate":
		c.NotOurs(t, "opening-accounts")
	case "getClaimFeeRate":
		accounts = p.ClaimAccounts(key(t, signer), d)
	case "getRefundFeeRate":
		accounts = p.RefundAccounts(d)
	default:
		t.Fatalf("unknown %s", fn)
	}
	vectors.SameJSON(t, want, map[string]any{"accounts": accounts, "feeRate": f.String()})
}

// sampledPrice takes a price from what a node's estimate or its blocks say.
func sampledPrice(t *testing.T, c *vectors.Case, want json.RawMessage) {
	t.Helper()
	var in struct {
		MaxFeeMicroLamports uint64
		NumSamples, Period  int
		HeliusFeeLevel      string
		Helius              map[string]json.RawMessage
		Slot                uint64
		Blocks              []struct {
			Slot, FeeRewardLamports uint64
			Signatures              int
		}
		StaticFee    *uint64
		BribeAddress *string
		Randoms      []float64
	}
	c.Input(t, &in)
	var f FeeRate
	if in.StaticFee != nil {
		f.Static = *in.StaticFee
	}
	if in.BribeAddress != nil {
		f.Bribe = key(t, *in.BribeAddress)
	}
	if in.Helius != nil {
		var level float64
		if err := json.Unmarshal(in.Helius[in.HeliusFeeLevel], &level); err != nil {
			c.Refuses(t, errors.New("the node's answer has no such level"))
			return
		}
		f.Price = ClampPrice(level, in.MaxFeeMicroLamports)
		if level != math.Trunc(level) {
			c.Differ(t, "sol-fee-fraction")
			same(t, "fee rate", "8001;0", f.String())
			return
		}
	} else {
		draws := in.Randoms
		price, err := SamplePrice(in.Slot, in.Period, in.NumSamples, func(n int) int {
			r := draws[0]
			draws = draws[1:]
			return int(math.Floor(r * float64(n)))
		}, func(slots []uint64) (map[uint64]int64, error) {
			out := map[uint64]int64{}
			for _, s := range slots {
				for _, b := range in.Blocks {
					if b.Slot == s {
						out[s] = BlockPrice(b.FeeRewardLamports, b.Signatures)
					}
				}
			}
			return out, nil
		})
		if c.Refuses(t, err) {
			return
		}
		f.Price = ClampPrice(float64(price), in.MaxFeeMicroLamports)
	}
	vectors.SameJSON(t, want, map[string]string{"feeRate": f.String()})
}

func TestFeeRateTexts(t *testing.T) {
	bribe := "BqEwqyHN1XEUVqGu5mAi8da1bVVLTgRTSn24ZtHxAMiF"
	for text, want := range map[string]string{
		"0": "0;0", "7000": "7000;0", "7000;250": "7000;250", "7000;250;" + bribe: "7000;250;" + bribe,
		"7000#1;0": "7000;0#1;0", "7000;250#0;18446744073709551615": "7000;250#0;18446744073709551615", "7000;250;" + bribe + "#1;5": "7000;250;" + bribe + "#1;5",
	} {
		f, err := ParseFeeRate(text)
		if err != nil {
			t.Errorf("%q: %v", text, err)
			continue
		}
		same(t, text, want, f.String())
		if again, err := ParseFeeRate(f.String()); err != nil || cmp.Diff(f, again) != "" {
			t.Errorf("%q reads back as %v, %v", f, again, err)
		}
	}
	for _, text := range []string{"", ";", "1;", ";1", "-5;0", "0x10;0", "1;0x1", " 1", "1;2;3", "1;2;" + bribe + ";4", "1;2;11111111111111111111111111111111",
		"1#", "1#1", "1#2;0", "1#1;", "1#1;-1", "1#1;2#3", "18446744073709551616", "1;18446744073709551616", "1#1;18446744073709551616", strings.Repeat("1", 300)} {
		if f, err := ParseFeeRate(text); fault.CodeOf(err) != fault.InvalidInput || fieldOf(err) != "feeRate" {
			t.Errorf("%q was read as %v: %v", text, f, err)
		}
	}
}

func TestFeesHaveBounds(t *testing.T) {
	most := FeeRate{Price: math.MaxUint64, Static: math.MaxUint64}
	if _, err := most.Head(1, 0); err == nil {
		t.Error("a price above 64 bits was offered")
	}
	if _, err := (FeeRate{Price: math.MaxUint64, Static: math.MaxUint64, Bribe: Key{1}}).tail(Key{2}, 1_000_000, 0); err == nil {
		t.Error("a bribe above 64 bits was offered")
	}
	for price, want := range map[float64]uint64{math.NaN(): 8000, math.Inf(1): 200000, math.Inf(-1): 8000, 8000.0001: 8001, -1: 8000, 199999.5: 200000} {
		if got := ClampPrice(price, 200000); got != want {
			t.Errorf("%v is clamped to %d, want %d", price, got, want)
		}
	}
	if got := ClampPrice(math.NaN(), 5000); got != 5000 {
		t.Errorf("%d is above the cap", got)
	}
	// Prices of recent blocks count for what they are, not for their minimum (§21.4).
	if got := RecentPrice([]uint64{0, 0, 100, 150000, 150000, 90000, 150000, 0, 1}); got != 150000 {
		t.Errorf("recent price %d", got)
	}
	if RecentPrice(nil) != 0 || RecentPrice([]uint64{7}) != 7 {
		t.Error("few recent prices")
	}
}

// A bribe for a transaction without a limit counts the instructions that get units,
// the transfer of the bribe included.
func TestBribeWithoutLimit(t *testing.T) {
	payer, bribed := Key{1}, Key{2}
	first := Instruction{Program: Key{3}}
	tx := trial.Must(Action{First: &first, Instructions: []Instruction{{Program: Key{4}}, SetLimit(5)}}.Tx(payer, FeeRate{Price: 1_000_000, Static: 7, Bribe: bribed}))(t)
	same(t, "instructions", allJSON([]Instruction{first, {Program: Key{4}}, SetLimit(5), Transfer(payer, bribed, 3*defaultUnits+7)}), allJSON(tx.Instructions))
}
