package solana

import (
	"context"
	"math/big"

	"golang.org/x/sync/errgroup"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/internal/settle"
	"github.com/swapper-go/swapper/internal/solana/read"
	"github.com/swapper-go/swapper/internal/solana/rpc"
	"github.com/swapper-go/swapper/internal/solana/wire"
)

// Status takes one round trip, a second one for the blocks of transactions that were
// executed since the last look, and another one, to all nodes at once, for
// transactions whose block hash is too old.
func (c *chain) Status(ctx context.Context, txs []chains.Signed) ([]chains.TxStatus, error) {
	if len(txs) == 0 {
		return nil, nil
	}
	look := newLook(txs)
	if err := rpc.AskAll(ctx, c.node, look.requests()); err != nil {
		return nil, err
	}
	all := make([]chains.TxStatus, len(txs))
	c.noteHashes(&look.present)
	var doubtful []chains.Signed
	var places []int
	for i, tx := range txs {
		known := look.known(i)
		if known == nil {
			if c.tooOld(tx, heightOf(look.final)) {
				doubtful, places = append(doubtful, tx), append(places, i)
			} else {
				all[i].State = c.waiting(tx)
			}
			continue
		}
		all[i] = c.statusOf(tx, known, &look.present)
	}
	gone, err := c.gone(ctx, doubtful)
	if err != nil {
		return nil, err
	}
	for n, i := range places {
		if gone[n] {
			all[i] = chains.TxStatus{State: chains.TxReplaced, Reason: "the transaction has expired: its block hash is too old"}
		}
	}
	return all, c.fillBlocks(ctx, all)
}

// look is one question for what became of transactions.
type look struct {
	present
	at    []int // index into the ids asked for, -1 if a transaction's id is none
	pages []*rpc.Statuses
	ids   []wire.Signature
}

func newLook(txs []chains.Signed) *look {
	l := &look{at: make([]int, len(txs))}
	for i, tx := range txs {
		l.at[i] = -1
		if id, err := wire.ParseSignature(tx.ID); err == nil {
			l.at[i] = len(l.ids)
			l.ids = append(l.ids, id)
		}
	}
	return l
}

func (l *look) requests() []rpc.Request {
	requests := l.present.requests()
	for first := 0; first < len(l.ids); first += rpc.StatusesPerCall {
		page := new(rpc.Statuses)
		l.pages = append(l.pages, page)
		requests = append(requests, rpc.StatusesRequest(l.ids[first:min(first+rpc.StatusesPerCall, len(l.ids))], page))
	}
	return requests
}

// known returns what the node knows of the i-th transaction, nil if nothing.
func (l *look) known(i int) *rpc.Status {
	at := l.at[i]
	if at < 0 {
		return nil
	}
	return l.pages[at/rpc.StatusesPerCall].All[at%rpc.StatusesPerCall]
}

// statusOf reads the status of a transaction that a node knows.
func (c *chain) statusOf(tx chains.Signed, known *rpc.Status, p *present) (s chains.TxStatus) {
	if !known.Reached(rpc.Confirmed) || known.Slot > p.latest.Slot {
		return chains.TxStatus{State: chains.TxPending}
	}
	s = chains.TxStatus{State: chains.TxConfirmed, Block: chains.Block{Height: known.Slot}}
	s.Final = known.Reached(rpc.Finalized) && known.Slot <= p.finalSlot()
	if parsed, err := wire.ParseTx(tx.Raw); err == nil {
		s.Fee = parsed.Cost()
		if known.Err != nil {
			s.Fee = parsed.MaxFee()
		}
	}
	if known.Err != nil {
		s.State, s.Reason = chains.TxReverted, c.explain(tx, known.Err)
	}
	return s
}

// waiting is the state of a transaction that no node has executed: nodes do not tell
// what they are trying.
func (c *chain) waiting(tx chains.Signed) chains.TxState {
	if _, sent := c.hashes.sent.Get(tx.ID); sent {
		return chains.TxPending
	}
	return chains.TxUnknown
}

// tooOld reports whether a transaction cannot be executed after a block height.
func (c *chain) tooOld(tx chains.Signed, height uint64) bool {
	if len(tx.Raw) == 0 {
		return false
	}
	p, err := wire.ParseTx(tx.Raw)
	if err != nil {
		return false
	}
	c.hashes.meet(p.Blockhash)
	return c.hashes.over(p.Blockhash, height)
}

