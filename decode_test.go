package swapper_test

import (
	"encoding/json"
	"math"
	"math/big"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/swapper-go/swapper"
	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/internal/vectors"
	"github.com/swapper-go/swapper/tokens"
)

var sameNumbers = cmp.Comparer(func(a, b *big.Int) bool { return a == b || a != nil && b != nil && a.Cmp(b) == 0 })

func TestVectorsAPIAmount(t *testing.T) {
	vectors.Each(t, "utilities", "api_amount", func(t *testing.T, c *vectors.Case) {
		var in struct {
			Chain, Ticker   string
			Decimals        int
			DisplayDecimals *int
			RawAmount       *string
		}
		c.Input(t, &in)
		token := tokens.Token{Chain: in.Chain, Ticker: in.Ticker, Decimals: in.Decimals, DisplayDecimals: in.Decimals}
		if in.DisplayDecimals != nil {
			token.DisplayDecimals = *in.DisplayDecimals
		}
		amount := tokens.Amount{Token: token}
		if in.RawAmount != nil {
			amount.Raw, _ = new(big.Int).SetString(*in.RawAmount, 10)
		}
		got := swapper.AmountOf(amount)
		vectors.SameJSON(t, c.Want(t), got)
		var back swapper.Amount
		if text, err := json.Marshal(got); err != nil || json.Unmarshal(text, &back) != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(got, back, sameNumbers); diff != "" {
			t.Errorf("read back (-written +read):\n%s", diff)
		}
	})
}

func TestNilBecomesEmpty(t *testing.T) {
	text, err := json.Marshal(swapper.GetSwapStatusOutput{})
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`"steps":[]`, `"currentAction":null`, `"rawAmount":"0"`} {
		if !strings.Contains(string(text), want) {
			t.Errorf("no %s in %s", want, text)
		}
	}
	for _, absent := range []string{"lnurl", "flags", "escrow", "requiresSecretReveal", "actionError", "networkOutput"} {
		if strings.Contains(string(text), absent) {
			t.Errorf("%s in %s", absent, text)
		}
	}
}

func TestUnionsAreExact(t *testing.T) {
	for name, v := range map[string]any{
		"no action":        swapper.Action{},
		"two actions":      swapper.Action{Wait: &swapper.Wait{}, SendToAddress: &swapper.SendToAddress{}},
		"no transaction":   swapper.Action{SignPSBT: &swapper.SignPSBT{}},
		"mixed":            swapper.Action{SignPSBT: &swapper.SignPSBT{Funded: make([]swapper.FundedPSBT, 1), Raw: make([]swapper.RawPSBT, 1)}},
		"no LNURL":         swapper.LNURL{},
		"both LNURL kinds": swapper.LNURL{Pay: &swapper.LNURLPay{}, Withdraw: &swapper.LNURLWithdraw{}},
	} {
		if text, err := json.Marshal(v); err == nil {
			t.Errorf("%s: written as %s", name, text)
		}
	}
	for _, text := range []string{
		`{}`, `{"type":"Dance"}`, `{"type":5}`, `[]`, `"Wait"`,
		`{"type":"SignPSBT","txs":[]}`, `{"type":"SignPSBT","txs":[null]}`, `{"type":"SignPSBT","txs":[{"type":"OTHER"}]}`,
		`{"type":"SignPSBT","txs":[{"type":"RAW_PSBT"},{"type":"FUNDED_PSBT"}]}`,
		`{"type":"SignPSBT","txs":[{"type":"RAW_PSBT","in1sequence":-1}]}`,
		`{"type":"SendToAddress","txs":[{"amount":{"rawAmount":1}}]}`,
	} {
		var a swapper.Action
		if err := json.Unmarshal([]byte(text), &a); err == nil {
			t.Errorf("%s read as %+v", text, a)
		}
	}
}

