package read

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/ethereum/go-ethereum/accounts/abi"
	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/core/types"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/internal/evm/rpc"
	"github.com/swapper-go/swapper/internal/evm/wire"
)

// cannedNode answers from what a vector tells of the surroundings, as a node
// would: it parses requests from their JSON and knows nothing of who asks.
type cannedNode struct {
	t      *testing.T
	view   func(to common.Address, m *abi.Method, args []any, data []byte) ([]byte, error)
	logs   []types.Log
	traces map[common.Hash]wire.CallFrame
	trips  int
}

func (n *cannedNode) Batch(_ context.Context, requests []rpc.Request) error {
	n.trips++
	for i := range requests {
		r := &requests[i]
		params, err := json.Marshal(r.Params)
		if err != nil {
			n.t.Fatal(err)
		}
		var raw []json.RawMessage
		if err := json.Unmarshal(params, &raw); err != nil {
			n.t.Fatal(err)
		}
		answer, err := n.answer(r.Method, raw)
		if err != nil {
			r.Err = err
			continue
		}
		text, err := json.Marshal(answer)
		if err != nil {
			n.t.Fatal(err)
		}
		r.Err = json.Unmarshal(text, r.Result)
	}
	return nil
}

func (n *cannedNode) answer(method string, params []json.RawMessage) (any, error) {
	decode := func(i int, v any) {
		if err := json.Unmarshal(params[i], v); err != nil {
			n.t.Fatalf("%s: %v", method, err)
		}
	}
	switch method {
	case "eth_call":
		var c rpc.CallArgs
		decode(0, &c)
		for _, of := range []abi.ABI{wire.EscrowABI(), wire.RelayABI(), wire.VaultABI(), wire.ERC20ABI()} {
			m, err := of.MethodById(c.Data)
			if err != nil {
				continue
			}
			args, err := m.Inputs.Unpack(c.Data[4:])
			if err != nil {
				return nil, err
			}
			out, err := n.view(c.To, m, args, c.Data)
			return hexutil.Bytes(out), err
		}
		return nil, errors.New("execution reverted")
	case "eth_getLogs":
		var f struct {
			Address            common.Address
			FromBlock, ToBlock hexutil.Uint64
			Topics             [][]common.Hash
		}
		decode(0, &f)
		found := []types.Log{}
		for _, l := range n.logs {
			if l.Address == f.Address && l.BlockNumber >= uint64(f.FromBlock) && l.BlockNumber <= uint64(f.ToBlock) && topicsMatch(f.Topics, l.Topics) {
				found = append(found, l)
			}
		}
		return found, nil
	case "eth_getBlockByNumber":
		var height hexutil.Uint64
		decode(0, &height)
		head := rpc.BlockHead{Number: height, Timestamp: 1_700_000_000 + height}
		for _, l := range n.logs {
			if l.BlockNumber == uint64(height) {
				head.Hash = l.BlockHash
			}
		}
		return head, nil
	case "eth_getTransactionByHash", "debug_traceTransaction":
		var id common.Hash
		decode(0, &id)
		trace, ok := n.traces[id]
		if !ok {
			return nil, nil
		}
		if method == "eth_getTransactionByHash" {
			trace.Calls = nil
			if trace.Type == "CREATE" {
				trace.To = common.Address{}
			}
			trace.Type = "0x2"
		}
		return trace, nil
	}
	return nil, fmt.Errorf("the method %s does not exist", method)
}

func topicsMatch(want [][]common.Hash, got []common.Hash) bool {
	for i, any := range want {
		if len(any) > 0 && (i >= len(got) || !slices.Contains(any, got[i])) {
			return false
		}
	}
	return true
}

// unanswered fails every request of a method.
type unanswered struct {
	rpc.Node
	method string
}

func (u unanswered) Batch(ctx context.Context, requests []rpc.Request) error {
	if err := u.Node.Batch(ctx, requests); err != nil {
		return err
	}
	for i := range requests {
		if requests[i].Method == u.method {
			requests[i].Err = errors.New("no answer")
		}
	}
	return nil
}

