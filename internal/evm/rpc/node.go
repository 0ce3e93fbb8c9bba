package rpc

import (
	"context"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/core/types"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/internal/jsonrpc"
)

type (
	// Node is what reading a chain needs of a connection.
	Node = jsonrpc.Node
	// Request is one JSON-RPC call.
	Request = jsonrpc.Request
)

// AskAll puts requests whose answers are all needed.
func AskAll(ctx context.Context, node Node, requests []Request) error {
	return jsonrpc.AskAll(ctx, node, requests)
}

// CallArgs is the transaction object of eth_call.
type CallArgs struct {
	To   common.Address `json:"to"`
	Data hexutil.Bytes  `json:"data"`
}

// CallRequest asks a view method. block is a tag or a height in hex.
func CallRequest(to common.Address, data []byte, block string, result *hexutil.Bytes) Request {
	return Request{Method: "eth_call", Params: []any{CallArgs{to, data}, block}, Result: result}
}

// LogFilter is the object of eth_getLogs. A nil topic matches anything.
type LogFilter struct {
	Address   common.Address  `json:"address"`
	FromBlock hexutil.Uint64  `json:"fromBlock"`
	ToBlock   hexutil.Uint64  `json:"toBlock"`
	Topics    [][]common.Hash `json:"topics"`
}

func LogRequest(of common.Address, blocks BlockRange, topics [][]common.Hash, result *[]types.Log) Request {
	f := LogFilter{of, hexutil.Uint64(blocks.From), hexutil.Uint64(blocks.To), topics}
	return Request{Method: "eth_getLogs", Params: []any{f}, Result: result}
}

// NewLogsRequest asks for the logs of a contract, all of them if topics are nil, from a block
// up to a tag.
func NewLogsRequest(of common.Address, from uint64, tag string, topics [][]common.Hash, result *[]types.Log) Request {
	f := struct {
		Address   common.Address  `json:"address"`
		FromBlock hexutil.Uint64  `json:"fromBlock"`
		ToBlock   string          `json:"toBlock"`
		Topics    [][]common.Hash `json:"topics,omitempty"`
	}{of, hexutil.Uint64(from), tag, topics}
	return Request{Method: "eth_getLogs", Params: []any{f}, Result: result}
}

// BlockHead is what is read of a block.
type BlockHead struct {
	Number    hexutil.Uint64 `json:"number"`
	Hash      common.Hash    `json:"hash"`
	Timestamp hexutil.Uint64 `json:"timestamp"`
}

func BlockRequest(height uint64, result **BlockHead) Request {
	return Request{Method: "eth_getBlockByNumber", Params: []any{hexutil.Uint64(height), false}, Result: result}
}

// BlockParam names the block that a read is to be made at.
func BlockParam(at chains.Block) string {
	if at.Height == 0 {
		return "latest"
	}
	return hexutil.EncodeUint64(at.Height)
}

// Limits of reads that public RPC nodes accept (protocol: chain-evm.md §1.4).
const (
	LogRange         = 950 // blocks in one eth_getLogs
	LogTopicValues   = 64  // alternatives in one topic position
	ParallelLogReads = 5
	ParallelCalls    = 5
)

// self is the head within whatever embeds it.
func (b *BlockHead) self() *BlockHead { return b }

func (b *BlockHead) Block() chains.Block {
	return chains.Block{Height: uint64(b.Number), Hash: b.Hash.Hex(), Time: int64(b.Timestamp)}
}
