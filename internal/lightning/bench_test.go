package lightning

import (
	"crypto/sha256"
	"testing"

	"github.com/btcsuite/btcd/btcec/v2/ecdsa"
)

// benchInvoice has an amount, a payment secret, a description, an expiry, a
// final delta and features.
const benchInvoice = "lnbc10u1p53ue5qpp59hwxug9hjlqd6k8t65c7uajyx2q2v0l7a3yyhjun6l7ztzfsl8rqsp5l2xay86xf7xclklpyyqllychj73nrlknddxu8c6tgqf7h5mh8wrqdq8wdmkzuqxqrrsscqzys9qxpqqysyljzmk35nxwjrcsjpln0ng4kh0uhxyhgx6swd45n5snkptlhnr524rz3dpz0vfuhsjnfaq5sum2ahx6a7r2m5l6tmlkewk5vmr70vx0gpkpvhkx"

func BenchmarkDecode(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Decode(benchInvoice); err != nil {
			b.Fatal(err)
		}
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
