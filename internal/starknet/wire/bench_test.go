package wire

import "testing"

func BenchmarkParseFelt(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		if _, err := ParseFelt("0x01c86bb361265befe750e60d5b6e84e2d1f8d0518d82e817f2d621ccd4b0a5be"); err != nil {
			b.Fatal(err)
		}
	}
}

// An escrow's hash is of 15 felts, a stored header's of 42.
func BenchmarkPoseidon42(b *testing.B) {
	all := make([]Felt, 42)
	b.ReportAllocs()
	for b.Loop() {
		Poseidon(all...)
	}
}