// gone asks again for transactions that look expired: most of the nodes must say that
// the chain has finally passed their block hashes and that they do not know them, and
// none that it knows them. Of the others it stays unknown what became of them.
func (c *chain) gone(ctx context.Context, txs []chains.Signed) ([]bool, error) {
	gone := make([]bool, len(txs))
	if len(txs) == 0 {
		return gone, nil
	}
	answers, against := 0, make([]bool, len(txs))
	count := len(newLook(txs).requests())
	ask := func() []rpc.Request { return newLook(txs).requests() }
	err := c.nodes.Each(ctx, ask, func(r []rpc.Request) {
		if len(r) != count {
			return
		}
		for _, one := range r {
			if one.Err != nil {
				return
			}
		}
		l := newLook(txs)
		l.requests()
		l.final = *r[1].Result.(*rpc.LatestBlockhash)
		for n := range l.pages {
			l.pages[n] = r[presentRequests+n].Result.(*rpc.Statuses)
		}
		answers++
		for i, tx := range txs {
			against[i] = against[i] || l.known(i) != nil || !c.tooOld(tx, heightOf(l.final))
		}
	})
	if err != nil {
		return nil, err
	}
	for i := range txs {
		gone[i] = answers >= c.most && !against[i]
	}
	return gone, nil
}

// fillBlocks completes the blocks of which only the height is known.
func (c *chain) fillBlocks(ctx context.Context, all []chains.TxStatus) error {
	var at []*chains.Block
	for i := range all {
		if all[i].Block.Height != 0 {
			at = append(at, &all[i].Block)
		}
	}
	return c.complete(ctx, c.ledger, at)
}

// complete fills in hash and time of blocks, which a slot has for good. It takes one
// round trip if one is not known yet. Where a node does not have a block, they stay
// empty.
func (c *chain) complete(ctx context.Context, l *read.Ledger, blocks []*chains.Block) error {
	at := map[uint64][]*chains.Block{}
	for _, b := range blocks {
		at[b.Height] = append(at[b.Height], b)
	}
	g, inner := errgroup.WithContext(ctx)
	g.SetLimit(parallelBlocks)
	for slot, same := range at {
		g.Go(func() error {
			block, err := l.Block(inner, slot)
			if err != nil {
				return inner.Err()
			}
			c.hashes.end(block.Hash, *block.Height+wire.TxSlots)
			for _, b := range same {
				b.Hash, b.Time = block.Hash.String(), *block.Time
			}
			return nil
		})
	}
	return g.Wait()
}

// parallelBlocks is how many blocks are asked for at once.
const parallelBlocks = 8

// explain says why a transaction failed, in the words of the program that it calls.
func (c *chain) explain(tx chains.Signed, reason []byte) string {
	e := wire.ParseTxError(reason)
	p, err := wire.ParseTx(tx.Raw)
	if err != nil {
		return e.Reason
	}
	return c.contractOf(p.Instructions).Explain(e, p.Instructions)
}

// contractOf returns the contract that instructions call, any if they call none.
func (c *chain) contractOf(instructions []wire.Instruction) *contract {
	for _, k := range c.contracts {
		for _, ix := range instructions {
			if ix.Program == k.Swap || ix.Program == k.Relay {
				return k
			}
		}
	}
	return c.contracts[0]
}

// Paid implements [chains.Payouts]. It takes one round trip, to all nodes. Only plain transfers pay
// SOL from one wallet to another; what programs pass on is seen as far as the node
// tells it.
func (c *chain) Paid(ctx context.Context, txID, to string) (chains.Payout, error) {
	id, err := wire.ParseSignature(txID)
	if err != nil {
		return chains.Payout{Amount: new(big.Int)}, nil
	}
	who, err := address("address", to)
	if err != nil {
		return chains.Payout{}, err
	}
	p := settle.NewPanel(c.nodes.Singles, c.env.AllNodes, c.env.Now, c.env.Log, func(n *rpc.Nodes) rpc.Node { return n })
	return settle.Paid(ctx, p, txID, func(n rpc.Node, ctx context.Context) (settle.Payment, error) { return read.Paid(ctx, n, id, who) })
}
