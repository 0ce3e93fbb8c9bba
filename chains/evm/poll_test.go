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
	c, k, node := stagedChain(t, 1, func(r rpc.Request) any {
		switch r.Method {
		case "eth_getBlockByNumber":
			return map[string]any{"number": hexutil.Uint64(tip), "hash": common.Hash{1}, "timestamp": hexutil.Uint64(tip)}
		case "eth_getLogs":
			text, _ := json.Marshal(r.Params[0])
			var f struct {
				Address   common.Address
				FromBlock hexutil.Uint64
			}
			_ = json.Unmarshal(text, &f)
			found := []types.Log{}
			for _, l := range logs {
				if l.Address == f.Address && l.BlockNumber >= uint64(f.FromBlock) {
					found = append(found, l)
				}
			}
			return found
		}
		return nil
	})
	c.contracts = []*contracts{k}
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
	word := func(a common.Address) []byte { return common.LeftPadBytes(a[:], 32) }
	logs = []types.Log{{Address: k.EscrowManager.Address, BlockNumber: 10_002, BlockHash: common.Hash{2}, TxHash: common.Hash{3}, Data: append(word(k.ClaimHandlers[chains.HTLC]), word(k.RefundHandler)...),
		Topics: []common.Hash{wire.EscrowABI().Events["Initialize"].ID, {}, {}, {4}}}}
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
