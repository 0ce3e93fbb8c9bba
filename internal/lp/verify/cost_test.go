package verify

import (
	"encoding/json"
	"errors"
	"testing"

	"github.com/btcsuite/btcd/chaincfg"

	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/internal/bigs"
	"github.com/swapper-go/swapper/internal/lp"
)

// dear is an announced fee of 99 %.
func dear(a Agreed) Agreed {
	a.FeePPM = n(990_000)
	return a
}

// An LP that announces to keep nearly everything is not believed either: what a
// swap may cost is the operator's policy.
func TestAnnouncedFeesAreBounded(t *testing.T) {
	regtest := &chaincfg.RegressionNetParams
	gas := agreed(wei(9600), false)
	gas.Token = gasCoin
	type verify func(Policy) error
	for name, v := range map[string]verify{
		"to bitcoin": func(p Policy) error {
			v := honestToBTC()
			v.want.Agreed, v.want.Policy = dear(v.want.Agreed), p
			v.got.SwapFee, v.got.TotalFee, v.got.Total, v.data.Amount = n(9000), n(9400), n(109_400), "109400"
			return v.verify()
		},
		"from lightning": func(p Policy) error {
			want := FromBTCLNAutoExpected{Agreed: dear(agreed(n(100_000), true)), InvoiceExpected: InvoiceExpected{Network: bitcoin.Regtest, PaymentHash: payHash}}
			want.Policy = p
			_, err := FromBTCLNAuto(want, lp.FromBTCLNAutoQuote{Address: lpKey, Invoice: invoice(t, regtest, payHash, 100_000_000), BTCAmountSwap: n(100_000),
				BTCAmountGas: n(0), Total: n(1000), TotalGas: n(0), TotalFeeBTC: n(99_000), SwapFeeBTC: n(99_000), SwapFee: n(99_000), GasSwapFeeBTC: n(0),
				GasSwapFee: n(0), ClaimerBounty: n(0)}, n(1000), ownNode(200_000))
			return err
		},
		"vault": func(p Policy) error {
			v := honestSPV(t)
			v.want.Agreed, v.want.Policy = dear(v.want.Agreed), p
			v.got.SwapFeeBTC, v.got.TotalFeeBTC, v.got.Total = n(90_000), n(90_015), n(4_995)
			_, err := SPV(v.want, v.got, v.facts)
			return err
		},
		"trusted gas swap": func(p Policy) error {
			want := dear(gas)
			want.Policy = p
			_, err := TrustedLN(want, bitcoin.Regtest, lp.TrustedLNQuote{Invoice: invoice(t, regtest, payHash, 19_200_000), SwapFee: wei(9600), SwapFeeSats: n(9600), Total: wei(9600)})
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			for _, p := range []Policy{{}, {AnyFee: true}} {
				err := v(p)
				lied(t, spares(lp.CheckFeeLimit), err)
				if lp.Punishable(err) {
					t.Errorf("punished for a fee that it announced: %v", err)
				}
			}
			if err := v(Policy{MaxFeePPM: 1_000_000}); err != nil {
				t.Errorf("an operator who wants such LPs: %v", err)
			}
		})
	}
}

func TestWatchtowerPayIsBounded(t *testing.T) {
	for _, x := range []struct {
		pay, swap int64
		policy    Policy
		ok        bool
	}{
		{5_000, 100_000, Policy{}, true},
		{5_001, 100_000, Policy{}, false},
		{90_000, 100_000, Policy{}, false},
		{1_000, 3_000, Policy{}, true}, // a claim costs something, whatever is swapped
		{1_001, 3_000, Policy{}, false},
		{20_000, 100_000, Policy{MaxWatchtowerPPM: 200_000}, true},
		{20_001, 100_000, Policy{MaxWatchtowerPPM: 200_000}, false},
	} {
		err := x.policy.Watchtower(n(x.pay), n(x.swap))
		if (err == nil) != x.ok {
			t.Errorf("%d of %d: %v", x.pay, x.swap, err)
		}
		if err == nil {
			continue
		}
		if e, ok := errors.AsType[*fault.Error](err); !ok || e.Field != "amount" || e.Code != fault.InvalidInput {
			t.Errorf("%d of %d: %v names no field", x.pay, x.swap, err)
		}
	}
}

// With a share of nine tenths the price was right to the last unit, because the
// share was counted as received.
func TestPriceOfVaultSwapsCountsTheWatchtowersShare(t *testing.T) {
	v := honestSPV(t)
	v.want.GasAmount = nil
	v.got.BTCAmountSwap, v.got.BTCAmountGas, v.got.TotalGas, v.got.GasSwapFeeBTC, v.got.GasSwapFee = n(100_000), n(0), n(0), n(0), n(0)
	v.got.SwapFeeBTC, v.got.TotalFeeBTC, v.got.SwapFee = n(310), n(310), n(310)
	share := func(s uint32) error {
		v.want.CallerShare, v.got.CallerFeeShare = s, n(int64(s))
		v.got.Total = bigs.MulDiv(n(99_690), shareUnits, bigs.Add(shareUnits, n(int64(s))))
		v.facts.Vault.Raw = [2]uint64{200_000, 0}
		_, err := SPV(v.want, v.got, v.facts)
		return err
	}
	if err := share(5_000); err != nil {
		t.Errorf("a share of 5 %%: %v", err)
	}
	lied(t, spares(lp.CheckWatchtower), share(900_000))
	lied(t, spares(lp.CheckWatchtower), share(10_000))
	v.want.Policy.MaxWatchtowerPPM = 1_000_000
	if err := share(900_000); err != nil {
		t.Errorf("any share: %v", err)
	}
}

