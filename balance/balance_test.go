package balance_test

import (
	"context"
	"errors"
	"math"
	"math/big"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/swapper-go/swapper/balance"
	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/internal/bounds"
	"github.com/swapper-go/swapper/internal/trial"
	"github.com/swapper-go/swapper/tokens"
)

const (
	btcWallet = "bc1qc4r7uygahrmtksus92twhh0l55ym05ku069a9u"
	evmWallet = "0x70997970C51812dc3A010C7d01b50e0d17dc79C8"
)

func cbtc() tokens.Token {
	t, _ := tokens.Native("CITREA")
	return t
}

func float(f float64) *float64 { return &f }

func TestEveryWrongMemberIsNamed(t *testing.T) {
	usdc := tokens.Known("CITREA")[2]
	for name, tt := range map[string]struct {
		q     balance.Query
		code  fault.Code
		field string
	}{
		"lightning":             {balance.Query{Token: tokens.LightningBTC(), Wallet: btcWallet}, fault.Unsupported, "token"},
		"both":                  {balance.Query{Token: tokens.BTC(), Wallet: btcWallet, FeeRate: "1", FeeMultiplier: float(1)}, fault.InvalidInput, "feeMultiplier"},
		"unknown target":        {balance.Query{Token: tokens.BTC(), Wallet: btcWallet, TargetChain: "NOPE"}, fault.Unsupported, "targetChain"},
		"target before wallet":  {balance.Query{Token: tokens.BTC(), Wallet: "x", TargetChain: "NOPE"}, fault.Unsupported, "targetChain"},
		"other network":         {balance.Query{Token: tokens.BTC(), Wallet: "tb1qw508d6qejxtdg4y5r3zarvary0c5xw7kxpjzsx"}, fault.InvalidInput, "wallet"},
		"EVM wallet":            {balance.Query{Token: tokens.BTC(), Wallet: evmWallet}, fault.InvalidInput, "wallet"},
		"Bitcoin wallet":        {balance.Query{Token: cbtc(), Wallet: btcWallet}, fault.InvalidInput, "wallet"},
		"zero wallet":           {balance.Query{Token: cbtc(), Wallet: "0x0000000000000000000000000000000000000000"}, fault.InvalidInput, "wallet"},
		"gas drop":              {balance.Query{Token: cbtc(), Wallet: evmWallet, GasDrop: true}, fault.InvalidInput, "gasDrop"},
		"minimum":               {balance.Query{Token: cbtc(), Wallet: evmWallet, MinFeeRate: float(1)}, fault.InvalidInput, "minBitcoinFeeRate"},
		"Bitcoin rate on EVM":   {balance.Query{Token: cbtc(), Wallet: evmWallet, FeeRate: "5"}, fault.InvalidInput, "feeRate"},
		"rate of a plain token": {balance.Query{Token: usdc, Wallet: evmWallet, FeeRate: "1,2,3;v3"}, fault.InvalidInput, "feeRate"},
		"EVM rate on Bitcoin":   {balance.Query{Token: tokens.BTC(), Wallet: btcWallet, FeeRate: "5,1"}, fault.InvalidInput, "feeRate"},
		"rate with a tail":      {balance.Query{Token: tokens.BTC(), Wallet: btcWallet, FeeRate: "3.5abc"}, fault.InvalidInput, "feeRate"},
		"rate with an exponent": {balance.Query{Token: tokens.BTC(), Wallet: btcWallet, FeeRate: "1e3"}, fault.InvalidInput, "feeRate"},
		"infinite rate":         {balance.Query{Token: tokens.BTC(), Wallet: btcWallet, FeeRate: "Infinity"}, fault.InvalidInput, "feeRate"},
		"zero rate":             {balance.Query{Token: tokens.BTC(), Wallet: btcWallet, FeeRate: "0.0"}, fault.InvalidInput, "feeRate"},
		"negative multiplier":   {balance.Query{Token: cbtc(), Wallet: evmWallet, FeeMultiplier: float(-1)}, fault.InvalidInput, "feeMultiplier"},
		"multiplier of nothing": {balance.Query{Token: cbtc(), Wallet: evmWallet, FeeMultiplier: float(1e-7)}, fault.InvalidInput, "feeMultiplier"},
		"no number":             {balance.Query{Token: tokens.BTC(), Wallet: btcWallet, FeeMultiplier: float(math.NaN())}, fault.InvalidInput, "feeMultiplier"},
		"multiplier of nines":   {balance.Query{Token: cbtc(), Wallet: evmWallet, FeeMultiplier: float(1e100)}, fault.InvalidInput, "feeMultiplier"},
		"nines on Bitcoin":      {balance.Query{Token: tokens.BTC(), Wallet: btcWallet, FeeMultiplier: float(1e100)}, fault.InvalidInput, "feeMultiplier"},
		"minimum of nines":      {balance.Query{Token: tokens.BTC(), Wallet: btcWallet, MinFeeRate: float(1e100)}, fault.InvalidInput, "minBitcoinFeeRate"},
		"rate of nines":         {balance.Query{Token: tokens.BTC(), Wallet: btcWallet, FeeRate: strings.Repeat("9", 100)}, fault.InvalidInput, "feeRate"},
		"infinite minimum":      {balance.Query{Token: tokens.BTC(), Wallet: btcWallet, MinFeeRate: float(math.Inf(1))}, fault.InvalidInput, "minBitcoinFeeRate"},
	} {
		t.Run(name, func(t *testing.T) {
			s := newSetup()
			s.backend.err = errDown // nobody is asked
			s.chains["CITREA"].err = errDown
			_, err := s.estimator().Estimate(t.Context(), tt.q)
			var f *fault.Error
			if !errors.As(err, &f) || f.Code != tt.code || f.Field != tt.field {
				t.Errorf("%#v, want %s of %q", err, tt.code, tt.field)
			}
		})
	}
}

