package evm

import (
	"encoding/json"
	"maps"
	"testing"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/core/types"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/internal/evm/rpc"
	"github.com/swapper-go/swapper/internal/evm/wire"
)

// A poll for events takes one round trip while it keeps up, one more for escrows
// that were opened, and after a pause one for each five ranges of every contract.
func TestPollTrips(t *testing.T) {
	t.Parallel()
	var tip uint64
	var logs []types.Log
	c, k, node := pollChain(t, &tip, &logs)
	at, seen := hintCursor{}, uint64(0)
	poll := func(what string, height uint64, trips int, hints int) {
		t.Helper()
		tip, node.trips = height, 0
		got, next, until, err := c.poll(t.Context(), at, seen)
		if err != nil || node.trips != trips || len(got) != hints {
			t.Errorf("%s: %d trips, want %d; %d hints, want %d: %v", what, node.trips, trips, len(got), hints, err)
		}
		at, seen = maps.Clone(next), until
	}
	poll("at first", 10_000, 1, 0)
	poll("nothing new", 10_001, 1, 0)
	logs = []types.Log{openingLog(k, 10_002)}
	poll("an opening", 10_003, 2, 1)
	poll("the same block again", 10_003, 1, 0)
	poll("the node is behind", 9_000, 1, 0)
	logs[0].BlockNumber = 0 // long ago
	at["v1"] = [2]rpc.LogCursor{{Block: 10_003}, {Block: 10_003}}
	seen = 0
	poll("after a restart", 10_100, 3, 0)
	seen = 0
	poll("after a long pause", 10_100+2*rpc.ParallelLogReads*rpc.LogRange-100, 5, 0)
}

// pollChain is a chain whose node has a tip and logs.
func pollChain(t *testing.T, tip *uint64, logs *[]types.Log) (*chain, *contracts, *staged) {
	c, k, node := stagedChain(t, 1, func(r rpc.Request) any {
		switch r.Method {
		case "eth_getBlockByNumber":
			return map[string]any{"number": hexutil.Uint64(*tip), "hash": common.Hash{1}, "timestamp": hexutil.Uint64(*tip)}
		case "eth_getLogs":
			text, _ := json.Marshal(r.Params[0])
			var f struct {
				Address   common.Address
				FromBlock hexutil.Uint64
			}
			_ = json.Unmarshal(text, &f)
			found := []types.Log{}
			for _, l := range *logs {
				if l.Address == f.Address && l.BlockNumber >= uint64(f.FromBlock) {
					found = append(found, l)
				}
			}
			return found
		}
		return nil
	})
	c.contracts = []*contracts{k}
	return c, k, node
}

// openingLog says that an escrow was opened.
func openingLog(k *contracts, block uint64) types.Log {
	word := func(a common.Address) []byte { return common.LeftPadBytes(a[:], 32) }
	return types.Log{Address: k.EscrowManager.Address, BlockNumber: block, BlockHash: common.Hash{2}, TxHash: common.Hash{3}, Data: append(word(k.ClaimHandlers[chains.HTLC]), word(k.RefundHandler)...),
		Topics: []common.Hash{wire.EscrowABI().Events["Initialize"].ID, {}, {}, {4}}}
}

// A node that once names a height that no chain has costs neither memory nor the events of all
// the time until the chain is so high.
func TestAHeightThatIsALie(t *testing.T) {
	t.Parallel()
	var tip uint64
	var logs []types.Log
	c, k, node := pollChain(t, &tip, &logs)
	at, seen := hintCursor{}, uint64(0)
	poll := func(height uint64) int {
		t.Helper()
		tip, node.trips = height, 0
		got, next, until, err := c.poll(t.Context(), at, seen)
		if err != nil {
			t.Fatal(err)
		}
		if most := pollMost/(rpc.LogRange*rpc.ParallelLogReads) + 2; node.trips > 2*most {
			t.Errorf("%d trips at height %d", node.trips, height)
		}
		at, seen = maps.Clone(next), until
		return len(got)
	}
	for _, lie := range []uint64{1 << 62, ^uint64(0), 1} {
		poll(20_000_000)
		poll(lie)
		logs = nil
		hints := 0
		for i := range uint64(20) {
			if i == 15 {
				logs = []types.Log{openingLog(k, 20_000_015)}
			}
			hints += poll(20_000_000 + i)
		}
		if hints != 1 {
			t.Errorf("after the height %d an opening caused %d hints", lie, hints)
		}
		logs = nil
	}
}
