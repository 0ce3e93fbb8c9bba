package psbt

import (
	"errors"
	"testing"

	"github.com/btcsuite/btcd/wire"

	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/internal/trial"
)

// Whatever a backend says of a coin's parents and of the fee rate, and whatever rate a
// provider or the caller names: no transaction is built that pays miners more than the
// bound, and none that is relayed with nothing.
func TestFundingIsBoundedInSats(t *testing.T) {
	w := trial.Must(uncheckedWallet(testAddress(t, bitcoin.P2WPKH), nil))(t)
	pay := testAddress(t, bitcoin.P2WPKH).Script()
	const whole = 100_000_000
	for name, c := range map[string]struct {
		pay, ppm int64
		rate     float64
		coins    []Coin
		fee      int64 // -1: refused
	}{
		"an ordinary day":                       {100_000, 0, 20, []Coin{coinOf(1, whole, nil)}, 141 * 20},
		"a dear day":                            {100_000, 0, 700, []Coin{coinOf(1, whole, nil)}, 141 * 700},
		"a dearer one":                          {100_000, 0, 710, []Coin{coinOf(1, whole, nil)}, -1},
		"a dearer one, for more":                {2_010_000, 0, 710, []Coin{coinOf(1, whole, nil)}, 141 * 710},
		"a dearer one, where the policy is lax": {100_000, 2_000_000, 710, []Coin{coinOf(1, whole, nil)}, 141 * 710},
		"a policy that is strict":               {100_000, 1, 700, []Coin{coinOf(1, whole, nil)}, 141 * 700},
		"a rate of thousands":                   {100_000, 0, 10_000, []Coin{coinOf(1, whole, nil)}, -1},
		"parents":                               {100_000, 0, 20, []Coin{coinOf(1, whole, &bitcoin.CPFP{EffectiveFeeRate: 5, AdjustedVSize: 1000})}, 141*20 + 15_000},
		"parents that pay nothing":              {100_000, 0, 20, []Coin{coinOf(1, whole, &bitcoin.CPFP{AdjustedVSize: 101_000})}, -1},
		"the same for more":                     {42_000_000, 0, 20, []Coin{coinOf(1, whole, &bitcoin.CPFP{AdjustedVSize: 101_000})}, 141*20 + 101_000*20},
		"parents that no node relays":           {42_000_000, 0, 1, []Coin{coinOf(1, whole, &bitcoin.CPFP{AdjustedVSize: 101_001})}, -1},
		"parents that weigh as much as a block": {100_000, 0, 20, []Coin{coinOf(1, whole, &bitcoin.CPFP{AdjustedVSize: 4_000_000})}, -1},
		"such parents beside a good coin":       {100_000, 0, 20, []Coin{coinOf(1, whole, &bitcoin.CPFP{AdjustedVSize: 4_000_000}), coinOf(2, whole/2, nil)}, 141 * 20},
		"parents that no node relays together":  {90_000_000, 0, 1, []Coin{coinOf(1, 50_000_000, &bitcoin.CPFP{AdjustedVSize: 60_000}), coinOf(2, 50_000_000, &bitcoin.CPFP{AdjustedVSize: 60_000})}, -1},
	} {
		template := PaymentTemplate(pay, c.pay)
		template.MaxFeePPM = c.ppm
		f, err := Fund(template, w, c.coins, c.rate, Cheapest)
		if c.fee < 0 {
			if fault.CodeOf(err) != fault.InvalidInput {
				t.Errorf("%s: %v, %+v; want a refusal", name, err, f)
			}
			continue
		}
		if err != nil || f.Fee != c.fee {
			t.Errorf("%s: fee %+v, %v; want %d sats", name, f, err, c.fee)
			continue
		}
		p, err := f.PSBT(nil)
		if err != nil || p.Fee != c.fee {
			t.Errorf("%s: shown are %+v, %v", name, p, err)
		}
	}
	_, err := Fund(PaymentTemplate(pay, 100_000), w, []Coin{coinOf(1, whole, &bitcoin.CPFP{AdjustedVSize: 50_000})}, 20, Cheapest)
	if e, ok := errors.AsType[*FeeError](err); !ok || *e != (FeeError{Fee: 141*20 + 1_000_000, ForParents: 1_000_000, Max: SmallMinerFee, Pay: 100_000}) {
		t.Errorf("%v", err)
	}
}

// A vault's template pays the provider alone: what goes from the vault to the vault
// raises no bound.
func TestVaultsOwnSatsRaiseNoBound(t *testing.T) {
	vault := wire.TxOut{Value: 5_000_000_000}
	in := Template{Inputs: []TemplateInput{{Output: vault}}, Outputs: []wire.TxOut{vault, {}, {Value: 10_000_000}}}
	if got := in.MaxFee(); got != 500_000 {
		t.Errorf("a fee of %d sats is accepted", got)
	}
	in.MaxFeePPM = 20_000
	if got := in.MaxFee(); got != 200_000 {
		t.Errorf("a fee of %d sats is accepted with 2 %%", got)
	}
}

// A signed transaction is held to the same bound in sats, whatever a backend says of
// rates and parents.
func TestSignedFeeIsBoundedInSats(t *testing.T) {
	lie := map[bitcoin.Hash]bitcoin.CPFP{{1}: {AdjustedVSize: 4_000_000}}
	for name, c := range map[string]struct {
		pay, ppm, fee int64
		parents       map[bitcoin.Hash]bitcoin.CPFP
		ok            bool
	}{
		"the most":                           {100_000, 0, 100_000, nil, true},
		"a sat more":                         {100_000, 0, 100_001, nil, false},
		"parents that are made up":           {100_000, 0, 100_001, lie, false},
		"the most of much":                   {10_000_000, 0, 500_000, nil, true},
		"a sat more of much":                 {10_000_000, 0, 500_001, nil, false},
		"more of much, by the policy":        {10_000_000, 60_000, 600_000, nil, true},
		"most of a coin, as was shown":       {100_000, 0, 80_002_820, lie, false},
		"a policy below what always passes":  {100_000, 1, 100_000, nil, true},
		"a sat more than what always passes": {100_000, 1, 100_001, nil, false},
	} {
		s := weighed(c.pay+c.fee, c.pay, 22)
		s.Tx.TxIn[0].PreviousOutPoint.Hash = bitcoin.Hash{1}
		template := PaymentTemplate(s.Tx.TxOut[0].PkScript, c.pay)
		template.MaxFeePPM = c.ppm
		err := s.weigh(Agreement{Template: template, Unconfirmed: c.parents, MaxFeeRate: 10_000})
		if err == nil {
			err = s.bounded(&template)
		}
		if (err == nil) != c.ok {
			t.Errorf("%s: %v", name, err)
		}
	}
}