func TestAFailedQuestionIsNoBalance(t *testing.T) {
	for name, q := range map[string]balance.Query{"bitcoin": {Token: tokens.BTC(), Wallet: btcWallet}, "chain": {Token: cbtc(), Wallet: evmWallet}} {
		s := newSetup()
		s.rates.Fastest = 1
		s.backend.err, s.chains["CITREA"].err = errDown, errDown
		if got, err := s.estimator().Estimate(t.Context(), q); !errors.Is(err, errDown) {
			t.Errorf("%s: %v, %v", name, got, err)
		}
	}
	s := newSetup() // a rate of nothing would promise the whole wallet
	if got, err := s.estimator().Estimate(t.Context(), balance.Query{Token: tokens.BTC(), Wallet: btcWallet}); fault.CodeOf(err) != fault.Upstream {
		t.Errorf("%v, %v", got, err)
	}
}

func TestCostKeptBack(t *testing.T) {
	for _, tt := range []struct {
		held, cost, want string
		multiplier       *float64
	}{
		{"100", "7", "93", nil},
		{"100", "100", "0", nil},
		{"100", "101", "0", nil},
		{"0", "0", "0", nil},
		{"1000000", "1000000", "0", float(1.0000009)}, // cut to six places
		{"2000000", "1000000", "999999", float(1.000001)},
		{"2000000", "1000000", "998999", float(1.001001)}, // 1001000.9999999999 as a product of doubles
		{"1", "1", "1", float(0.999999)},                  // the cost is rounded down
		{"115792089237316195423570985008687907853269984665640564039457584007913129639935", "1", "115792089237316195423570985008687907853269984665640564039457584007913129639934", nil},
		{"5", "1", "0", float(bounds.MaxFeeMultiplier)},
	} {
		s := newSetup()
		c := s.chains["CITREA"]
		c.held.SetString(tt.held, 10)
		c.cost.SetString(tt.cost, 10)
		held := new(big.Int).Set(c.held)
		got, err := s.estimator().Estimate(t.Context(), balance.Query{Token: cbtc(), Wallet: evmWallet, FeeMultiplier: tt.multiplier})
		if err != nil || got.Amount.Units() != tt.want {
			t.Errorf("%s less %s: %v, %v, want %s", tt.held, tt.cost, got.Amount.Units(), err, tt.want)
		}
		if c.held.Cmp(held) != 0 {
			t.Error("the chain's own number was changed")
		}
		if (c.paid != chains.Cost{Kind: chains.StepInit, Token: cbtc().Address, Payer: evmWallet}) {
			t.Errorf("asked for the cost of %+v", c.paid)
		}
	}
}

