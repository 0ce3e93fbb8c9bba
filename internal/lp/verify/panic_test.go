package verify

import (
	"encoding/json"
	"math"
	"math/big"
	"reflect"
	"testing"

	"github.com/btcsuite/btcd/chaincfg"
	"pgregory.net/rapid"

	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/internal/lp"
)

// spoil replaces some numbers of the struct that v points to by others, odd ones
// among them.
func spoil(t *rapid.T, v any) {
	numbers := []*big.Int{nil, n(-1), n(0), n(1), n(99_999), n(math.MaxInt64), new(big.Int).Lsh(n(1), 64), new(big.Int).Lsh(n(1), 255), new(big.Int).Lsh(n(-1), 4096)}
	s := reflect.ValueOf(v).Elem()
	for i := range s.NumField() {
		f := s.Field(i)
		if !f.CanSet() || rapid.IntRange(0, 3).Draw(t, s.Type().Field(i).Name) != 0 {
			continue
		}
		switch f.Interface().(type) {
		case *big.Int:
			f.Set(reflect.ValueOf(rapid.SampledFrom(numbers).Draw(t, "number")))
		case int64:
			f.SetInt(rapid.SampledFrom([]int64{math.MinInt64, -1, 0, 1, 1 << 40, math.MaxInt64}).Draw(t, "int"))
		case float64:
			f.SetFloat(rapid.SampledFrom([]float64{math.NaN(), math.Inf(1), math.Inf(-1), -1, 0, 1e300}).Draw(t, "float"))
		case string:
			f.SetString(rapid.SampledFrom([]string{"", "x", "0x", "ln", ":", f.String()}).Draw(t, "text"))
		case json.RawMessage:
			f.SetBytes([]byte(rapid.SampledFrom([]string{"", "null", "{}", "[]", `{"type":-1,"amount":"1"}`}).Draw(t, "json")))
		}
	}
}

// No answer makes a verification panic, and none that was changed in a number
// that counts passes as another one.
func TestAnyNumbers(t *testing.T) {
	inv := invoice(t, &chaincfg.RegressionNetParams, payHash, 100_000_000)
	rapid.Check(t, func(r *rapid.T) {
		b := honestToBTC()
		b.got.Escrow, _ = json.Marshal(b.data)
		spoil(r, &b.got)
		if a, err := ToBTC(b.want, b.got, b.auth); err == nil && (a.Output.Int64() != 100_000 || a.Input.Int64() != 100_710 || a.SwapFee.Int64() > 400) {
			r.Errorf("accepted %+v", a)
		}
		s := honestSPV(t)
		spoil(r, &s.got)
		if a, err := SPV(s.want, s.got, s.facts); err == nil && (a.Input.Int64() != 100_000 || a.Output.Int64() < 93_600) {
			r.Errorf("accepted %+v", a)
		}
		agreedOn := FromBTCLNAutoExpected{Agreed: agreed(n(100_000), true), InvoiceExpected: InvoiceExpected{Network: bitcoin.Regtest, PaymentHash: payHash}, GasAmount: wei(4000), Bounty: wei(985)}
		auto := lp.FromBTCLNAutoQuote{Address: lpKey, Invoice: inv, BTCAmountSwap: n(95_000), BTCAmountGas: n(5000), Total: n(94_705), TotalGas: wei(4000), TotalFeeBTC: n(310),
			SwapFeeBTC: n(295), SwapFee: n(295), GasSwapFeeBTC: n(15), GasSwapFee: n(15), ClaimerBounty: wei(985)}
		spoil(r, &auto)
		if a, err := FromBTCLNAuto(agreedOn, auto, n(94_705), ownNode(200_000)); err == nil && (a.Input.Int64() != 100_000 || a.Output.Int64() < 93_600) {
			r.Errorf("accepted %+v", a)
		}
		self := lp.FromBTCLNQuote{Invoice: inv, SwapFee: n(310), Total: n(99_690), Address: lpKey, SecurityDeposit: wei(100)}
		spoil(r, &self)
		if a, err := FromBTCLN(FromBTCLNExpected{agreedOn.Agreed, agreedOn.InvoiceExpected}, self, n(99_690), ownNode(200_000)); err == nil && a.Output.Int64() < 98_700 {
			r.Errorf("accepted %+v", a)
		}
		old := lp.FromBTCQuote{Amount: n(100_000), BTCAddress: "x", SwapFee: n(310), Total: n(99_690), Confirmations: 2}
		spoil(r, &old)
		if _, err := FromBTC(FromBTCExpected{Agreed: agreedOn.Agreed, Network: bitcoin.Regtest}, old, goodAuth, n(1)); err == nil {
			r.Error("accepted an escrow that is none")
		}
		gas := lp.TrustedBTCQuote{BTCAddress: "x", AmountSats: n(9700), SwapFeeSats: n(100), SwapFee: wei(100), Total: wei(9600), Sequence: n(0), ExpiresAt: 1}
		spoil(r, &gas)
		if _, err := TrustedBTC(agreedOn.Agreed, bitcoin.Regtest, gas); err == nil {
			r.Error("accepted an address that is none")
		}
	})
}
