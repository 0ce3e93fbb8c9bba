package wire

import (
	"testing"

	"github.com/swapper-go/swapper/internal/trial"
)

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

func BenchmarkParseSwapData(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		if _, err := ParseSwapData([]byte(goodSwapData)); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkEscrowHash(b *testing.B) {
	s := swapOf(b, []byte(goodSwapData))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := s.EscrowHash(); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkInitMessageHash(b *testing.B) {
	n, s := networkOf(b, ""), swapOf(b, []byte(goodSwapData))
	b.ReportAllocs()
	for b.Loop() {
		m := trial.Must(n.InitMessage(s, 5))(b)
		if _, err := m.Hash(s.Claimer); err != nil {
			b.Fatal(err)
		}
	}
}
