package lightning

import (
	"bytes"
	"strings"
	"testing"

	"github.com/btcsuite/btcd/btcutil/bech32"

	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/internal/trial"
)

// An invoice may be as long as a QR code can carry, and no longer.
func TestDecodeLengthLimit(t *testing.T) {
	fields := []rawField{{tagPaymentHash, words32(3)}, {tagDescription, nil}}
	for range 6 {
		fields = append(fields, rawField{2, repeated(1, 1000)})
	}
	short := len(invoiceOf(t, "lnbc10n", wordsOf(fields...), testKey))
	for over := range 2 {
		filled := append(fields, rawField{2, repeated(1, maxLength-short-3+over)})
		text := invoiceOf(t, "lnbc10n", wordsOf(filled...), testKey)
		if len(text) != maxLength+over {
			t.Fatalf("%d characters", len(text))
		}
		_, err := Decode(text)
		if (err == nil) != (over == 0) {
			t.Errorf("%d above the limit: %v", over, err)
		}
		if _, err := scan(text); (err == nil) != (over == 0) {
			t.Errorf("scan, %d above the limit: %v", over, err)
		}
	}
}

// The recovery id fills a byte of which it needs two bits: each value has one
// spelling only. One that wraps around where it is added to would pass otherwise.
func TestDecodeRecoveryID(t *testing.T) {
	fields := []rawField{{tagPaymentHash, words32(3)}, {tagDescription, nil}}
	payee := trial.Must(bech32.ConvertBits(testKey.PubKey().SerializeCompressed(), 8, 5, true))(t)
	for name, fields := range map[string][]rawField{"payee named": append(fields, rawField{tagPayee, payee}), "payee not named": fields} {
		good := invoiceOf(t, "lnbc10n", wordsOf(fields...), testKey)
		if _, err := Decode(good); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		hrp, words := trial.Must2(bech32.DecodeNoLimit(good))(t)
		last := len(words) - 1
		id := words[last]
		for other := 1; other < 256; other++ {
			changed := bytes.Clone(words)
			changed[last-1] ^= byte(other >> 5)
			changed[last] = id ^ byte(other&31)
			text := trial.Must(bech32.Encode(hrp, changed))(t)
			inv, err := Decode(text)
			if err == nil && (other > 3 || name == "payee named" || [33]byte(testKey.PubKey().SerializeCompressed()) == inv.Payee) {
				t.Errorf("%s: accepted with the last byte %d instead of %d", name, id^byte(other), id)
			}
		}
		// r of 1 to 40, with what is above the group order added: some are points of the curve
		found := 0
		for r := range 40 {
			changed := bytes.Clone(words)
			signature := make([]byte, 65)
			signature[31], signature[63], signature[64] = byte(r+1), 1, 3
			sig := trial.Must(bech32.ConvertBits(signature, 8, 5, true))(t)
			copy(changed[len(changed)-signatureWords:], sig)
			text := trial.Must(bech32.Encode(hrp, changed))(t)
			if _, err := Decode(text); err == nil {
				found++
			}
		}
		if want := name == "payee not named"; (found > 0) != want {
			t.Errorf("%s: %d signatures with the recovery id 3 accepted", name, found)
		}
	}
}

// What is refused before zpay32 sees it is refused by this package itself, and
// with words of its own.
func TestScanRefusals(t *testing.T) {
	words := wordsOf(rawField{tagPaymentHash, words32(3)}, rawField{tagDescription, nil})
	good := invoiceOf(t, "lnbc10n", words, testKey)
	hrp, all := trial.Must2(bech32.DecodeNoLimit(good))(t)
	bech32m := trial.Must(bech32.EncodeM(hrp, all))(t)
	renamed := trial.Must(bech32.Encode("xn"+hrp[2:], all))(t)
	for name, c := range map[string]struct{ text, because string }{
		"bech32m":          {bech32m, "bech32m"},
		"another name":     {renamed, "begin with ln"},
		"checksum":         {good[:len(good)-1] + map[bool]string{true: "p", false: "q"}[strings.HasSuffix(good, "q")], "checksum mismatch"},
		"unknown network":  {invoiceOf(t, "lnxy10n", words, testKey), "unknown network"},
		"a letter too few": {invoiceOf(t, "lnb10n", words, testKey), "unknown network"},
		"no digit":         {invoiceOf(t, "lnbc/n", words, testKey), "unknown network"},
		"no digit either":  {invoiceOf(t, "lnbc:n", words, testKey), "unknown network"},
	} {
		if _, err := Decode(c.text); err == nil || !strings.Contains(err.Error(), c.because) {
			t.Errorf("%s: %v, want a word about %q", name, err, c.because)
		}
	}
}

// Timeouts of a request count to the limit itself.
func TestHTLCTimeoutLimits(t *testing.T) {
	const limit = 1 << 40
	for _, c := range []struct {
		base, max, cltv, want int64
		ok                    bool
	}{
		{1, 1, 144, 1, true},
		{limit, limit, 144, limit, true},
		{limit, limit, 1 << 62, limit, true},
		{limit + 1, limit, 144, 0, false},
		{limit, limit + 1, 144, 0, false},
	} {
		got, _, err := HTLCTimeout(c.base, c.max, c.cltv)
		if got != c.want || (err == nil) != c.ok || err != nil && fault.CodeOf(err) != fault.InvalidInput {
			t.Errorf("%+v: %d, %v", c, got, err)
		}
	}
}
