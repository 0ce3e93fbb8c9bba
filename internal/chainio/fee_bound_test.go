package chainio

import (
	"errors"
	"math"
	"testing"

	"github.com/btcsuite/btcd/wire"

	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/internal/btc/psbt"
	"github.com/swapper-go/swapper/internal/swap"
	"github.com/swapper-go/swapper/internal/trial"
)

// rich gives the user one coin of a bitcoin. The vault's data make its transaction 281 vB,
// a payment has 141.
func rich(t *testing.T) *scene {
	t.Helper()
	s := newScene(t)
	coin := s.ledger.pay(&wire.TxOut{Value: 100_000_000, PkScript: s.script})
	s.ledger.utxos = []bitcoin.UTXO{{OutPoint: bitcoin.OutPoint{Hash: coin.ID}, Value: 100_000_000, Height: 100}}
	return s
}

// parents says of the user's coin that it is unconfirmed, and of its parents what they
// weigh; they pay nothing.
func (s *scene) parents(vbytes float64) {
	id := s.ledger.utxos[0].Hash
	s.ledger.utxos[0].Height, s.ledger.txs[id].Confirmations = 0, 0
	s.ledger.cpfp[id] = &bitcoin.CPFP{AdjustedVSize: vbytes}
}

// Nobody makes a user pay miners more than the bound for 20,000 sats: not the backend with
// its rates or what it says of parents, not the provider or the payee with a rate, not the
// caller. What is built over the bound by a policy that is lax is refused when it comes
// back signed and the policy is not.
func TestMinersGetNoMoreThanTheBound(t *testing.T) {
	for name, c := range map[string]struct {
		change func(s *scene)
		vault  bool
		code   fault.Code // "": accepted
		field  string
	}{
		"a dear day":                    {func(s *scene) { s.ledger.rates.Fastest = 560 }, false, "", ""},
		"rates of the backend":          {func(s *scene) { s.ledger.rates.Fastest = 600 }, false, fault.InvalidInput, "bitcoinAddress"},
		"rates of the backend, vault":   {func(s *scene) { s.ledger.rates.Fastest = 600 }, true, fault.InvalidInput, "bitcoinAddress"},
		"least rate of the backend":     {func(s *scene) { s.ledger.rates.Minimum = 800 }, false, fault.InvalidInput, "bitcoinAddress"},
		"parents":                       {func(s *scene) { s.parents(15_000) }, false, "", ""},
		"parents that the backend lies": {func(s *scene) { s.parents(20_000) }, false, fault.InvalidInput, "bitcoinAddress"},
		"the same, vault":               {func(s *scene) { s.parents(20_000) }, true, fault.InvalidInput, "bitcoinAddress"},
		"rate of the provider":          {func(s *scene) { s.record.Vault.MinFeeRate = 300 }, true, "", ""},
		"a dearer one":                  {func(s *scene) { s.record.Vault.MinFeeRate = 400 }, true, fault.InvalidInput, "bitcoinAddress"},
		"rate of the payee":             {func(s *scene) { s.ledger.rates.Fastest = 500; s.record.Gas = &swap.GasPart{FeeRate: 9000} }, false, fault.InvalidInput, "bitcoinAddress"},
		"rate of the caller":            {func(s *scene) { s.ledger.rates.Fastest = 480; s.caller.FeeRate = 700 }, false, "", ""},
		"a dearer rate of the caller":   {func(s *scene) { s.ledger.rates.Fastest = 480; s.caller.FeeRate = 730 }, false, fault.InvalidInput, "bitcoinFeeRate"},
	} {
		s := rich(t)
		c.change(s)
		a := &swap.Fund{Vault: c.vault}
		p, err := s.fund(t, a)
		if e, ok := errors.AsType[*fault.Error](err); c.code != "" && (!ok || e.Code != c.code || e.Field != c.field) || c.code == "" && err != nil {
			t.Errorf("%s: built are %+v, %v", name, p, err)
			continue
		}
		s.MaxMinerFeePPM = 100_000_000
		if p, err = s.fund(t, a); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if over := p.Fee > psbt.SmallMinerFee; over != (c.code != "") {
			t.Errorf("%s: shown are %d sats", name, p.Fee)
		}
		signed := s.sign(t, p)
		if in, err := s.Check(t.Context(), s.record, a, []string{signed}); err != nil || in.PSBT.Fee != p.Fee {
			t.Errorf("%s, where the policy allows it: %+v, %v", name, in.PSBT, err)
		}
		s.MaxMinerFeePPM = 0
		if in, err := s.Check(t.Context(), s.record, a, []string{signed}); fault.CodeOf(err) != c.code && err != nil || (err == nil) != (c.code == "") {
			t.Errorf("%s, signed: %+v, %v", name, in, err)
		}
	}
}

