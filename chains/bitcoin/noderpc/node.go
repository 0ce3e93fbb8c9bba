package noderpc

import (
	"context"
	"fmt"

	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/internal/httpx"
)

// node is what the client learned about the node at its first call.
type node struct {
	btcd    bool // else Bitcoin Core, or what behaves like it
	txIndex bool // knows confirmed transactions by their id; btcd says so with the first one that is asked for
}

// learn asks the node once for its genesis block and what it is.
func (c *Client) learn(ctx context.Context) (*node, error) {
	c.mu.Lock()
	known := c.node
	c.mu.Unlock()
	if known != nil {
		return known, nil
	}
	answers, err := c.do(ctx, method("getblockhash", 0), method("version"), method("getindexinfo"))
	if err != nil {
		return nil, err
	}
	var text string
	if err := answers[0].decode(&text); err != nil {
		return nil, fault.New(fault.Upstream, "Bitcoin node%s, genesis block: %w", fault.Hidden(c.named()), err)
	}
	if h, err := bitcoin.ParseHash(text); err != nil || h != c.genesis {
		return nil, fault.New(fault.Upstream, "Bitcoin node%s is not on Bitcoin %s%s", fault.Hidden(c.named()), c.o.Network, fault.Hidden(fmt.Sprintf(": its genesis block is %.64q", httpx.Conceal([]byte(text), c.asked()))))
	}
	n := &node{txIndex: true}
	var version map[string]any
	if answers[1].decode(&version) == nil {
		_, n.btcd = version["btcdjsonrpcapi"]
	}
	if answers[2].Error == nil { // Core 0.21 and later
		var indexes map[string]struct{ Synced bool }
		if err := answers[2].decode(&indexes); err != nil {
			return nil, fault.New(fault.Upstream, "Bitcoin node%s, index information: %w", fault.Hidden(c.named()), err)
		}
		n.txIndex = indexes["txindex"].Synced
	}
	if !n.txIndex {
		return n, nil // not cached: the index may still be building
	}
	c.mu.Lock()
	c.node = n
	c.mu.Unlock()
	return n, nil
}
