package read

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/ethereum/go-ethereum/accounts/abi"

	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/internal/evm/rpc"
	"github.com/swapper-go/swapper/internal/evm/wire"
)

// deploymentOf returns the contracts of the network that a vector names as in
// CITREA/MAINNET.
func deploymentOf(t testing.TB, name string) wire.Deployment {
	t.Helper()
	chain, on, _ := strings.Cut(name, "/")
	network, err := bitcoin.ParseNetwork(strings.ToLower(on))
	if err != nil {
		t.Fatal(err)
	}
	n, err := wire.Preset(chain, network)
	if err != nil {
		t.Fatal(err)
	}
	return n.Deployments[0]
}

func pack(t testing.TB, m *abi.Method, values ...any) []byte {
	t.Helper()
	out, err := m.Outputs.Pack(values...)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// brokenNode answers nothing.
type brokenNode struct{}

func (brokenNode) Batch(context.Context, []rpc.Request) error { return errors.New("broken") }
