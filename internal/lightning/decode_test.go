package lightning

import (
	"bytes"
	"strings"
	"testing"

	"github.com/btcsuite/btcd/btcutil/bech32"

	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/internal/trial"
)

func TestDecodeFields(t *testing.T) {
	hash := rawField{tagPaymentHash, words32(3)}
	about := rawField{tagDescription, nil}
	hop := bytes.Join([][]byte{testKey.PubKey().SerializeCompressed(), bytes.Repeat([]byte{9}, 18)}, nil)
	hopWords := trial.Must(bech32.ConvertBits(hop, 8, 5, true))(t)
	twoHops := trial.Must(bech32.ConvertBits(append(bytes.Clone(hop), hop...), 8, 5, true))(t)
	long := append([]byte{1}, repeated(0, 8)...) // 2^40 + 0
	for _, tt := range []struct {
		name   string
		fields []rawField
		check  func(*Invoice) bool // nil: refused
	}{
		{"only a hash", []rawField{hash, about}, func(i *Invoice) bool {
			return !i.HasExpiry && i.ExpirySeconds == 3600 && !i.HasMinFinalCLTV && i.MinFinalCLTV == 18 && *i.Description == "" && i.PaymentSecret == nil
		}},
		{"no hash", []rawField{{tagDescription, nil}}, nil},
		{"short hash", []rawField{{tagPaymentHash, repeated(3, 51)}}, nil},
		{"long hash", []rawField{{tagPaymentHash, repeated(3, 53)}}, nil},
		{"short, then good, then other", []rawField{{tagPaymentHash, repeated(1, 50)}, hash, about, {tagPaymentHash, words32(4)}},
			func(i *Invoice) bool { return bytes.Equal(i.PaymentHash[:], wholeBytes(words32(3))) }},
		{"secret: the first of the right length", []rawField{hash, about, {tagPaymentSecret, repeated(1, 10)}, {tagPaymentSecret, words32(2)}, {tagPaymentSecret, words32(3)}},
			func(i *Invoice) bool { return bytes.Equal(i.PaymentSecret[:], wholeBytes(words32(2))) }},
		{"description hash of a wrong length", []rawField{hash, about, {tagDescriptionHash, repeated(1, 51)}}, func(i *Invoice) bool { return i.DescriptionHash == nil }},
		{"expiry 0", []rawField{hash, about, {tagExpiry, nil}}, func(i *Invoice) bool { return i.HasExpiry && i.ExpirySeconds == 0 }},
		{"first expiry", []rawField{hash, about, {tagExpiry, []byte{1, 0}}, {tagExpiry, []byte{2}}}, func(i *Invoice) bool { return i.ExpirySeconds == 32 }},
		{"largest expiry", []rawField{hash, about, {tagExpiry, long}}, func(i *Invoice) bool { return i.ExpirySeconds == 1<<40 }},
		{"absurd expiry", []rawField{hash, about, {tagExpiry, append(repeated(0, 3), append(long[:8:8], 1, 1)...)}}, nil},
		{"absurd delta", []rawField{hash, about, {tagMinFinalCLTV, repeated(31, 13)}}, nil},
		{"delta with leading zeros", []rawField{hash, about, {tagMinFinalCLTV, append(repeated(0, 12), 5)}}, func(i *Invoice) bool { return i.MinFinalCLTV == 5 }},
		{"delta of more words than zpay32 reads", []rawField{hash, about, {tagMinFinalCLTV, append(repeated(0, 40), 5)}}, nil},
		{"payee of a wrong length", []rawField{hash, about, {tagPayee, repeated(1, 52)}}, func(i *Invoice) bool { return true }},
		{"another payee", []rawField{hash, about, {tagPayee, repeated(1, 53)}}, nil},
		{"three hints", []rawField{hash, about, {tagRouteHint, hopWords}, {tagRouteHint, nil}, {tagRouteHint, twoHops}},
			func(i *Invoice) bool { return len(i.RouteHints) == 3 && i.IsNonCustodial() }},
		{"half a hop", []rawField{hash, about, {tagRouteHint, hopWords[:40]}}, nil},
		{"unknown", []rawField{{2, repeated(1, 100)}, hash, about, {31, nil}}, func(i *Invoice) bool { return true }},
		{"a broken blinded path", []rawField{hash, about, {tagBlindedPath, repeated(1, 9)}}, nil},
		{"both descriptions", []rawField{hash, about, {tagDescriptionHash, words32(0)}}, nil},
		{"neither description", []rawField{hash}, nil},
		{"fallback", []rawField{hash, about, {tagFallback, append([]byte{17}, repeated(0, 32)...)}}, func(i *Invoice) bool { return i.Fallback == "1111111111111111111114oLvT2" }},
		{"an empty fallback", []rawField{hash, about, {tagFallback, nil}}, nil},
		{"description with a zero and broken UTF-8", []rawField{hash, {tagDescription, repeated(31, 8)}}, func(i *Invoice) bool { return *i.Description == "\xff\xff\xff\xff\xff" }},
	} {
		text := invoiceOf(t, "lnbc10n", wordsOf(tt.fields...), testKey)
		inv, err := Decode(text)
		switch {
		case tt.check == nil && err == nil:
			t.Errorf("%s: accepted", tt.name)
		case tt.check != nil && (err != nil || !tt.check(inv)):
			t.Errorf("%s: %+v, %v", tt.name, inv, err)
		}
	}
}