func TestReadEscrowsPartly(t *testing.T) {
	d := deploymentOf(t, "CITREA/MAINNET")
	hashes := []common.Hash{{1}, {2}, {3}}
	states := map[common.Hash]wire.EscrowRecord{{2}: {InitBlockheight: 10, State: 1}, {3}: {InitBlockheight: 10, FinishBlockheight: 11, State: 3}}
	word := func(a common.Address) []byte { return common.LeftPadBytes(a[:], 32) }
	log := func(event string, hash common.Hash, height uint64, data []byte) types.Log {
		return types.Log{Address: d.EscrowManager.Address, Topics: []common.Hash{wire.EscrowABI().Events[event].ID, {}, {}, hash}, Data: data,
			BlockNumber: height, BlockHash: common.Hash{byte(height)}, TxHash: common.Hash{0xee, byte(height), hash[0]}}
	}
	handlers := append(word(d.ClaimHandlers[chains.HTLC]), word(d.RefundHandler)...)
	node := &cannedNode{t: t, view: viewStates(t, states), logs: []types.Log{
		log("Initialize", hashes[1], 10, handlers),
		log("Initialize", hashes[2], 10, handlers), // its refund is missing
	}}
	at := chains.Heads{Latest: chains.Block{Height: 20}, Final: chains.Block{Height: 10}}
	facts, err := Contracts{d}.ReadEscrows(context.Background(), node, hashes, at, Known{})
	if err != nil {
		t.Fatal(err)
	}
	if node.trips != 2 {
		t.Errorf("%d round trips, not 2", node.trips)
	}
	if f := facts[0]; f.State != chains.EscrowNone || f.Err != nil || f.Final {
		t.Errorf("unknown escrow: %+v", f)
	}
	if f := facts[1]; f.State != chains.EscrowOpen || f.Err != nil || !f.Final || f.Opened.Time != 1_700_000_010 {
		t.Errorf("open escrow: %+v", f)
	}
	if f := facts[2]; f.Err == nil || f.Final {
		t.Errorf("refund without a log: %+v", f)
	}

	facts, err = Contracts{d}.ReadEscrows(context.Background(), unanswered{node, "eth_getLogs"}, hashes, at, Known{})
	if err != nil || facts[0].Err != nil || facts[1].Err == nil || facts[2].Err == nil {
		t.Errorf("without logs: %+v, %v", facts, err)
	}
	if _, err := (Contracts{d}).ReadEscrows(context.Background(), unanswered{node, "eth_call"}, hashes, at, Known{}); err == nil {
		t.Error("states that were not answered")
	}
	node.trips = 0
	if _, err := (Contracts{d}).ReadEscrows(context.Background(), node, make([]common.Hash, 1000), at, Known{}); err != nil || node.trips != 1 {
		t.Errorf("1000 unknown escrows: %d round trips, %v", node.trips, err)
	}
	for stamp, trips := range map[uint64]int{0: 2, 1_700_000_010: 1} { // with a log that has no time, the block is asked for it
		node.trips, node.logs[0].BlockTimestamp = 0, stamp
		facts, err := Contracts{d}.ReadEscrows(context.Background(), node, hashes[1:2], at, Known{Since: map[common.Hash]uint64{hashes[1]: 9}})
		if err != nil || node.trips != trips || facts[0].State != chains.EscrowOpen || facts[0].Opened.Height != 10 || facts[0].Opened.Time != 1_700_000_010 {
			t.Errorf("opened since a height, by a log of the time %d: %+v in %d round trips, %v", stamp, facts, node.trips, err)
		}
	}
}

// viewStates serves escrow states.
func viewStates(t *testing.T, states map[common.Hash]wire.EscrowRecord) func(common.Address, *abi.Method, []any, []byte) ([]byte, error) {
	return func(_ common.Address, m *abi.Method, args []any, _ []byte) ([]byte, error) {
		if m.Name != "getHashStateMultiple" {
			return nil, errors.New("execution reverted")
		}
		var records []wire.EscrowRecord
		for _, h := range args[0].([][32]byte) {
			records = append(records, states[h])
		}
		return pack(t, m, records), nil
	}
}
