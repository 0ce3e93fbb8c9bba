package verify

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/big"
	"strings"
	"testing"
	"time"

	"github.com/btcsuite/btcd/chaincfg"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/internal/lp"
	"github.com/swapper-go/swapper/internal/trial"
)

// told is what an accepted answer tells of its amounts, fees and ends.
func told(a Accepted) string {
	var b strings.Builder
	amount := func(name string, v *big.Int) {
		if v != nil {
			fmt.Fprintf(&b, "%s %s; ", name, v)
		}
	}
	amount("in", a.Input)
	amount("out", a.Output)
	amount("fee", a.SwapFee)
	amount("sats", a.SwapFeeSats)
	amount("network", a.NetworkFee)
	amount("sats", a.NetworkSats)
	amount("deposit", a.Deposit)
	amount("off", a.Price.DifferencePPM)
	if a.GasPrice != nil {
		amount("gas off", a.GasPrice.DifferencePPM)
	}
	if a.Escrow != nil {
		fmt.Fprintf(&b, "escrow of %s; ", a.Escrow.Amount)
	}
	if a.Confidence != 0 {
		fmt.Fprintf(&b, "confidence %v; ", a.Confidence)
	}
	if p := a.Payment; p != nil {
		fmt.Fprintf(&b, "pay %d, %d confirmations; ", p.Sats, p.Confirmations)
	}
	if v := a.Vault; v != nil {
		fmt.Fprintf(&b, "vault %s: %d and %d sats for %s and %s, gas fee %s, %s sats, %v sat/vB, %d confirmations, shares %v; ", v.ID.ID, v.Sats[0], v.Sats[1], v.Totals[0], v.Totals[1],
			v.GasFee, v.GasFeeSats, v.MinFeeRate, v.Confirmations, v.Shares)
	}
	fmt.Fprintf(&b, "ends in %s", a.Expires.Sub(noon))
	return b.String()
}

// What is accepted is what the answer said, of every type: what goes in and comes
// out, the fees, the price, the end, and what is to be opened or paid.
func TestWhatIsAccepted(t *testing.T) {
	regtest := &chaincfg.RegressionNetParams
	gas := agreed(wei(9600), false)
	gas.Token = gasCoin
	paid := regtestAddress(t, bitcoin.P2WPKH, 20)
	pays := func(t *testing.T, a Accepted, to bitcoin.Address) {
		t.Helper()
		if a.Payment.Address != to.String() || !bytes.Equal(a.Payment.Script, to.Script()) {
			t.Errorf("pays %+v, want %s", a.Payment, to)
		}
	}
	auth := chains.Auth{Signature: "0xsigned"}
	for name, c := range map[string]struct {
		verify func(t *testing.T) (Accepted, error)
		want   string
		more   func(t *testing.T, a Accepted)
	}{
		"to bitcoin": {func(*testing.T) (Accepted, error) {
			v := honestToBTC()
			v.got.Escrow, _ = json.Marshal(v.data)
			v.got.Auth = auth
			return ToBTC(v.want, v.got, v.auth)
		}, "in 100710; out 100000; fee 310; sats 310; network 400; sats 400; off 0; escrow of 100710; ends in 10m0s", func(t *testing.T, a Accepted) {
			if a.Auth == nil || a.Auth.Signature != auth.Signature || a.Escrow.Expiry != noon.Unix()+31_200 {
				t.Errorf("%+v, %+v", a.Auth, a.Escrow)
			}
		}},
		"to lightning": {func(t *testing.T) (Accepted, error) {
			v := honestToBTCLN(t)
			v.got.Escrow, _ = json.Marshal(v.data)
			v.got.Auth = auth
			return ToBTCLN(v.want, v.got, v.auth)
		}, "in 50260; out 50000; fee 160; sats 160; network 100; sats 100; off 0; escrow of 50260; confidence 0.9; ends in 10m0s", func(t *testing.T, a Accepted) {
			if a.Auth == nil || a.Auth.Signature != auth.Signature || a.Invoice == nil || a.Invoice.PaymentHash != payHash {
				t.Errorf("%+v, %+v", a.Auth, a.Invoice)
			}
		}},
		"from bitcoin": {func(t *testing.T) (Accepted, error) {
			v := honestFromBTC(t)
			v.got.Escrow, _ = json.Marshal(v.data)
			v.got.Auth = auth
			return FromBTC(v.want, v.got, v.auth, v.funds)
		}, "in 100000; out 99690; fee 310; sats 310; sats 0; deposit 20000000000000; off 0; escrow of 99690; pay 100000, 2 confirmations; ends in 10m0s", func(t *testing.T, a Accepted) {
			if pays(t, a, paid); a.Auth == nil || a.Auth.Signature != auth.Signature {
				t.Errorf("%+v", a.Auth)
			}
		}},
		"from lightning": {func(t *testing.T) (Accepted, error) {
			v := honestFromBTCLN(t)
			return FromBTCLN(v.want, v.got, v.funds, v.node)
		}, "in 100000; out 99690; fee 310; sats 310; deposit 1000000000000; off 0; escrow of 99690; ends in 1h0m0s", func(t *testing.T, a Accepted) {
			if a.Auth != nil || a.Invoice == nil || a.Invoice.PaymentHash != payHash {
				t.Errorf("%+v, %+v", a.Auth, a.Invoice)
			}
		}},
		"from lightning, by itself": {func(t *testing.T) (Accepted, error) {
			v := honestAuto(t)
			return FromBTCLNAuto(v.want, v.got, v.funds, v.node)
		}, "in 100000; out 94705; fee 295; sats 295; off 0; gas off 0; escrow of 94705; ends in 1h0m0s", func(t *testing.T, a Accepted) {
			if a.Auth != nil || a.Invoice == nil || a.Invoice.PaymentHash != payHash {
				t.Errorf("%+v, %+v", a.Auth, a.Invoice)
			}
		}},
		"vault": {func(t *testing.T) (Accepted, error) {
			v := honestSPV(t)
			return SPV(v.want, v.got, v.facts)
		}, "in 100000; out 94610; fee 295; sats 295; off 10; gas off 4; vault 3: 95000 and 5000 sats for 94610 and 49800000000000, gas fee 150000000000, 15 sats, 2 sat/vB, 2 confirmations, shares {100 0 0}; ends in 10m0s", func(t *testing.T, a Accepted) {
			v := honestSPV(t)
			if a.Vault.ID.Owner != lpKey || a.Vault.LPAddress != v.got.BTCAddress || !bytes.Equal(a.Vault.LPScript, paid.Script()) || !bytes.Equal(a.Vault.Script, regtestAddress(t, bitcoin.P2TR, 32).Script()) || a.Vault.UTXO.String() != v.got.BTCUTXO {
				t.Errorf("%+v", a.Vault)
			}
		}},
		"gas from lightning": {func(t *testing.T) (Accepted, error) {
			return TrustedLN(gas, bitcoin.Regtest, lp.TrustedLNQuote{Invoice: invoice(t, regtest, payHash, 9_640_000), SwapFee: wei(38), SwapFeeSats: n(38), Total: wei(9600)})
		}, "in 9640; out 96000000000000; fee 380000000000; sats 38; off 208; ends in 1h0m0s", func(t *testing.T, a Accepted) {
			if a.Invoice == nil || a.Invoice.PaymentHash != payHash {
				t.Errorf("%+v", a.Invoice)
			}
		}},
		"gas from bitcoin": {func(t *testing.T) (Accepted, error) {
			return TrustedBTC(gas, bitcoin.Regtest, lp.TrustedBTCQuote{BTCAddress: paid.String(), AmountSats: n(9640), SwapFeeSats: n(38), SwapFee: wei(38),
				Total: wei(9600), Sequence: n(0), ExpiresAt: noon.Add(time.Minute).UnixMilli()})
		}, "in 9640; out 96000000000000; fee 380000000000; sats 38; off 208; pay 9640, 0 confirmations; ends in 1m0s", func(t *testing.T, a Accepted) { pays(t, a, paid) }},
	} {
		t.Run(name, func(t *testing.T) {
			a := trial.Must(c.verify(t))(t)
			if got := told(a); got != c.want {
				t.Errorf("accepted\n%s, want\n%s", got, c.want)
			}
			c.more(t, a)
		})
	}
}

