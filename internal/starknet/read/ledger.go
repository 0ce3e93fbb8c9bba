package read

import (
	"context"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/internal/bounds"
	"github.com/swapper-go/swapper/internal/httpx"
	"github.com/swapper-go/swapper/internal/settle"
	"github.com/swapper-go/swapper/internal/starknet/rpc"
	"github.com/swapper-go/swapper/internal/starknet/wire"
)

// Nodes are the nodes of one network; *[starkrpc.Nodes] are.
type Nodes interface {
	rpc.Node
	Several() bool
	Singles() ([]*rpc.Nodes, httpx.RetryPolicy)
	Each(ctx context.Context, questions func() []rpc.Request, take func([]rpc.Request)) error
	Deliver(ctx context.Context, questions func() []rpc.Request, judge func([]rpc.Request) error) error
}

// Ledger is what all readers of one network share: its nodes, and what stays true of
// blocks. It is safe for concurrent use.
type Ledger struct {
	Nodes    Nodes
	Now      func() time.Time
	Log      *slog.Logger
	AllNodes bool                            // all nodes have to confirm what is settled, not only half
	times    *bounds.Cache[wire.Felt, int64] // of blocks, by hash: Unix seconds
	rate     rate
	latest   settle.Latest
	tip      atomic.Uint64 // the height of the last head; 0: none was read
	ahead    settle.Ahead  // of the chain: the cursor of events
}

// NewLedger returns a ledger that nothing is known of.
func NewLedger(nodes Nodes, now func() time.Time, log *slog.Logger) *Ledger {
	return &Ledger{Nodes: nodes, Now: now, Log: log, times: bounds.NewCache[wire.Felt, int64](16384)}
}

// panel are the nodes, each alone.
func (l *Ledger) panel() *settle.Panel[rpc.Node] {
	return settle.NewPanel(l.Nodes.Singles, l.AllNodes, l.Now, l.Log, func(n *rpc.Nodes) rpc.Node { return n })
}

// Heads returns the newest block that was accepted on L2, which is final by the rule that
// the network acts on. It takes one round trip.
func (l *Ledger) Heads(ctx context.Context) (chains.Heads, error) {
	var head rpc.Head
	if err := rpc.AskAll(ctx, l.Nodes, []rpc.Request{rpc.HeadRequest(&head)}); err != nil {
		return chains.Heads{}, err
	}
	return l.heads(&head), nil
}

// heads remembers a head, and gives it in the form that all chains do.
func (l *Ledger) heads(head *rpc.Head) chains.Heads {
	l.times.Add(head.Hash, head.Time)
	l.tip.Store(head.Height)
	l.latest.Note(head.Time, l.Now())
	b := head.Neutral()
	return chains.Heads{Latest: b, Final: b}
}

// BlockTime returns the Unix time of the block that is being made, which contracts see
// before an accepted block has it. It takes one round trip, none if it, or the newest
// accepted block, was read in the last ten seconds.
func (l *Ledger) BlockTime(ctx context.Context) (int64, error) {
	if t, ok := l.latest.Get(l.Now()); ok {
		return t, nil
	}
	var making rpc.PreConfirmed
	var head rpc.Head
	err := rpc.AskAll(ctx, l.Nodes, []rpc.Request{rpc.HeadRequest(&head), rpc.PreConfirmedRequest(&making)})
	if err != nil {
		return 0, err
	}
	l.heads(&head)
	t := max(head.Time, making.Time)
	l.latest.Note(t, l.Now())
	return t, nil
}
