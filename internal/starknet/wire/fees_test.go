package wire

import (
	"math/big"
	"strconv"
	"strings"
	"testing"

	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/internal/trial"
	"github.com/swapper-go/swapper/internal/vectors"
)

func TestVectorsFees(t *testing.T) {
	vectors.Each(t, "chain-starknet", "fees", func(t *testing.T, c *vectors.Case) {
		var in struct {
			Fn, Kind                                        string
			FeeRate                                         *string
			PayIn, PayOut                                   bool
			L1GasPriceFri, L2GasPriceFri, L1DataGasPriceFri string
			Gas                                             struct{ L1Gas, L2Gas, L1DataGas uint64 }
		}
		c.Input(t, &in)
		var rate FeeRate
		if in.FeeRate != nil && in.Fn != "parseFeeRate" {
			rate = feeRateOf(t, *in.FeeRate)
		}
		switch in.Fn {
		case "getFeeRate":
			r := trial.Must(RateFor(bigOf(t, in.L1GasPriceFri), bigOf(t, in.L2GasPriceFri), bigOf(t, in.L1DataGasPriceFri)))(t)
			var want struct{ FeeRate string }
			c.Expected(t, &want)
			if r.String() != want.FeeRate || CheckFeeRate(r.String()) != nil {
				t.Errorf("%s, want %s", r, want.FeeRate)
			}
		case "parseFeeRate":
			r, err := ParseFeeRate(*in.FeeRate)
			switch *in.FeeRate {
			case "1,2,3,4;v3", "0x10,0xff,1;v3", " 1,2 ,3;v3", ",,;v3", "-1,2,3;v3":
				c.Differ(t, "stark-fee-rate")
				if fault.CodeOf(err) != fault.InvalidInput || fieldOf(err) != "feeRate" {
					t.Errorf("accepted, or refused for %v", err)
				}
			default:
				if !c.Refuses(t, err) {
					vectors.SameJSON(t, c.Want(t), map[string]string{"l1GasCost": r.L1.String(), "l2GasCost": r.L2.String(), "l1DataGasCost": r.L1Data.String()})
				}
			}
		case "gasFee":
			g := Gas{in.Gas.L1Gas, in.Gas.L2Gas, in.Gas.L1DataGas}
			got := map[string]any{"fee": rate.Cost(g).String()}
			if in.FeeRate != nil {
				b := rate.Bounds(g)
				if b.MaxFee().Cmp(rate.Cost(g)) != 0 {
					t.Errorf("bounds of %s cost %s", rate.Cost(g), b.MaxFee())
				}
				bound := func(b Bound) map[string]string {
					return map[string]string{"max_amount": strconv.FormatUint(b.MaxAmount, 10), "max_price_per_unit": b.MaxPrice.String()}
				}
				got["details"] = map[string]any{"version": "0x3", "tip": "0", "paymasterData": []string{}, "nonceDataAvailabilityMode": "L1", "feeDataAvailabilityMode": "L1",
					"resourceBounds": map[string]any{"l1_gas": bound(b.L1), "l2_gas": bound(b.L2), "l1_data_gas": bound(b.L1Data)}}
			}
			vectors.SameJSON(t, c.Want(t), got)
		case "swapFees":
			k, known := kindNames[in.Kind]
			if !known { // the kind of an escrow is always known here; the reference leaves the handler's part out
				vectors.SameJSON(t, c.Want(t), map[string]string{"claimFee": rate.Cost(claimGas(in.PayOut)).String()})
				return
			}
			vectors.SameJSON(t, c.Want(t), map[string]string{"commitFee": rate.Cost(initGas(in.PayIn)).String(), "claimFee": rate.ClaimCost(k, in.PayOut).String(), "refundFee": rate.Cost(refundGas(in.PayIn)).String()})
		case "spvFees":
			vectors.SameJSON(t, vectors.Without(t, c.Want(t), "frontFee"), map[string]string{"claimFeeWithoutWithdrawal": rate.VaultClaimCost(false).String(), "claimFeeWithWithdrawal": rate.VaultClaimCost(true).String(),
				"feePerBlockheader": rate.HeaderCost().String()})
		default:
			t.Fatalf("unknown %s", in.Fn)
		}
	})
}

func TestCheckFeeRate(t *testing.T) {
	for s, good := range map[string]bool{
		"1,2,3;v3": true, "0,0,0;v3": true, "340282366920938463463374607431768211455,1,1;v3": true,
		"340282366920938463463374607431768211456,1,1;v3": false,
		"": false, ";v3": false, "1,2;v3": false, "1,2,3": false, "1,2,3;v1": false, "1,2,3,4;v3": false, "1,,3;v3": false, "1,-2,3;v3": false,
		"1, 2,3;v3": false, "1.5,2,3;v3": false, "1,2,3;v3;v3": false, strings.Repeat("9", 40) + ",1,1;v3": false, "٣,2,3;v3": false, strings.Repeat("0", 198) + ",1,1;v3": false,
	} {
		err := CheckFeeRate(s)
		if good != (err == nil) || !good && fault.CodeOf(err) != fault.InvalidInput {
			t.Errorf("%q: %v", s, err)
		}
	}
}

func TestRateForRefuses(t *testing.T) {
	one, huge := big.NewInt(1), new(big.Int).Lsh(big.NewInt(1), 120)
	for i, p := range [][3]*big.Int{{nil, one, one}, {one, big.NewInt(-1), one}, {one, one, huge}} {
		if _, err := RateFor(p[0], p[1], p[2]); fault.CodeOf(err) != fault.Upstream {
			t.Errorf("%d: %v", i, err)
		}
	}
}

// What a wallet keeps covers the bounds of the dearest opening that it can be handed.
func TestReserveCoversTheBounds(t *testing.T) {
	r := feeRateOf(t, "7,11,13;v3")
	for deployed, gas := range map[bool]Gas{true: gasInitPayIn.plus(gasApprove, gasApprove), false: gasInitPayIn.plus(gasApprove, gasApprove, gasDeploy)} {
		if got := r.ReserveCost(deployed); got.Cmp(r.Cost(gas)) != 0 || got.Cmp(r.Cost(initGas(true))) <= 0 {
			t.Errorf("deployed %v: %s", deployed, got)
		}
	}
	if g := (Gas{L2: 1<<64 - 1}).plus(Gas{L2: 5}); g.L2 != 1<<64-1 {
		t.Errorf("a sum wrapped to %d", g.L2)
	}
}
