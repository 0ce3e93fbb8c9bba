package read

import (
	"context"
	"math/big"
	"slices"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/core/types"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/internal/evm/rpc"
	"github.com/swapper-go/swapper/internal/evm/wire"
)

// ReadHeader finds the stored header of a Bitcoin block in the relay (protocol:
// chain-evm.md §10.2), and returns the height of the relay's tip. found is false
// if the tip is below required, or the relay does not know the block, or has it
// on another branch. Logs are searched backwards from at.Latest, as many ranges
// at once as nodes allow; for a block stored lately it takes three round trips,
// one more if the header came through another contract. Blocks from before
// notBefore, Unix seconds, are not searched; 0 searches all.
func (d Contracts) ReadHeader(ctx context.Context, node rpc.Node, block bitcoin.Hash, required uint32, at chains.Heads, notBefore int64) (header wire.StoredHeader, tip uint32, found bool, err error) {
	askTip, err := wire.RelayABI().Pack("getBlockheight")
	if err != nil {
		return wire.StoredHeader{}, 0, false, err
	}
	var tipWord hexutil.Bytes
	log, found, err := d.findHeaderLog(ctx, node, block, at, notBefore, []rpc.Request{rpc.CallRequest(d.BtcRelay.Address, askTip, "latest", &tipWord)})
	if err != nil {
		return wire.StoredHeader{}, 0, false, err
	}
	if err := wire.Unpack(wire.RelayABI(), "getBlockheight", tipWord, &tip); err != nil {
		return wire.StoredHeader{}, 0, false, err
	}
	if !found || tip < required {
		return wire.StoredHeader{}, tip, false, nil
	}
	commit := log.Topics[1]
	header, found, err = d.RebuildHeader(ctx, node, log.TxHash, commit)
	if err != nil || !found || header.Header().Hash() != block {
		return wire.StoredHeader{}, tip, false, err
	}
	askMain, err := wire.RelayABI().Pack("getCommitHash", big.NewInt(int64(header.Height())))
	if err != nil {
		return wire.StoredHeader{}, tip, false, err
	}
	var main hexutil.Bytes
	if err := rpc.AskAll(ctx, node, []rpc.Request{rpc.CallRequest(d.BtcRelay.Address, askMain, "latest", &main)}); err != nil {
		return wire.StoredHeader{}, tip, false, err
	}
	if len(main) != 32 || common.Hash(main) != commit {
		return wire.StoredHeader{}, tip, false, nil
	}
	return header, tip, true, nil
}

// ReadMain asks, in one round trip, how high the relay's tip is and whether a
// header is in its main chain.
func (d Contracts) ReadMain(ctx context.Context, node rpc.Node, header wire.StoredHeader) (tip uint32, main bool, err error) {
	askTip, err := wire.RelayABI().Pack("getBlockheight")
	if err != nil {
		return 0, false, err
	}
	askMain, err := wire.RelayABI().Pack("getCommitHash", big.NewInt(int64(header.Height())))
	if err != nil {
		return 0, false, err
	}
	var tipWord, commit hexutil.Bytes
	if err := rpc.AskAll(ctx, node, []rpc.Request{
		rpc.CallRequest(d.BtcRelay.Address, askTip, "latest", &tipWord),
		rpc.CallRequest(d.BtcRelay.Address, askMain, "latest", &commit),
	}); err != nil {
		return 0, false, err
	}
	if err := wire.Unpack(wire.RelayABI(), "getBlockheight", tipWord, &tip); err != nil {
		return 0, false, err
	}
	return tip, len(commit) == 32 && common.Hash(commit) == header.CommitHash(), nil
}

// findHeaderLog returns the newest log that says that a block was stored. The
// given requests ride along with the first look.
func (d Contracts) findHeaderLog(ctx context.Context, node rpc.Node, block bitcoin.Hash, at chains.Heads, notBefore int64, along []rpc.Request) (types.Log, bool, error) {
	events := wire.RelayABI().Events
	topics := [][]common.Hash{{events["StoreHeader"].ID, events["StoreForkHeader"].ID}, nil, {common.Hash(block)}}
	from := d.BtcRelay.Height
	if at.Latest.Height < from { // there is nothing to look at
		return types.Log{}, false, rpc.AskAll(ctx, node, along)
	}
	for some := range rpc.NewLogRanges(from, at.Latest.Height, rpc.LogRange).Down(rpc.ParallelLogReads) {
		requests, answers := along, make([][]types.Log, len(some))
		along = nil
		for i, r := range some {
			requests = append(requests, rpc.LogRequest(d.BtcRelay.Address, r, topics, &answers[i]))
		}
		var lowest *rpc.BlockHead
		if notBefore > 0 && some[0].From > from {
			requests = append(requests, rpc.BlockRequest(some[0].From, &lowest))
		}
		if err := rpc.AskAll(ctx, node, requests); err != nil {
			return types.Log{}, false, err
		}
		for _, logs := range slices.Backward(answers) {
			for _, l := range slices.Backward(logs) {
				if l.Address == d.BtcRelay.Address && !l.Removed && len(l.Topics) >= 3 && l.Topics[2] == common.Hash(block) && slices.Contains(topics[0], l.Topics[0]) {
					return l, true, nil
				}
			}
		}
		if lowest != nil && int64(lowest.Timestamp) < notBefore {
			break
		}
	}
	return types.Log{}, false, nil
}

// RebuildHeader takes the header from the transaction itself if it went to the
// relay, else from its trace, which not every node gives.
func (d Contracts) RebuildHeader(ctx context.Context, node rpc.Node, id, commit common.Hash) (wire.StoredHeader, bool, error) {
	var tx *wire.CallFrame
	if err := rpc.AskAll(ctx, node, []rpc.Request{{Method: "eth_getTransactionByHash", Params: []any{id}, Result: &tx}}); err != nil {
		return wire.StoredHeader{}, false, err
	}
	if tx != nil {
		if header, ok := d.FindStoredHeader(*tx, commit); ok {
			return header, true, nil
		}
	}
	var trace *wire.CallFrame
	options := map[string]string{"tracer": "callTracer"}
	if err := rpc.AskAll(ctx, node, []rpc.Request{{Method: "debug_traceTransaction", Params: []any{id, options}, Result: &trace}}); err != nil {
		return wire.StoredHeader{}, false, err
	}
	if trace == nil {
		return wire.StoredHeader{}, false, nil
	}
	header, ok := d.FindStoredHeader(*trace, commit)
	return header, ok, nil
}
