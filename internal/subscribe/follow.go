package subscribe

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/internal/bounds"
)

// Bounds of what is heard.
const (
	pause        = 5 * time.Second // between questions for a block that was told of; without one it is a minute
	mostFailures = 3               // questions for the newest block in a row, after which it is not known
	mostBehind   = 12              // answers in a row below a block that was seen, after which that block does not count
	blocksKept   = 12              // of the followed blocks, whose transactions are kept
	askedKept    = 1 << 18         // transactions of which Unchanged was asked
	mostBlockTx  = 1 << 16         // more transactions than fit into a block
)

// Source are the questions of a backend.
type Source struct {
	// Tip asks for the height of the best block now: an answer to an earlier question does not count.
	Tip func(context.Context) (uint32, error)
	// Headers is HeadersFrom of the backend.
	Headers func(ctx context.Context, from uint32, count int) ([]bitcoin.Header, error)
	// BlockTxs returns the ids of a block's transactions, which [CheckBlock] accepts.
	BlockTxs func(context.Context, bitcoin.Header) ([]bitcoin.Hash, error)
}

// Follower does for a backend what [bitcoin.Listener] says. It is safe for concurrent use.
type Follower struct {
	nodes *Nodes // nil: no node tells anything
	from  Source
	log   *slog.Logger
	asked *bounds.Cache[bitcoin.Hash, struct{}]

	mu     sync.Mutex
	tip    bitcoin.Header
	blocks []followed // up to tip, the oldest first
	seq    uint64     // of the last change: a block, or another beginning
	begun  uint64     // seq of the beginning
	heard  uint64     // the mark of nodes when tip was asked for; 0: it is not known now
}

type followed struct {
	seq uint64
	txs map[bitcoin.Hash]struct{}
}

// New returns a follower that hears nodes; nil nodes tell nothing.
func Follow(nodes *Nodes, from Source, log *slog.Logger) *Follower {
	return &Follower{nodes: nodes, from: from, log: log, asked: bounds.NewCache[bitcoin.Hash, struct{}](askedKept)}
}

// CheckBlock says whether ids are those of the transactions of a block, in its order: they fold to
// the header's root.
func CheckBlock(h bitcoin.Header, ids []bitcoin.Hash) error {
	if len(ids) == 0 || len(ids) > mostBlockTx {
		return fmt.Errorf("block %d has %d transactions", h.Height, len(ids))
	}
	if p, ok := bitcoin.BuildMerkleProof(ids, ids[0], h.Height); !ok || p.Verify(h) != nil {
		return fmt.Errorf("the transactions of block %d do not fold to its root", h.Height)
	}
	return nil
}

// Subscriptions implements [bitcoin.Listener].
func (f *Follower) Subscriptions() []bitcoin.Subscription { return f.nodes.States() }

// Follow implements [bitcoin.Listener]. It returns at once without nodes. For each new block it
// asks for headers and for the ids of its transactions.
func (f *Follower) Follow(ctx context.Context, deliver func(confirmed []bitcoin.Hash)) error {
	if f.nodes == nil {
		return nil
	}
	defer f.lose()
	var failed failures
	return poll(ctx, f.nodes, pause, func() (news bool, failure, final error) {
		heard := f.nodes.Heard()
		if heard == 0 || f.nodes.resting() {
			f.lose()
			return false, nil, nil
		}
		confirmed, news, err := f.advance(ctx, heard)
		if err != nil {
			f.failed(&failed, err)
			return false, err, nil
		}
		failed = failures{}
		if len(confirmed) > 0 {
			deliver(confirmed)
		}
		return news, nil, nil
	}, func(err error) { f.log.Warn("following new blocks failed", "error", err) })
}

var errBehind = errors.New("the newest block is below one that was seen")

