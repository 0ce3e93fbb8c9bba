package chaintest_test

import (
	"fmt"
	"testing"

	"github.com/swapper-go/swapper/chains/chaintest"
)

// network is one's own chain on a private network of its nodes. It has the methods of
// [chaintest.Net], and those of [chaintest.VaultNet] if the chain has vaults; the tests
// of chains/evm hold a whole one.
type network struct{ chaintest.Net }

// NodeName is how errors and logs call a node.
func (network) NodeName(node int) string { return fmt.Sprintf("node%d.example", node) }

func start(t *testing.T) network {
	t.Helper()
	t.Fatal("start two nodes and a Bitcoin node, deploy the contracts, open the chain on them")
	return network{}
}

// A chain of one's own is held to [chains.Chain] by a test that runs the suite on a
// new network for each part of it.
func ExampleRun() {
	testMyChain := func(t *testing.T) {
		chaintest.Run(t, func(t *testing.T) chaintest.Net { return start(t) })
	}
	_ = testMyChain // in a program: func TestMyChain(t *testing.T)

	// The suite makes nodes misbehave, and wants the one that did named in the error.
	for _, trouble := range []chaintest.Trouble{{Down: true}, {Behind: true}, {Garbage: true}} {
		fmt.Printf("%s: %s\n", network{}.NodeName(1), trouble)
	}

	// Output:
	// node1.example: down
	// node1.example: behind
	// node1.example: garbage
}
