package rpc

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"reflect"
	"strings"
	"time"

	"github.com/ethereum/go-ethereum/common/hexutil"

	"github.com/swapper-go/swapper/internal/httpx"
	"github.com/swapper-go/swapper/internal/jsonrpc"
)

// behind is how old the newest block of a node may be before others are asked.
const behind = 2 * time.Minute

// Nodes are the nodes at several URLs. They also halve searches of logs that a node
// finds too wide. Safe for concurrent use.
type Nodes struct{ *jsonrpc.Nodes }

// Dial connects to nothing yet.
func Dial(chainID uint64, urls []string, transport http.RoundTripper, now func() time.Time) (*Nodes, error) {
	nodes, err := jsonrpc.Dial(jsonrpc.Dialect{
		Identity: "eth_chainId",
		Check:    func(answer json.RawMessage) error { return checkChain(chainID, answer) },
		Judge:    judge,
		Head: func(r Request, answer json.RawMessage, result any) (height uint64, late, ok bool) {
			head := headIn(r, answer, result)
			if head == nil {
				return 0, false, false
			}
			return uint64(head.Number), time.Unix(int64(head.Timestamp), 0).Before(now().Add(-behind)), true
		},
		Light: light,
		Unit:  "block",
	}, urls, transport, now)
	if err != nil {
		return nil, err
	}
	return &Nodes{nodes}, nil
}

// Singles returns a view of each node, as [jsonrpc.Nodes.Singles] does.
func (n *Nodes) Singles() ([]*Nodes, httpx.RetryPolicy) {
	views, again := n.Nodes.Singles()
	all := make([]*Nodes, len(views))
	for i, v := range views {
		all[i] = &Nodes{v}
	}
	return all, again
}

// checkChain judges the chain id that a node names.
func checkChain(want uint64, answer json.RawMessage) error {
	var id hexutil.Uint64
	if json.Unmarshal(answer, &id) != nil {
		return errors.New("did not return its chain id")
	}
	if uint64(id) != want {
		return &jsonrpc.ForeignError{Says: fmt.Sprintf("serves chain %d instead of %d", uint64(id), want)}
	}
	return nil
}

// headIn is the newest block, if it was asked for: in what the answer was decoded to where
// that is a pointer to a pointer to a [BlockHead], or to what embeds one.
func headIn(r Request, answer json.RawMessage, result any) (head *BlockHead) {
	if r.Method != "eth_getBlockByNumber" || len(r.Params) == 0 || r.Params[0] != "latest" {
		return nil
	}
	if v := reflect.ValueOf(result); v.Kind() == reflect.Pointer && v.Elem().Kind() == reflect.Pointer && !v.Elem().IsNil() {
		if h, ok := v.Elem().Interface().(interface{ self() *BlockHead }); ok {
			return h.self()
		}
	}
	if json.Unmarshal(answer, &head) != nil {
		return nil
	}
	return head
}

// Batch implements [Node].
func (n *Nodes) Batch(ctx context.Context, requests []Request) error {
	if err := n.Nodes.Batch(ctx, requests); err != nil {
		return err
	}
	return n.narrow(ctx, requests)
}

// light names the calls that a node answers from what it has at hand. A search of logs is
// one if it is about a single block.
func light(r Request) bool {
	switch r.Method {
	case "eth_chainId", "eth_call", "eth_getBlockByNumber", "eth_getTransactionCount", "eth_getBalance", "eth_getTransactionReceipt", "eth_getTransactionByHash":
		return true
	case "eth_getLogs":
		if len(r.Params) > 0 {
			f, ok := r.Params[0].(LogFilter)
			return ok && f.FromBlock == f.ToBlock
		}
	}
	return false
}

// judge tells answers from troubles of the node (protocol: chain-evm.md §1.4).
func judge(method string, err *jsonrpc.Error) jsonrpc.Verdict {
	if method == "eth_getLogs" && tooWide(err) {
		return jsonrpc.Answer // it asks for a smaller range
	}
	text := strings.ToLower(err.Error())
	switch err.Code {
	case 0:
		return jsonrpc.Trouble // not in JSON-RPC's terms
	case -32000, -32600, -32602:
		// Also used for what another node may know, and for limits of the caller.
		if Says(text, "header not found", "unknown block", "missing trie node", "rate limit", "too many requests", "request limit") {
			return jsonrpc.Trouble
		}
		return jsonrpc.Answer
	case 3, -32700, -32601, -32004, -32006:
		return jsonrpc.Answer
	}
	if Says(text, "already known") {
		return jsonrpc.Answer
	}
	return jsonrpc.Trouble
}