// advance asks for what is new above the tip.
func (f *Follower) advance(ctx context.Context, heard uint64) (confirmed []bitcoin.Hash, news bool, err error) {
	f.mu.Lock()
	tip, before := f.tip, f.heard
	f.mu.Unlock()
	height, err := f.from.Tip(ctx)
	if err != nil {
		return nil, false, err
	}
	if tip == (bitcoin.Header{}) || height > tip.Height+blocksKept {
		list, err := f.from.Headers(ctx, height, 1)
		if err != nil || len(list) == 0 {
			return nil, false, err
		}
		f.begin(list[0], heard)
		return nil, true, nil
	}
	if height == tip.Height && heard == before {
		return nil, false, nil
	}
	if height < tip.Height {
		return nil, false, errBehind
	}
	list, err := f.from.Headers(ctx, tip.Height, blocksKept+1)
	if err != nil || len(list) == 0 {
		return nil, false, err
	}
	if list[0].Hash() != tip.Hash() { // the chain has another branch
		f.begin(list[len(list)-1], heard)
		return nil, true, nil
	}
	blocks := make([]map[bitcoin.Hash]struct{}, 0, len(list)-1)
	for _, h := range list[1:] {
		ids, err := f.from.BlockTxs(ctx, h)
		if err != nil {
			return nil, false, err
		}
		txs := make(map[bitcoin.Hash]struct{}, len(ids))
		for _, id := range ids {
			txs[id] = struct{}{}
			if _, ok := f.asked.Get(id); ok {
				confirmed = append(confirmed, id)
			}
		}
		blocks = append(blocks, txs)
	}
	f.add(list[len(list)-1], blocks, heard)
	return confirmed, len(blocks) > 0, nil
}

// Heard implements [bitcoin.Listener].
func (f *Follower) Heard() uint64 {
	if f.nodes == nil {
		return 0
	}
	f.nodes.use()
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.heard == 0 || f.heard != f.nodes.Heard() {
		return 0
	}
	return f.seq
}

// Unchanged implements [bitcoin.Listener].
func (f *Follower) Unchanged(tx *bitcoin.Tx, heard uint64) (asOf uint32, ok bool) {
	now := f.Heard()
	if tx == nil || heard == 0 || now == 0 {
		return 0, false
	}
	f.asked.Add(tx.ID, struct{}{})
	f.mu.Lock()
	defer f.mu.Unlock()
	if tx.Confirmed() { // in a block above the tip it was before that block was asked for
		return f.tip.Height, heard == f.seq && tx.Height <= f.tip.Height
	}
	if heard < f.begun || len(f.blocks) == blocksKept && heard < f.blocks[0].seq {
		return 0, false
	}
	for _, b := range f.blocks { // those before the mark too: a server that is behind did not know of them
		if _, in := b.txs[tx.ID]; in {
			return 0, false
		}
	}
	return f.tip.Height, true
}

// lose says that the newest block is not known now.
func (f *Follower) lose() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.heard = 0
}

// failures are questions for the newest block in a row that failed, and those of them whose
// answer was below it.
type failures struct{ all, behind int }

// failed counts a failure. A block that nodes stay below is one that no chain has: it is
// forgotten.
func (f *Follower) failed(n *failures, err error) {
	if n.all++; n.all == mostFailures {
		f.lose()
	}
	if n.behind++; !errors.Is(err, errBehind) {
		n.behind = 0
	}
	if n.behind < mostBehind {
		return
	}
	*n = failures{}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.tip, f.heard = bitcoin.Header{}, 0
}

// begin follows from a block on.
func (f *Follower) begin(tip bitcoin.Header, heard uint64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.seq++
	f.begun, f.tip, f.blocks, f.heard = f.seq, tip, nil, heard
}

// add goes on with blocks, the last of which is tip.
func (f *Follower) add(tip bitcoin.Header, blocks []map[bitcoin.Hash]struct{}, heard uint64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, txs := range blocks {
		f.seq++
		f.blocks = append(f.blocks, followed{f.seq, txs})
	}
	f.blocks = append([]followed(nil), f.blocks[max(0, len(f.blocks)-blocksKept):]...)
	f.tip, f.heard = tip, heard
}
