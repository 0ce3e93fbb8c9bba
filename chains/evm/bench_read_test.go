package evm

import (
	"context"
	"math/big"
	"testing"

	"github.com/ethereum/go-ethereum/accounts/abi"
	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/core/types"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/internal/evm/read"
	"github.com/swapper-go/swapper/internal/evm/rpc"
	"github.com/swapper-go/swapper/internal/evm/wire"
)

// instantNode answers at once that every escrow is open, each opened in a block
// of its own.
type instantNode struct {
	d     wire.Deployment
	state abi.Method
	trips int
}

func (n *instantNode) openedAt(escrow common.Hash) uint64 { return 10 + 7*escrow.Big().Uint64() }

func (n *instantNode) Batch(_ context.Context, requests []rpc.Request) error {
	n.trips++
	for _, r := range requests {
		switch into := r.Result.(type) {
		case *hexutil.Bytes:
			out, err := n.states(r.Params[0].(rpc.CallArgs).Data)
			if err != nil {
				return err
			}
			*into = out
		case *[]types.Log:
			*into = n.logs(r.Params[0].(rpc.LogFilter).Topics[3])
		}
	}
	return nil
}

// states answers getHashStateMultiple.
func (n *instantNode) states(data []byte) ([]byte, error) {
	records := make([]wire.EscrowRecord, (len(data)-4-64)/32)
	for i := range records {
		records[i] = wire.EscrowRecord{InitBlockheight: n.openedAt(common.Hash(data[4+64+32*i:])), State: 1}
	}
	return n.state.Outputs.Pack(records)
}

func (n *instantNode) logs(escrows []common.Hash) []types.Log {
	data := append(common.LeftPadBytes(n.d.ClaimHandlers[0][:], 32), common.LeftPadBytes(n.d.RefundHandler[:], 32)...)
	logs := make([]types.Log, len(escrows))
	for i, h := range escrows {
		logs[i] = types.Log{Address: n.d.EscrowManager.Address, Topics: []common.Hash{wire.EscrowABI().Events["Initialize"].ID, {}, {}, h}, Data: data,
			BlockNumber: n.openedAt(h), BlockTimestamp: 1_700_000_000}
	}
	return logs
}

func hashesUpTo(count int) []common.Hash {
	hashes := make([]common.Hash, count)
	for i := range hashes {
		hashes[i] = common.BigToHash(big.NewInt(int64(i + 1)))
	}
	return hashes
}

func BenchmarkReadEscrows(b *testing.B) {
	d := deploymentOf(b, "CITREA/MAINNET")
	for _, count := range []int{1, 100, 10_000} {
		b.Run(big.NewInt(int64(count)).String(), func(b *testing.B) {
			hashes := hashesUpTo(count)
			node := &instantNode{d: d, state: wire.EscrowABI().Methods["getHashStateMultiple"]}
			b.ReportAllocs()
			for b.Loop() {
				node.trips = 0
				facts, err := read.Contracts{Deployment: d}.ReadEscrows(context.Background(), node, hashes, chains.Heads{}, read.Known{})
				if err != nil || facts[count-1].Err != nil {
					b.Fatal(err, facts[count-1].Err)
				}
			}
			b.ReportMetric(float64(node.trips), "trips")
		})
	}
}
