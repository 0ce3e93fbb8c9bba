package evm

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/ethereum/go-ethereum/common/hexutil"
)

// view is the network as a node sees it that knows the blocks up to head only.
type view struct {
	net  *Net
	head uint64
}

// blockParam is where the methods that clients use take a block.
func blockParam(method string) (at int, ok bool) {
	switch method {
	case "eth_getBlockByNumber", "eth_getBlockReceipts":
		return 0, true
	case "eth_getTransactionCount", "eth_getBalance", "eth_getCode", "eth_call", "eth_estimateGas", "eth_feeHistory":
		return 1, true
	case "eth_getStorageAt":
		return 2, true
	}
	return 0, false
}

// rewind makes parameters speak of blocks that the view knows.
func (v view) rewind(method string, params []json.RawMessage) []json.RawMessage {
	params = slices.Clone(params)
	if at, ok := blockParam(method); ok {
		if len(params) == at {
			params = append(params, json.RawMessage(`"latest"`))
		}
		if len(params) > at {
			params[at] = v.tag(params[at])
		}
	}
	if method == "eth_getLogs" && len(params) == 1 {
		var filter map[string]json.RawMessage
		if json.Unmarshal(params[0], &filter) == nil && filter["blockHash"] == nil {
			for _, end := range []string{"fromBlock", "toBlock"} {
				if filter[end] == nil {
					filter[end] = json.RawMessage(`"latest"`)
				}
				filter[end] = v.tag(filter[end])
			}
			if again, err := json.Marshal(filter); err == nil {
				params[0] = again
			}
		}
	}
	return params
}

// tag replaces a tag by the number that it has in the view; numbers stay.
func (v view) tag(p json.RawMessage) json.RawMessage {
	depth := map[string]uint64{`"latest"`: 0, `"pending"`: 0, `"safe"`: v.net.options.SafeDepth, `"finalized"`: v.net.options.FinalDepth}
	below, ok := depth[string(p)]
	if !ok {
		return p
	}
	return number(v.head - min(below, v.head))
}

func number(n uint64) json.RawMessage { return json.RawMessage(`"` + hexutil.EncodeUint64(n) + `"`) }

// hide removes from a result what the view does not know.
func (v view) hide(method string, result json.RawMessage) json.RawMessage {
	switch method {
	case "eth_blockNumber":
		return number(v.head)
	case "eth_getTransactionReceipt", "eth_getTransactionByHash", "eth_getBlockByNumber", "eth_getBlockByHash":
		if height, ok := heightOf(result); ok && height > v.head {
			return json.RawMessage("null")
		}
	case "eth_getLogs":
		var logs []json.RawMessage
		if json.Unmarshal(result, &logs) != nil {
			return result
		}
		logs = slices.DeleteFunc(logs, func(l json.RawMessage) bool {
			height, ok := heightOf(l)
			return ok && height > v.head
		})
		if kept, err := json.Marshal(logs); err == nil {
			return kept
		}
	}
	return result
}

// heightOf is the height in a transaction, a receipt, a log or a block.
func heightOf(object json.RawMessage) (uint64, bool) {
	var in struct{ BlockNumber, Number *hexutil.Uint64 }
	if json.Unmarshal(object, &in) != nil {
		return 0, false
	}
	for _, n := range []*hexutil.Uint64{in.BlockNumber, in.Number} {
		if n != nil {
			return uint64(*n), true
		}
	}
	return 0, false
}

// withL1Fee adds Citrea's field to blocks.
func (v view) withL1Fee(method string, result json.RawMessage) json.RawMessage {
	rate := v.net.options.L1FeeRate
	if rate == 0 || !strings.HasPrefix(method, "eth_getBlockBy") {
		return result
	}
	var block map[string]json.RawMessage
	if json.Unmarshal(result, &block) != nil || block == nil {
		return result
	}
	block["l1FeeRate"] = number(rate)
	if again, err := json.Marshal(block); err == nil {
		return again
	}
	return result
}

// logSpan is how many blocks a log filter spans.
func (s *Server) logSpan(params []json.RawMessage) uint64 {
	var filter struct{ FromBlock, ToBlock json.RawMessage }
	if len(params) == 0 || json.Unmarshal(params[0], &filter) != nil {
		return 0
	}
	head := s.node.Load().head().Number.Uint64()
	read := func(p json.RawMessage) uint64 {
		var n hexutil.Uint64
		if json.Unmarshal(p, &n) != nil {
			return head // a tag, or nothing
		}
		return uint64(n)
	}
	from, to := read(filter.FromBlock), read(filter.ToBlock)
	if string(filter.FromBlock) == `"earliest"` {
		from = 0
	}
	return max(to, from) - from + 1
}
