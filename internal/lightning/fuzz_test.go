package lightning

import (
	"bytes"
	"errors"
	"math/big"
	"strings"
	"testing"

	"github.com/btcsuite/btcd/btcutil/bech32"

	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/internal/vectors"
)

func FuzzDecode(f *testing.F) {
	for _, c := range vectors.Load(f, "bitcoin", "bolt11").Cases {
		var in struct{ Invoice string }
		c.Input(f, &in)
		f.Add(in.Invoice)
	}
	f.Fuzz(func(t *testing.T, text string) {
		inv, err := Decode(text)
		if err != nil {
			if !errors.Is(err, errNotInvoice) || len(err.Error()) > 300 {
				t.Errorf("error %q", err)
			}
			return
		}
		useAll(t, inv)
	})
}

// FuzzDecodeFields signs what the fuzzer makes up, so that it gets past the
// checksum and the signature.
func FuzzDecodeFields(f *testing.F) {
	for _, c := range vectors.Load(f, "bitcoin", "bolt11").Cases {
		var in struct{ Invoice string }
		c.Input(f, &in)
		if hrp, words, err := bech32.DecodeNoLimit(in.Invoice); err == nil && len(words) > signatureWords {
			f.Add(hrp, words[:len(words)-signatureWords])
		}
	}
	f.Fuzz(func(t *testing.T, hrp string, words []byte) {
		words = bytes.Clone(words)
		for i := range words {
			words[i] &= 31
		}
		hrp = strings.ToLower(hrp)
		for _, r := range hrp {
			if r < 33 || r > 126 {
				return
			}
		}
		if hrp == "" || len(words) > 4000 {
			return
		}
		text := invoiceOf(t, hrp, words, testKey)
		if inv, err := Decode(text); err == nil {
			if !bytes.Equal(inv.Payee[:], testKey.PubKey().SerializeCompressed()) {
				t.Errorf("payee %x", inv.Payee)
			}
			if wraps(hrp) {
				t.Errorf("%s read as %d msat", hrp, *inv.AmountMsat)
			}
			useAll(t, inv)
		}
	})
}

// wraps reports whether the amount in hrp is above 21 million bitcoin, where
// 64-bit arithmetic may wrap around.
func wraps(hrp string) bool {
	start := strings.IndexAny(hrp, "0123456789")
	if start < 0 {
		return false
	}
	digits := strings.TrimRight(hrp[start:], "munp")
	tenthsOfMsat := map[string]int64{"": 1e12, "m": 1e9, "u": 1e6, "n": 1e3, "p": 1}[hrp[start+len(digits):]]
	amount, ok := new(big.Int).SetString(digits, 10)
	return !ok || amount.Mul(amount, big.NewInt(tenthsOfMsat)).Cmp(new(big.Int).Mul(big.NewInt(maxMsat), big.NewInt(10))) > 0
}

// useAll calls every rule on an invoice: none may panic or overflow.
func useAll(t *testing.T, inv *Invoice) {
	t.Helper()
	if sats, ok := inv.AmountSats(); ok && (sats < 0 || sats*1000 < *inv.AmountMsat || sats > 21e14) {
		t.Errorf("%d msat are %d sats", *inv.AmountMsat, sats)
	}
	end, err := inv.DefinitiveExpiry(true)
	if err == nil && end < inv.ExpiresAt() || inv.ExpiresAt() < inv.Timestamp {
		t.Errorf("ends %d, definitely %d", inv.ExpiresAt(), end)
	}
	_ = inv.IsNonCustodial()
	_ = inv.WillLikelyFail(0)
	_ = inv.RequireNetwork(bitcoin.Mainnet)
	if seconds, extended, err := HTLCTimeout(DefaultHTLCTimeoutSeconds, DefaultMaxHTLCTimeoutSeconds, inv.MinFinalCLTV); err != nil ||
		seconds < DefaultHTLCTimeoutSeconds || seconds > DefaultMaxHTLCTimeoutSeconds || extended != (seconds > DefaultHTLCTimeoutSeconds) {
		t.Errorf("HTLC timeout %d, %v, %v", seconds, extended, err)
	}
}
