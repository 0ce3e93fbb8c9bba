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
	"github.com/swapper-go/swapper/internal/trial"
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
	text := trial.Must(json.Marshal(swapper.GetSwapStatusOutput{}))(t)
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
		"no transaction": &swapper.SignPSBT{},
		"mixed":          &swapper.SignPSBT{Funded: make([]swapper.FundedPSBT, 1), Raw: make([]swapper.RawPSBT, 1)},
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
		if a, err := swapper.UnmarshalAction([]byte(text)); err == nil {
			t.Errorf("%s read as %+v", text, a)
		}
		var s swapper.GetSwapStatusOutput
		if err := json.Unmarshal([]byte(`{"currentAction":`+text+`}`), &s); err == nil || s.CurrentAction != nil {
			t.Errorf("%s read as %+v, %v", text, s.CurrentAction, err)
		}
	}
	for _, text := range []string{`{}`, `{"type":"Pay"}`, `{"type":5}`, `[]`, `"pay"`, `{"type":"pay","min":1}`, `{"type":"withdraw","params":1}`} {
		var out swapper.ParseAddressOutput
		if err := json.Unmarshal([]byte(`{"lnurl":`+text+`}`), &out); err == nil || out.LNURL != nil {
			t.Errorf("%s read as %+v, %v", text, out.LNURL, err)
		}
	}
}

// What is read replaces what was there, but for what is not mentioned, as everywhere in package encoding/json.
func TestUnionsAreReadAsOtherMembers(t *testing.T) {
	was := &swapper.Wait{Name: "before"}
	for text, want := range map[string]swapper.Action{
		`{}`: was, `null`: was, `{"currentAction":null}`: nil,
		`{"currentAction":{"type":"Wait","name":"after"}}`: &swapper.Wait{Name: "after"},
	} {
		s := swapper.GetSwapStatusOutput{CurrentAction: was}
		if err := json.Unmarshal([]byte(text), &s); err != nil {
			t.Error(err)
		}
		if diff := cmp.Diff(want, s.CurrentAction); diff != "" {
			t.Errorf("%s (-want +got):\n%s", text, diff)
		}
	}
}

func TestTimesInJSON(t *testing.T) {
	at := func(ms int64) swapper.Timestamp { return swapper.Timestamp{Time: time.UnixMilli(ms)} }
	for _, tt := range []struct {
		v    any
		want string
	}{
		{swapper.Timestamp{}, `0`}, {at(0), `0`}, {at(1795214525447), `1795214525447`}, {at(-1), `-1`},
		{swapper.Timestamp{Time: time.Unix(1, 999_999).UTC()}, `1000`},
		{swapper.Wait{ExpectedTime: -1, PollTime: 5 * time.Second}, `{"type":"Wait","name":"","description":"","expectedTimeSeconds":-1,"pollTimeSeconds":5}`},
		{&swapper.Wait{Name: "n", ExpectedTime: 1500 * time.Millisecond}, `{"type":"Wait","name":"n","description":"","expectedTimeSeconds":1.5,"pollTimeSeconds":0}`},
		{swapper.Confirmations{Current: 1, Target: 3, ETA: 20 * time.Minute}, `{"current":1,"target":3,"etaSeconds":1200}`},
		{swapper.Confirmations{ETA: -time.Hour}, `{"current":0,"target":0,"etaSeconds":-1}`},
		{swapper.Confirmations{ETA: 1999 * time.Millisecond}, `{"current":0,"target":0,"etaSeconds":1}`},
	} {
		if text, err := json.Marshal(tt.v); err != nil || string(text) != tt.want {
			t.Errorf("%+v is written as %s, %v, want %s", tt.v, text, err, tt.want)
		}
	}
	for text, want := range map[string]swapper.SwapQuote{`{}`: {}, `{"expiry":0}`: {}, `{"expiry":null}`: {}, `{"expiry":1795214525447}`: {Expiry: at(1795214525447)}} {
		var got swapper.SwapQuote
		if err := json.Unmarshal([]byte(text), &got); err != nil || got.Expiry != want.Expiry || !cmp.Equal(got, want) {
			t.Errorf("%s is read as %v, %v", text, got.Expiry, err)
		}
	}
	for text, want := range map[string]swapper.Wait{
		`-1,"pollTimeSeconds":10`:    {ExpectedTime: -time.Second, PollTime: 10 * time.Second},
		`-0.25,"pollTimeSeconds":-7`: {ExpectedTime: -time.Second, PollTime: -time.Second},
		`-1e300`:                     {ExpectedTime: -time.Second},
		`0.29`:                       {ExpectedTime: 290 * time.Millisecond},
		`9.2233e9`:                   {ExpectedTime: 9223300000 * time.Second},
	} {
		var got swapper.Wait
		if err := json.Unmarshal([]byte(`{"type":"Wait","expectedTimeSeconds":`+text+`}`), &got); err != nil || got != want {
			t.Errorf("%s is read as %+v, %v, want %+v", text, got, err, want)
		}
	}
	for text, says := range map[string]string{
		`{"createdAt":"2026-01-01"}`: "milliseconds", `{"createdAt":1.5}`: "milliseconds", `{"createdAt":1e99}`: "milliseconds", `{"quote":{"expiry":9223372036854775808}}`: "milliseconds",
		`{"currentAction":{"type":"Wait","expectedTimeSeconds":1e10}}`:  "expectedTimeSeconds",
		`{"currentAction":{"type":"Wait","pollTimeSeconds":1e300}}`:     "pollTimeSeconds",
		`{"currentAction":{"type":"Wait","pollTimeSeconds":1e400}}`:     "pollTimeSeconds",
		`{"currentAction":{"type":"Wait","pollTimeSeconds":"5"}}`:       "pollTimeSeconds",
		`{"steps":[{"confirmations":{"etaSeconds":1.5}}]}`:              "etaSeconds",
		`{"steps":[{"confirmations":{"etaSeconds":9223372036854}}]}`:    "etaSeconds",
		`{"currentAction":{"type":"Wait","expectedTimeSeconds":NaN}}`:   "invalid character",
		`{"currentAction":{"type":"Wait","expectedTimeSeconds":false}}`: "expectedTimeSeconds",
	} {
		var s swapper.GetSwapStatusOutput
		if err := json.Unmarshal([]byte(text), &s); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v, want an error that says %q", text, err, says)
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
