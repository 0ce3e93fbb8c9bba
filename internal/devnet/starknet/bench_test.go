package starknet_test

import (
	"testing"

	"github.com/swapper-go/swapper/internal/devnet/bitcoin"
	"github.com/swapper-go/swapper/internal/devnet/starknet"
	"github.com/swapper-go/swapper/internal/trial"
)

// BenchmarkStart starts a network on a Bitcoin network that is there.
func BenchmarkStart(b *testing.B) {
	n := trial.Must(bitcoin.Start(bitcoin.Options{}))(b)
	defer n.Close()
	for b.Loop() {
		s := trial.Must(starknet.Start(starknet.Options{Bitcoin: n}))(b)
		trial.Do(b, s.Close())
	}
}