// The estimate must never promise more than the wallet can pay: gas drop, a
// longer recipient and a higher rate each leave less.
func TestBitcoinEstimateShrinks(t *testing.T) {
	s := newSetup()
	s.rates = bitcoin.FeeRates{Fastest: 2, Minimum: 1}
	s.utxos = []bitcoin.UTXO{{Value: 100_000, Height: 1}}
	last := int64(math.MaxInt64)
	for _, q := range []balance.Query{
		{}, {TargetChain: "SOLANA"}, {TargetChain: "CITREA"}, {TargetChain: "CITREA", GasDrop: true}, {TargetChain: "STARKNET", GasDrop: true},
		{TargetChain: "STARKNET", GasDrop: true, FeeMultiplier: float(1.5)}, {TargetChain: "STARKNET", GasDrop: true, FeeMultiplier: float(1.5), MinFeeRate: float(10)},
		{FeeRate: "1000"},
	} {
		q.Token, q.Wallet = tokens.BTC(), btcWallet
		got := trial.Must(s.estimator().Estimate(t.Context(), q))(t)
		now := got.Amount.Raw.Int64()
		if now > last || now == last && q.TargetChain != "SOLANA" {
			t.Errorf("%+v: %d after %d", q, now, last)
		}
		last = now
	}
	if last != 0 {
		t.Errorf("%d sats left where fees eat everything", last)
	}
	s.rates = bitcoin.FeeRates{Fastest: 0.5, Minimum: 1} // as advised, it would not be relayed
	if got, err := s.estimator().Estimate(t.Context(), balance.Query{Token: tokens.BTC(), Wallet: btcWallet}); err != nil || got.FeeRateSatVB != 1 {
		t.Errorf("rate %v, %v", got.FeeRateSatVB, err)
	}
}

// slow answers after a second.
type slow struct{ *backend }

func (b slow) FeeRates(ctx context.Context) (bitcoin.FeeRates, error) {
	time.Sleep(time.Second)
	return b.backend.FeeRates(ctx)
}

func (b slow) AddressUTXOs(ctx context.Context, a bitcoin.Address) ([]bitcoin.UTXO, error) {
	time.Sleep(time.Second)
	return b.backend.AddressUTXOs(ctx, a)
}

func TestQuestionsAreAskedTogether(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSetup()
		s.rates.Fastest = 1
		start := time.Now()
		e := s.estimator()
		e.Bitcoin = slow{s.backend}
		if _, err := e.Estimate(t.Context(), balance.Query{Token: tokens.BTC(), Wallet: btcWallet}); err != nil {
			t.Fatal(err)
		}
		if took := time.Since(start); took != time.Second {
			t.Errorf("took %v", took)
		}
	})
}

// ceil(150.25 of the vault + 43) + 68 of the coin = 262 vB at 3 sats/vB.
func TestWorkedExample(t *testing.T) {
	s := newSetup()
	s.rates.Fastest = 3
	s.utxos = []bitcoin.UTXO{{Value: 100_000, Height: 1}}
	got, err := s.estimator().Estimate(t.Context(), balance.Query{Token: tokens.BTC(), Wallet: btcWallet, TargetChain: "CITREA"})
	if err != nil || got.Amount.Units() != "99214" || got.FeeRateSatVB != 3 {
		t.Errorf("%v at %v, %v", got.Amount, got.FeeRateSatVB, err)
	}
}
