package lightning

import (
	"crypto/sha256"
	"testing"

	"github.com/btcsuite/btcd/btcec/v2/ecdsa"
	"github.com/btcsuite/btcd/chaincfg"
	"github.com/lightningnetwork/lnd/zpay32"
)

func BenchmarkDecode(b *testing.B) {
	for name, hints := range map[string]int{"plain": 0, "two route hints": 2} {
		fields := []rawField{{tagPaymentHash, repeated(3, 52)}, {tagPaymentSecret, repeated(4, 52)}, {tagDescriptionHash, repeated(5, 52)}, {tagExpiry, []byte{3, 16, 16}}}
		for range hints {
			fields = append(fields, rawField{tagRouteHint, repeated(1, 82)})
		}
		text := invoiceOf(b, "lnbc10n", wordsOf(fields...), testKey)
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := Decode(text); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run(name+", zpay32", func(b *testing.B) {
			if hints > 0 {
				b.Skip("its hops must be keys on the curve")
			}
			b.ReportAllocs()
			for b.Loop() {
				if _, err := zpay32.Decode(text, &chaincfg.MainNetParams); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkRecoverCompact is what Decode cannot go below.
func BenchmarkRecoverCompact(b *testing.B) {
	digest := sha256.Sum256([]byte("x"))
	sig := ecdsa.SignCompact(testKey, digest[:], true)
	b.ReportAllocs()
	for b.Loop() {
		if _, _, err := ecdsa.RecoverCompact(sig, digest[:]); err != nil {
			b.Fatal(err)
		}
	}
}