// A bounty of nine tenths passed because gas and bounty were priced together
// and fairly.
func TestBountyOfLightningSwapsIsBounded(t *testing.T) {
	want := FromBTCLNAutoExpected{Agreed: agreed(n(100_000), true), InvoiceExpected: InvoiceExpected{Network: bitcoin.Regtest, PaymentHash: payHash}, Bounty: wei(89_000)}
	got := lp.FromBTCLNAutoQuote{Address: lpKey, Invoice: invoice(t, &chaincfg.RegressionNetParams, payHash, 100_000_000), BTCAmountSwap: n(10_700), BTCAmountGas: n(89_300),
		Total: n(10_660), TotalGas: n(0), TotalFeeBTC: n(306), SwapFeeBTC: n(40), SwapFee: n(40), GasSwapFeeBTC: n(266), GasSwapFee: n(266), ClaimerBounty: wei(89_000)}
	_, err := FromBTCLNAuto(want, got, n(100_000), ownNode(200_000))
	if e, ok := errors.AsType[*fault.Error](err); !ok || e.Field != "amount" || lp.Punishable(err) {
		t.Errorf("got %v", err)
	}
	want.Policy.MaxWatchtowerPPM = 900_000
	if _, err := FromBTCLNAuto(want, got, n(100_000), ownNode(200_000)); err != nil {
		t.Error(err)
	}
}

// The bounty of a legacy swap from Bitcoin grows with the end that the LP names, and
// the LP can take it itself: what it takes beyond a usual end is part of its price.
func TestBountyOfBitcoinSwapsIsInThePrice(t *testing.T) {
	quote := func(hours int64, tell func(*fromBTCTest)) (Accepted, error) {
		v := honestFromBTC(t)
		v.want.Bounty.FeePerBlock, v.want.Bounty.AddFee = wei(20), wei(100) // a header for 20 sats, a claim for 100
		v.data.Expiry = noon.Unix() + hours*3600
		v.data.ClaimerBounty = v.want.Bounty.At(v.data.Expiry).String()
		if tell != nil {
			tell(&v)
		}
		v.got.Escrow, _ = json.Marshal(v.data)
		return FromBTC(v.want, v.got, v.auth, v.funds)
	}
	for _, x := range []struct {
		hours, sats, worsePPM int64
	}{
		{6, 860, 0},    // 36 blocks, 2 that the relay lacks, and the claim
		{7, 980, 1003}, // 5 blocks beyond the usual and one of slack: 100 sats of 99 690
		{11, 1460, 5818},
		{12, 1580, 7021},
	} {
		a, err := quote(x.hours, nil)
		if err != nil {
			t.Errorf("%d hours: %v", x.hours, err)
			continue
		}
		if a.NetworkSats.Int64() != x.sats || a.Price.DifferencePPM.Int64() != x.worsePPM {
			t.Errorf("%d hours: %s sats for the claim, %s ppm worse; want %d, %d", x.hours, a.NetworkSats, a.Price.DifferencePPM, x.sats, x.worsePPM)
		}
	}
	_, err := quote(24, nil)
	lied(t, lp.CheckPrice, err)
	_, err = quote(12, func(v *fromBTCTest) { v.want.Policy.TolerancePPM = 6900 })
	lied(t, lp.CheckPrice, err)
	_, err = quote(12, func(v *fromBTCTest) { v.want.Policy.TolerancePPM = 7021 })
	if err != nil {
		t.Error(err)
	}
	if a, err := quote(12, func(v *fromBTCTest) { v.want.Token.Decimals = -1 }); err != nil || a.Price.DifferencePPM != nil {
		t.Errorf("a token without a price: %v, %v", a.Price.DifferencePPM, err)
	}
}

// Where the chain's fees make the bounty of a usual end too dear for the amount, a
// larger amount is what helps; the LP did what it was asked to do.
func TestDearClaimsAreNotTheLPsFault(t *testing.T) {
	v := honestFromBTC(t)
	v.want.Bounty.AddFee = wei(5001)
	v.data.ClaimerBounty = v.want.Bounty.At(v.data.Expiry).String()
	err := v.verify()
	if e, ok := errors.AsType[*fault.Error](err); !ok || e.Field != "amount" || e.Code != fault.InvalidInput || lp.Punishable(err) {
		t.Errorf("got %v", err)
	}
}
