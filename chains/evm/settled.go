package evm

import (
	"context"
	"math"
	"math/big"
	"time"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/internal/evm/rpc"
	"github.com/swapper-go/swapper/internal/settle"
)

// alone reports whether there is one node, whose word is all that can be had.
func (k *contracts) alone() bool {
	n, ok := k.chain.node.(*rpc.Nodes)
	return !ok || !n.Several()
}

// panel are the nodes, each with contracts that remember nothing.
func (k *contracts) panel() *settle.Panel[*contracts] {
	env := k.chain.env
	if k.alone() {
		return &settle.Panel[*contracts]{Now: env.Now}
	}
	return settle.NewPanel(k.chain.node.(*rpc.Nodes).Singles, env.AllNodes, env.Now, env.Log, func(n *rpc.Nodes) *contracts {
		m := newMemory()
		m.params = k.memory.params // which their hash proves
		return &contracts{chain: &chain{net: k.chain.net, node: n, env: env}, Contracts: k.Contracts, memory: m}
	})
}

// noteSettled keeps what stays of what all nodes say.
func (k *contracts) noteSettled(p *settle.Panel[*contracts], q chains.EscrowQuery, f chains.EscrowFact) {
	now := k.chain.env.Now()
	e := q.Escrow
	if e == nil {
		e = f.Escrow
		if s, err := newSearch(0, q, k.EscrowManager.Height); err == nil && e == nil {
			searched := lowest(p, s.from, func(k *contracts, now time.Time) (uint64, bool) { return k.memory.unopened.Hint(s.key(), now) })
			k.memory.unopened.Note(s.key(), searched, now, true)
		} else if err == nil {
			k.memory.unopened.Forget(s.key())
		}
	}
	if e != nil {
		k.memory.known.Note(common.BytesToHash(e.Hash), f, buriedBelow(settledTo(f.Final, f.Head)), now, true)
	}
}

// settledTo is the block up to which nothing changes of a fact that all nodes say.
func settledTo(final bool, head chains.Block) chains.Block {
	if final {
		return head
	}
	return chains.Block{}
}

// lowest is the lowest height to which a node has just searched, of what each remembers.
func lowest(p *settle.Panel[*contracts], from uint64, searched func(k *contracts, now time.Time) (uint64, bool)) uint64 {
	low := uint64(math.MaxUint64)
	for _, s := range p.Seats {
		if at, ok := searched(s.Reader, p.Now()); ok {
			low = min(low, at)
		}
	}
	if low == math.MaxUint64 {
		return from
	}
	return low
}

// Paid implements [chains.Payouts]. It takes one round trip, to all nodes. Only plain transfers
// pay the native coin from one account to another; what contracts pass on is not seen.
func (c *chain) Paid(ctx context.Context, txID, to string) (chains.Payout, error) {
	p := settle.NewPanel(c.node.(*rpc.Nodes).Singles, c.env.AllNodes, c.env.Now, c.env.Log, func(n *rpc.Nodes) rpc.Node { return n })
	return settle.Paid(ctx, p, txID, func(n rpc.Node, ctx context.Context) (settle.Payment, error) {
		return c.paid(ctx, n, txID, common.HexToAddress(to))
	})
}

// paid is what one node says.
func (c *chain) paid(ctx context.Context, node rpc.Node, txID string, to common.Address) (p settle.Payment, err error) {
	var h headsRequest
	var tx *struct {
		To    *common.Address `json:"to"`
		Value *hexutil.Big    `json:"value"`
	}
	var done *receipt
	if err := rpc.AskAll(ctx, node, append(h.requests(c.net),
		rpc.Request{Method: "eth_getTransactionByHash", Params: []any{txID}, Result: &tx},
		rpc.Request{Method: "eth_getTransactionReceipt", Params: []any{txID}, Result: &done})); err != nil {
		return p, err
	}
	heads, err := h.heads()
	if err != nil {
		return p, err
	}
	p.Head, p.Amount = heads.Latest, new(big.Int)
	if done == nil || done.BlockNumber > h.safe.Number {
		return p, nil
	}
	p.Height = uint64(done.BlockNumber)
	if done.Status != 0 && tx != nil && tx.To != nil && *tx.To == to && tx.Value != nil {
		p.Amount = tx.Value.ToInt()
	}
	return p, nil
}