// Parents that are larger than what nodes relay make a coin that cannot be spent yet.
func TestCoinsOfHugeParentsWait(t *testing.T) {
	s := rich(t)
	s.parents(4_000_000)
	if p, err := s.fund(t, &swap.Fund{}); fault.CodeOf(err) != fault.InvalidInput {
		t.Errorf("%+v, %v", p, err)
	}
	coin := s.ledger.pay(&wire.TxOut{Value: 50_000, PkScript: s.script})
	s.ledger.utxos = append(s.ledger.utxos, bitcoin.UTXO{OutPoint: bitcoin.OutPoint{Hash: coin.ID}, Value: 50_000, Height: 100})
	if p, err := s.fund(t, &swap.Fund{}); err != nil || p.Fee != 141*5 {
		t.Errorf("beside a good coin: %+v, %v", p, err)
	}
}

// Rates that cannot be move nothing, also of a backend that the embedding program brings.
func TestRatesThatCannotBe(t *testing.T) {
	for name, rates := range map[string]bitcoin.FeeRates{
		"too high":         {Fastest: bitcoin.HighestFeeRate + 1, Minimum: 1},
		"least too high":   {Fastest: 1, Minimum: bitcoin.HighestFeeRate + 1},
		"negative":         {Fastest: -1, Minimum: 1},
		"least negative":   {Fastest: 1, Minimum: -1},
		"no number":        {Fastest: math.NaN(), Minimum: 1},
		"least, no number": {Fastest: 1, Minimum: math.NaN()},
		"infinite":         {Fastest: math.Inf(1), Minimum: 1},
	} {
		s := rich(t)
		s.MaxMinerFeePPM = 1 << 62
		p := trial.Must(s.fund(t, &swap.Fund{}))(t)
		signed := s.sign(t, p)
		s.ledger.rates = rates
		if p, err := s.fund(t, &swap.Fund{}); fault.CodeOf(err) != fault.Upstream {
			t.Errorf("%s: built are %+v, %v", name, p, err)
		}
		if in, err := s.Check(t.Context(), s.record, &swap.Fund{}, []string{signed}); fault.CodeOf(err) != fault.Upstream {
			t.Errorf("%s: accepted is %+v, %v", name, in, err)
		}
	}
}

// What was signed at rates that have fallen since is held to the new ones.
func TestRatesFallWhileTheUserSigns(t *testing.T) {
	s := rich(t)
	s.caller.FeeRate = 16
	p := trial.Must(s.fund(t, &swap.Fund{}))(t)
	signed := s.sign(t, p)
	s.ledger.rates.Fastest = 1
	if in, err := s.Check(t.Context(), s.record, &swap.Fund{}, []string{signed}); fault.CodeOf(err) != fault.InvalidInput {
		t.Errorf("%+v, %v", in, err)
	}
}

// A wallet that adds its own inputs is told how much miners may get.
func TestRawTemplateNamesTheMostForMiners(t *testing.T) {
	s := newScene(t)
	s.caller.Wallet = nil
	for sats, want := range map[uint64]int64{20_000: 100_000, 2_000_000: 100_000, 10_000_000: 500_000} {
		s.record.Bitcoin.Sats = sats
		todo, err := s.BuildAction(t.Context(), s.record, &swap.Fund{Vault: true}, s.caller)
		if err != nil || todo.Raw.MaxFee != want {
			t.Errorf("%d sats: %+v, %v; want %d", sats, todo.Raw, err, want)
		}
	}
}

// A quote says what miners get from a usual wallet, and one whose least rate asks for
// more than the bound is refused.
func TestUsualFee(t *testing.T) {
	for name, c := range map[string]struct {
		vault          bool
		fastest, least float64
		want           int64 // -1: refused
	}{
		"payment":                  {false, 4, 0, 141 * 5},
		"payment on a dear day":    {false, 800, 0, 141 * 1000}, // any wallet may pay, at another rate
		"vault":                    {true, 4, 2, 281 * 5},
		"vault, the quote's rate":  {true, 4, 9, 281 * 9},
		"vault, the most":          {true, 4, 355, 281 * 355},
		"vault, more":              {true, 4, 356, -1},
		"vault, our rate is above": {true, 800, 355, 281 * 1000}, // the caller may name a lower one
	} {
		s := newScene(t)
		s.record.Vault.MinFeeRate = c.least
		got, err := s.UsualFee(s.record, &swap.Fund{Vault: c.vault}, bitcoin.FeeRates{Fastest: c.fastest, Minimum: 1})
		if c.want < 0 {
			if e, ok := errors.AsType[*fault.Error](err); !ok || e.Code != fault.InvalidInput || e.Field != "amount" {
				t.Errorf("%s: %d, %v", name, got, err)
			}
			continue
		}
		if err != nil || got != c.want {
			t.Errorf("%s: %d sats, %v; want %d", name, got, err, c.want)
		}
	}
}