func FuzzReadStatus(f *testing.F) {
	for _, action := range []string{
		`null`,
		`{"type":"Wait","name":"Refund","description":"","expectedTimeSeconds":1.5,"pollTimeSeconds":-1}`,
		`{"type":"SignPSBT","name":"","description":"","chain":"","txs":[{"type":"RAW_PSBT","psbtHex":"","psbtBase64":"","in1sequence":5,"feeRate":1}]}`,
		`{"type":"SignPSBT","name":"","description":"","chain":"","txs":[{"type":"FUNDED_PSBT","signInputs":[1]}]}`,
		`{"type":"SignSmartChainTransaction","txs":["a"],"requiredSigner":"b"}`,
		`{"type":"SendToAddress","txs":[{"type":"BITCOIN_ADDRESS","amount":{"amount":"1","rawAmount":"+1","decimals":0,"symbol":"","chain":""}}]}`,
	} {
		f.Add([]byte(`{"swapId":"a","createdAt":1,"quote":{"expiry":2},"steps":[{"type":"Setup","confirmations":{}}],"escrow":{"data":{}},"currentAction":` + action + `}`))
	}
	f.Add([]byte(`{"address":"a","type":"LNURL","lnurl":{"type":"pay","params":{"decodedMetadata":[["a"],null]}}}`))
	f.Add([]byte(`{"address":"a","type":"LNURL","lnurl":{"type":"withdraw","min":{"rawAmount":"5"}}}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		again[swapper.GetSwapStatusOutput](t, text)
		again[swapper.ParseAddressOutput](t, text)
	})
}

// again checks that what was read can be written and read with the same result.
func again[T any](t *testing.T, text []byte) {
	var first, second T
	if json.Unmarshal(text, &first) != nil {
		return
	}
	written, err := json.Marshal(first)
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	if err := json.Unmarshal(written, &second); err != nil {
		t.Fatalf("%s: %v", written, err)
	}
	third, err := json.Marshal(second)
	if err != nil || string(third) != string(written) {
		t.Errorf("%s became %s: %v", written, third, err)
	}
}

func TestValidate(t *testing.T) {
	two256 := new(big.Int).Lsh(big.NewInt(1), 256)
	good := func() swapper.CreateSwapInput {
		return swapper.CreateSwapInput{SrcToken: "a", DstToken: "b", Amount: big.NewInt(1), AmountType: swapper.ExactIn, DstAddress: "d"}
	}
	create := func(change func(*swapper.CreateSwapInput)) error {
		in := good()
		change(&in)
		return in.Validate()
	}
	hash := strings.Repeat("aF", 32)
	for _, tt := range []struct {
		name  string
		err   error
		field string // empty: fine
	}{
		{"good", create(func(*swapper.CreateSwapInput) {}), ""},
		{"no source", create(func(in *swapper.CreateSwapInput) { in.SrcToken = "" }), "srcToken"},
		{"no destination", create(func(in *swapper.CreateSwapInput) { in.DstToken = "" }), "dstToken"},
		{"no amount", create(func(in *swapper.CreateSwapInput) { in.Amount = nil }), "amount"},
		{"zero", create(func(in *swapper.CreateSwapInput) { in.Amount = new(big.Int) }), "amount"},
		{"negative", create(func(in *swapper.CreateSwapInput) { in.Amount = big.NewInt(-5) }), "amount"},
		{"largest", create(func(in *swapper.CreateSwapInput) { in.Amount = new(big.Int).Sub(two256, big.NewInt(1)) }), ""},
		{"too large", create(func(in *swapper.CreateSwapInput) { in.Amount = two256 }), "amount"},
		{"no type", create(func(in *swapper.CreateSwapInput) { in.AmountType = "" }), "amountType"},
		{"type in other case", create(func(in *swapper.CreateSwapInput) { in.AmountType = "exact_in" }), "amountType"},
		{"no recipient", create(func(in *swapper.CreateSwapInput) { in.DstAddress = "" }), "dstAddress"},
		{"long recipient", create(func(in *swapper.CreateSwapInput) { in.DstAddress = strings.Repeat("a", 8193) }), "dstAddress"},
		{"invalid UTF-8", create(func(in *swapper.CreateSwapInput) { in.SrcAddress = "\xff" }), "srcAddress"},
		{"no gas", create(func(in *swapper.CreateSwapInput) { in.GasAmount = new(big.Int) }), ""},
		{"negative gas", create(func(in *swapper.CreateSwapInput) { in.GasAmount = big.NewInt(-1) }), "gasAmount"},
		{"hash", create(func(in *swapper.CreateSwapInput) { in.PaymentHash = hash }), ""},
		{"hash with prefix", create(func(in *swapper.CreateSwapInput) { in.PaymentHash = "0x" + hash[2:] }), "paymentHash"},
		{"short hash", create(func(in *swapper.CreateSwapInput) { in.PaymentHash = "abcd" }), "paymentHash"},
		{"long description", create(func(in *swapper.CreateSwapInput) { in.LightningInvoiceDescription = strings.Repeat("a", 640) }), "lightningInvoiceDescription"},
		{"bad description hash", create(func(in *swapper.CreateSwapInput) { in.LightningInvoiceDescriptionHash = hash[:63] + "g" }), "lightningInvoiceDescriptionHash"},
		{"zero timeout", create(func(in *swapper.CreateSwapInput) { in.LightningPaymentHTLCTimeout = new(time.Duration(0)) }), "lightningPaymentHTLCTimeout"},
		{"half a second", create(func(in *swapper.CreateSwapInput) { in.LightningPaymentHTLCTimeout = new(1500 * time.Millisecond) }), "lightningPaymentHTLCTimeout"},
		{"two years", create(func(in *swapper.CreateSwapInput) { in.LightningPaymentMaxHTLCTimeout = new(2 * 365 * 24 * time.Hour) }), "lightningPaymentMaxHTLCTimeout"},
		{"maximum below usual", create(func(in *swapper.CreateSwapInput) {
			in.LightningPaymentHTLCTimeout, in.LightningPaymentMaxHTLCTimeout = new(time.Hour), new(time.Minute)
		}), "lightningPaymentMaxHTLCTimeout"},
		{"key", create(func(in *swapper.CreateSwapInput) { in.IdempotencyKey = "a b~" }), ""},
		{"key with control characters", create(func(in *swapper.CreateSwapInput) { in.IdempotencyKey = "a\n" }), "idempotencyKey"},
		{"long key", create(func(in *swapper.CreateSwapInput) { in.IdempotencyKey = strings.Repeat("a", 129) }), "idempotencyKey"},

		{"status", (&swapper.GetSwapStatusInput{SwapID: "a", Secret: swapper.Secret(hash)}).Validate(), ""},
		{"no swap", (&swapper.GetSwapStatusInput{}).Validate(), "swapId"},
		{"secret", (&swapper.GetSwapStatusInput{SwapID: "a", Secret: "zz"}).Validate(), "secret"},
		{"address without key", (&swapper.GetSwapStatusInput{SwapID: "a", BitcoinAddress: "b"}).Validate(), "bitcoinPublicKey"},
		{"key without address", (&swapper.GetSwapStatusInput{SwapID: "a", BitcoinPublicKey: hash}).Validate(), "bitcoinAddress"},
		{"wallet", (&swapper.GetSwapStatusInput{SwapID: "a", BitcoinAddress: "b", BitcoinPublicKey: "02" + hash}).Validate(), ""},
		{"odd key", (&swapper.GetSwapStatusInput{SwapID: "a", BitcoinAddress: "b", BitcoinPublicKey: "2" + hash}).Validate(), "bitcoinPublicKey"},
		{"zero rate", (&swapper.GetSwapStatusInput{SwapID: "a", BitcoinFeeRate: new(0.0)}).Validate(), "bitcoinFeeRate"},
		{"no number", (&swapper.GetSwapStatusInput{SwapID: "a", BitcoinFeeRate: new(math.NaN())}).Validate(), "bitcoinFeeRate"},
		{"endless", (&swapper.GetSwapStatusInput{SwapID: "a", BitcoinFeeRate: new(math.Inf(1))}).Validate(), "bitcoinFeeRate"},

		{"nothing to submit", (&swapper.SubmitTransactionInput{SwapID: "a"}).Validate(), "signedTxs"},
		{"empty transaction", (&swapper.SubmitTransactionInput{SwapID: "a", SignedTxs: []string{"a", ""}}).Validate(), "signedTxs[1]"},
		{"many transactions", (&swapper.SubmitTransactionInput{SwapID: "a", SignedTxs: make([]string, 257)}).Validate(), "signedTxs"},
		{"settle", (&swapper.SettleWithLnurlInput{SwapID: "a"}).Validate(), ""},
		{"no signer", (&swapper.ListSwapsInput{ChainID: "a"}).Validate(), "signer"},
		{"no side", (&swapper.GetSupportedTokensInput{}).Validate(), "side"},
		{"wrong side", (&swapper.GetSwapCounterTokensInput{Token: "a", Side: "BOTH"}).Validate(), "side"},
		{"no second token", (&swapper.GetSwapLimitsInput{SrcToken: "a"}).Validate(), "dstToken"},
		{"no address", (&swapper.ParseAddressInput{}).Validate(), "address"},

		{"balance", (&swapper.GetSpendableBalanceInput{Wallet: "w", Token: "t", MinBitcoinFeeRate: new(0.5), FeeMultiplier: new(1.5)}).Validate(), ""},
		{"zero multiplier", (&swapper.GetSpendableBalanceInput{Wallet: "w", Token: "t", FeeMultiplier: new(0.0)}).Validate(), "feeMultiplier"},
		{"multiplier of nines", (&swapper.GetSpendableBalanceInput{Wallet: "w", Token: "t", FeeMultiplier: new(1e100)}).Validate(), "feeMultiplier"},
		{"minimum of nines", (&swapper.GetSpendableBalanceInput{Wallet: "w", Token: "t", MinBitcoinFeeRate: new(1e100)}).Validate(), "minBitcoinFeeRate"},
		{"rate of nines", (&swapper.GetSwapStatusInput{SwapID: "s", BitcoinFeeRate: new(1e100)}).Validate(), "bitcoinFeeRate"},
		{"rate and multiplier", (&swapper.GetSpendableBalanceInput{Wallet: "w", Token: "t", FeeRate: "1", FeeMultiplier: new(1.0)}).Validate(), "feeMultiplier"},
	} {
		e, _ := tt.err.(*fault.Error)
		switch {
		case tt.field == "" && tt.err != nil:
			t.Errorf("%s: %v", tt.name, tt.err)
		case tt.field != "" && (e == nil || e.Field != tt.field || e.Code != fault.InvalidInput):
			t.Errorf("%s: %v, want an error about %s", tt.name, tt.err, tt.field)
		}
	}
	for rate, good := range map[string]bool{
		"3.5": true, "3": true, "1000;500": true, "1,2": true, "1,2,3;v3": true,
		"0.0": false, "3.5abc": false, "-1": false, "1;": false, ";1": false, "1,": false, "1,2;v3": false, "1,2,3": false, "1,2,3;v2": false,
		"1,2,3,4;v3": false, "1.5;2": false, ".5": false, "5.": false, "1e3": false, "0x1": false, " 1": false, "Infinity": false, "NaN": false,
		strings.Repeat("1", 257): false, strings.Repeat("9", 200) + ".5": true,
	} {
		in := swapper.GetSpendableBalanceInput{Wallet: "w", Token: "t", FeeRate: rate}
		if err := in.Validate(); (err == nil) != good {
			t.Errorf("fee rate %q: %v", rate, err)
		}
	}
}