// Both amounts of a vault swap have to be as coarse as the vault counts, whichever
// of them the user fixed; what a coarse unit explains is the amount's fault.
func TestVaultUnitsOfAQuote(t *testing.T) {
	for name, c := range map[string]struct {
		exactIn bool
		amount  int64
		gas     int64
		units   [2]*big.Int
		field   string
	}{
		"amount and gas in units":  {false, 70, 30, [2]*big.Int{n(7), n(3)}, ""},
		"amount beside, exact out": {false, 71, 30, [2]*big.Int{n(7), n(3)}, "amount"},
		"amount beside, exact in":  {true, 71, 30, [2]*big.Int{n(7), n(3)}, ""},
		"gas beside, exact out":    {false, 70, 31, [2]*big.Int{n(7), n(3)}, "gasAmount"},
		"gas beside, exact in":     {true, 70, 31, [2]*big.Int{n(7), n(3)}, "gasAmount"},
	} {
		v := honestSPV(t)
		v.want.ExactIn, v.want.Amount, v.want.GasAmount = c.exactIn, n(c.amount), n(c.gas)
		v.facts.Vault.Multipliers = c.units
		err := (&spv{SPVExpected: v.want, got: v.got, facts: v.facts}).fine()
		if c.field == "" && err != nil || c.field != "" && (outcome(err) != tooSmall || !strings.Contains(err.Error(), c.field)) {
			t.Errorf("%s: %v, want a word about %q", name, err, c.field)
		}
	}
	v := honestSPV(t)
	q := &spv{SPVExpected: v.want, got: v.got, facts: v.facts}
	q.got.BTCAmount, q.got.BTCAmountSwap, q.got.SwapFeeBTC, q.got.Total = n(1000), n(1000), n(0), n(960)
	if err := q.fair(); outcome(err) != liar {
		t.Errorf("units of one: %v", err)
	}
	q.facts.Vault.Multipliers[0] = n(40)
	if err := q.fair(); outcome(err) != tooSmall {
		t.Errorf("units of forty: %v", err)
	}
}
