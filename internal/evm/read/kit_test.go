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
	"github.com/swapper-go/swapper/internal/trial"
)

// deploymentOf returns the contracts of the network that a vector names as in
// CITREA/MAINNET.
func deploymentOf(t testing.TB, name string) wire.Deployment {
	t.Helper()
	chain, on, _ := strings.Cut(name, "/")
	network := trial.Must(bitcoin.ParseNetwork(strings.ToLower(on)))(t)
	n := trial.Must(wire.Preset(chain, network))(t)
	return n.Deployments[0]
}

func pack(t testing.TB, m *abi.Method, values ...any) []byte {
	t.Helper()
	return trial.Must(m.Outputs.Pack(values...))(t)
}

// brokenNode answers nothing.
type brokenNode struct{}

func (brokenNode) Batch(context.Context, []rpc.Request) error { return errors.New("broken") }
