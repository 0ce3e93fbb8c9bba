package starknet_test

import (
	"testing"

	"github.com/swapper-go/swapper/internal/devnet/bitcoin"
	"github.com/swapper-go/swapper/internal/devnet/starknet"
)

// BenchmarkStart starts a network on a Bitcoin network that is there.
func BenchmarkStart(b *testing.B) {
	n, err := bitcoin.Start(bitcoin.Options{})
	if err != nil {
		b.Fatal(err)
	}
	defer n.Close()
	for b.Loop() {
		s, err := starknet.Start(starknet.Options{Bitcoin: n})
		if err != nil {
			b.Fatal(err)
		}
		if err := s.Close(); err != nil {
			b.Fatal(err)
		}
	}
}