func TestDecodePrefixes(t *testing.T) {
	words := wordsOf(rawField{tagPaymentHash, words32(3)}, rawField{tagDescription, nil})
	for hrp, want := range map[string]struct {
		network string
		msat    int64 // -1: none, -2: refused
	}{
		"lnbc": {"bc", -1}, "lntb": {"tb", -1}, "lntbs": {"tbs", -1}, "lnbcrt": {"bcrt", -1}, "lnsb": {"sb", -1},
		"lnbc1": {"bc", 1e11}, "lntb20m": {"tb", 2e9}, "lntbs2500u": {"tbs", 25e7}, "lnbcrt1n": {"bcrt", 100}, "lnsb10p": {"sb", 1},
		"lnbc0": {"bc", 0}, "lnbc0p": {"", -2}, "lnbc00p": {"", -2}, "lnbc01u": {"bc", 1e5}, "lnbc00000000000000000000000001u": {"bc", 1e5},
		"lnbc21000000": {"bc", maxMsat}, "lnbc21000000000000000000p": {"", -2}, "lnbc21000000000000000n": {"bc", -2 /* below */},
		"lnbc21000001": {"", -2}, "lnbc21000000000000000010p": {"", -2}, "lnbc184467440737095517": {"", -2}, "lnbc1844674407370955161600": {"", -2},
		"lnbc9223372036854775800p": {"bc", 922337203685477580}, "lnbc92233720368547758070p": {"", -2}, "lnbc18446744073709551617n": {"", -2},
		"lnbc1p": {"", -2}, "lnbc15p": {"", -2}, "lnbcu": {"", -2}, "lnbcm": {"", -2}, "lnbc1x": {"", -2}, "lnbc-1u": {"", -2}, "lnbc+1u": {"", -2},
		"lnbc1_0u": {"", -2}, "lnbc1.5u": {"", -2}, "lnbc1uu": {"", -2}, "lnbc1e3": {"", -2}, "lnbc 1u": {"", -2}, "ln": {"", -2}, "ln10u": {"", -2},
		"lntn": {"", -2}, "lntbt": {"", -2}, "lnurl": {"", -2}, "lno": {"", -2}, "xnbc": {"", -2},
	} {
		inv, err := Decode(invoiceOf(t, hrp, words, testKey))
		if hrp == "lnbc21000000000000000n" { // 21e15 nano-bitcoin are 21 million bitcoin
			want.msat, want.network = maxMsat, "bc"
		}
		if want.msat == -2 {
			if err == nil {
				t.Errorf("%s: accepted as %+v", hrp, inv)
			}
			continue
		}
		if err != nil || inv.Prefix != want.network || (inv.AmountMsat != nil) != (want.msat >= 0) || want.msat >= 0 && *inv.AmountMsat != want.msat {
			t.Errorf("%s: %+v, %v; want %+v", hrp, inv, err, want)
		}
	}
}

