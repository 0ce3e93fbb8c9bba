package lightning

import (
	"bytes"
	"reflect"
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
		compareWithOracle(t, text)
		if inv, err := Decode(text); err == nil {
			useAll(t, inv)
			known, err := DecodeKnown(text)
			if err != nil {
				t.Fatalf("known: %v", err)
			}
			if known.Payee = inv.Payee; !reflect.DeepEqual(known, inv) {
				t.Errorf("known: %+v, decoded: %+v", known, inv)
			}
		}
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
		compareWithOracle(t, text)
		if inv, err := Decode(text); err == nil {
			if !bytes.Equal(inv.Payee[:], testKey.PubKey().SerializeCompressed()) {
				t.Errorf("payee %x", inv.Payee)
			}
			useAll(t, inv)
		}
	})
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
