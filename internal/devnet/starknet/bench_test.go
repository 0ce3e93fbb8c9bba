package starknet_test

import (
	"testing"

	"github.com/swapper-go/swapper/internal/devnet/bitcoin"
	"github.com/swapper-go/swapper/internal/devnet/starknet"
	"github.com/swapper-go/swapper/internal/must"
)

// BenchmarkStart starts a network on a Bitcoin network that is there.
func BenchmarkStart(b *testing.B) {
	n := must.Get(bitcoin.Start(bitcoin.Options{}))(b)
	defer n.Close()
	for b.Loop() {
		s := must.Get(starknet.Start(starknet.Options{Bitcoin: n}))(b)
		must.Do(b, s.Close())
	}
}