func TestDecodeRefusesBadTexts(t *testing.T) {
	good := invoiceOf(t, "lnbc10n", wordsOf(rawField{tagPaymentHash, words32(3)}, rawField{tagDescription, nil}), testKey)
	hrp, words := trial.Must2(bech32.DecodeNoLimit(good))(t)
	encode := func(words []byte) string {
		return trial.Must(bech32.Encode(hrp, words))(t)
	}
	changed := func(i int, w byte) []byte { c := bytes.Clone(words); c[i] = w; return c }
	bech32m := trial.Must(bech32.EncodeM(hrp, words))(t)
	if _, err := Decode(good); err != nil {
		t.Fatal(err)
	}
	zero := bytes.Clone(words)
	copy(zero[len(zero)-signatureWords:], repeated(0, signatureWords))
	high := bytes.Clone(words)
	copy(high[len(high)-signatureWords:], repeated(31, signatureWords-2)) // r and s above the group order
	for name, text := range map[string]string{
		"empty": "", "ln": "ln", "prefix": "lightning:" + good, "blank": " " + good, "newline": good + "\n", "mixed case": "LN" + good[2:],
		"bech32m": bech32m, "checksum": good[:len(good)-1] + "q", "cut": good[:len(good)-20], "long": "lnbc1" + strings.Repeat("q", maxLength),
		"no data": encode(nil), "signature only": encode(words[:signatureWords]), "two words of a field": encode(append([]byte{1, 1, 1, 1, 1, 1, 1, 5, 5}, words[len(words)-signatureWords:]...)),
		"recovery id 4": encode(changed(len(words)-1, 4)), "recovery id 255": encode(append(changed(len(words)-2, 31)[:len(words)-1], 31)),
		"zero signature": encode(zero), "signature above the order": encode(high), "unicode": "lnbc1\u00e9", "payment hash": strings.Repeat("ab", 32),
	} {
		if inv, err := Decode(text); err == nil {
			t.Errorf("%s: accepted as %+v", name, inv)
		} else if len(err.Error()) > 200 {
			t.Errorf("%s: error of %d characters", name, len(err.Error()))
		}
	}
	// A changed word changes the payee, never silently: somebody else's signature.
	inv, err := Decode(encode(changed(9, words[9]^1)))
	if was, _ := Decode(good); err == nil && inv.Payee == was.Payee {
		t.Error("a changed invoice has the same payee")
	}
}

func TestRequireNetwork(t *testing.T) {
	words := wordsOf(rawField{tagPaymentHash, words32(3)}, rawField{tagDescription, nil})
	prefixes := map[bitcoin.Network]string{bitcoin.Mainnet: "bc", bitcoin.Testnet3: "tb", bitcoin.Testnet4: "tb", bitcoin.Signet: "tbs", bitcoin.Regtest: "bcrt"}
	for _, prefix := range []string{"bc", "tb", "tbs", "bcrt", "sb"} {
		inv := trial.Must(Decode(invoiceOf(t, "ln"+prefix, words, testKey)))(t)
		for network, want := range prefixes {
			if err := inv.RequireNetwork(network); (err == nil) != (prefix == want) {
				t.Errorf("%s on %v: %v", prefix, network, err)
			}
		}
		if inv.RequireNetwork(bitcoin.Network(99)) == nil {
			t.Error("unknown network accepted")
		}
	}
}
