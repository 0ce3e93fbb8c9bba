package mempoolspace

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/internal/async"
	"github.com/swapper-go/swapper/internal/httpx"
	"github.com/swapper-go/swapper/internal/lru"
	"github.com/swapper-go/swapper/internal/subscribe"
)

// Bounds of what is heard.
const (
	mostSilent   = time.Minute     // a connection without a sign of life for so long is given up
	followPause  = 5 * time.Second // between questions for a block that was told of; without one it is a minute
	followIdle   = 30              // so many questions for the newest block while nothing else is asked are the last
	mostFailures = 3               // questions for the newest block in a row, after which it is not known
	blocksKept   = 12              // of the followed blocks, whose transactions are kept
	askedKept    = 1 << 16         // transactions of which Unchanged was asked
	mostBlockTx  = 1 << 16         // more transactions than fit into a block
)

// follower is what is known of the newest blocks.
type follower struct {
	nodes *subscribe.Nodes // nil: no server tells anything
	asked *lru.Cache[bitcoin.Hash, struct{}]
	used  atomic.Bool // it was of use since the last question for the newest block

	mu     sync.Mutex
	tip    bitcoin.Header
	blocks []followed // up to tip, the oldest first
	seq    uint64     // of the last change: a block, or another beginning
	from   uint64     // seq of the beginning
	heard  uint64     // the mark of nodes when tip was asked for; 0: it is not known now
}

type followed struct {
	seq uint64
	txs map[bitcoin.Hash]struct{}
}

// subscribe prepares what [Client.Follow] listens to.
func (c *Client) subscribe() error {
	var err error
	c.heard.asked = lru.New[bitcoin.Hash, struct{}](askedKept)
	c.heard.nodes, err = subscribe.New(subscribe.Options{
		URLs: c.o.WebSocket, Silence: mostSilent, HTTP: c.http.Transport, Log: c.log,
		Speech: &subscribe.Speech{Open: `{"action":"want","data":["blocks"]}`, Ping: `{"action":"ping"}`, Judge: c.judge},
	})
	return err
}

// socketJSON is a message of a mempool.space server, as far as it is read.
type socketJSON struct {
	Blocks []struct {
		ID     string `json:"id"`
		Height uint32 `json:"height"`
	} `json:"blocks"` // the answer to "want"
	Block *struct{} `json:"block"`
	Pong  bool      `json:"pong"`
}

// judge says what a message means. The blocks that a server begins with are compared with
// those of the servers that are asked.
func (c *Client) judge(ctx context.Context, text []byte) (subscribe.News, error) {
	var m socketJSON
	if err := httpx.Decode(text, &m); err != nil {
		return subscribe.Nothing, fmt.Errorf("message does not follow the protocol: %w", err)
	}
	switch {
	case len(m.Blocks) > 0:
		id, err := bitcoin.ParseHash(m.Blocks[0].ID)
		if err != nil {
			return subscribe.Nothing, fmt.Errorf("block: %w", err)
		}
		if in, err := c.InMainChain(ctx, id); err != nil {
			return subscribe.Nothing, errors.New("its blocks could not be compared")
		} else if !in {
			return subscribe.Nothing, errors.New("its blocks are not those of the servers that are asked")
		}
		return subscribe.Beat, nil
	case m.Block != nil:
		return subscribe.Hint, nil
	case m.Pong:
		return subscribe.Beat, nil
	}
	return subscribe.Nothing, nil
}

// Subscriptions implements [bitcoin.Listener].
func (c *Client) Subscriptions() []bitcoin.Subscription { return c.heard.nodes.States() }

// Follow implements [bitcoin.Listener]. It returns at once without a URL in Options.WebSocket.
// For each new block it sends two requests, for headers and for the ids of its transactions,
// which must fold to the header's root.
func (c *Client) Follow(ctx context.Context, deliver func(confirmed []bitcoin.Hash)) error {
	f := &c.heard
	if f.nodes == nil {
		return nil
	}
	defer f.lose()
	idle, failures := 0, 0 // questions in a row
	return subscribe.Poll(ctx, f.nodes, followPause, func() (news bool, failure, final error) {
		heard := f.nodes.Heard()
		if idle++; heard == 0 || f.used.Swap(false) {
			idle = 0
		}
		if heard == 0 || idle > followIdle {
			f.lose()
			return false, nil, nil
		}
		confirmed, news, err := c.advance(ctx, heard)
		if err != nil {
			if failures++; failures == mostFailures {
				f.lose()
			}
			return false, err, nil
		}
		failures = 0
		if len(confirmed) > 0 {
			deliver(confirmed)
		}
		return news, nil, nil
	}, func(err error) { c.log.Warn("following new blocks failed", "error", err) })
}

// advance asks for what is new above the tip.
func (c *Client) advance(ctx context.Context, heard uint64) (confirmed []bitcoin.Hash, news bool, err error) {
	f := &c.heard
	f.mu.Lock()
	tip, before := f.tip, f.heard
	f.mu.Unlock()
	height, err := c.newTip(ctx)
	if err != nil {
		return nil, false, err
	}
	if tip == (bitcoin.Header{}) || height > tip.Height+blocksKept {
		list, err := c.HeadersFrom(ctx, height, 1)
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
		return nil, false, errors.New("the newest block is below one that was seen")
	}
	list, err := c.HeadersFrom(ctx, tip.Height, blocksKept+1)
	if err != nil || len(list) == 0 {
		return nil, false, err
	}
	if list[0].Hash() != tip.Hash() { // the chain has another branch
		f.begin(list[len(list)-1], heard)
		return nil, true, nil
	}
	blocks := make([]map[bitcoin.Hash]struct{}, 0, len(list)-1)
	for _, h := range list[1:] {
		ids, err := c.blockTxs(ctx, h)
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

// newTip is TipHeight that is asked now: what was heard is newer than what is remembered.
func (c *Client) newTip(ctx context.Context) (uint32, error) {
	return c.tip.Get(ctx, -1, c.askTip)
}

// blockTxs returns the ids of the transactions of a block, in its order.
func (c *Client) blockTxs(ctx context.Context, h bitcoin.Header) ([]bitcoin.Hash, error) {
	path := "block/" + h.Hash().String() + "/txids"
	return async.Do(ctx, &c.flight, path, func(ctx context.Context) ([]bitcoin.Hash, error) {
		return ask(ctx, c, "GET "+path, func(ctx context.Context, s *source) ([]bitcoin.Hash, error) {
			var texts []string
			if err := s.getJSON(ctx, path, txLimit, &texts); err != nil {
				return nil, err
			}
			if len(texts) == 0 || len(texts) > mostBlockTx {
				return nil, fmt.Errorf("block %d has %d transactions", h.Height, len(texts))
			}
			ids := make([]bitcoin.Hash, len(texts))
			for i, text := range texts {
				var err error
				if ids[i], err = bitcoin.ParseHash(text); err != nil {
					return nil, fmt.Errorf("transaction %d of block %d: %w", i, h.Height, err)
				}
			}
			if p, ok := bitcoin.BuildMerkleProof(ids, ids[0], h.Height); !ok || p.Verify(h) != nil {
				return nil, fmt.Errorf("the transactions of block %d do not fold to its root", h.Height)
			}
			return ids, nil
		})
	})
}

// Heard implements [bitcoin.Listener].
func (c *Client) Heard() uint64 {
	f := &c.heard
	if f.nodes == nil {
		return 0
	}
	f.used.Store(true)
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.heard == 0 || f.heard != f.nodes.Heard() {
		return 0
	}
	return f.seq
}

// Unchanged implements [bitcoin.Listener].
func (c *Client) Unchanged(tx *bitcoin.Tx, heard uint64) bool {
	now := c.Heard()
	if tx == nil || heard == 0 || now == 0 {
		return false
	}
	f := &c.heard
	f.asked.Add(tx.ID, struct{}{})
	f.mu.Lock()
	defer f.mu.Unlock()
	if tx.Confirmed() {
		return heard == f.seq
	}
	if heard < f.from || len(f.blocks) == blocksKept && heard < f.blocks[0].seq {
		return false
	}
	for _, b := range f.blocks { // those before the mark too: a server that is behind did not know of them
		if _, in := b.txs[tx.ID]; in {
			return false
		}
	}
	return true
}

// lose says that the newest block is not known now.
func (f *follower) lose() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.heard = 0
}

// begin follows from a block on.
func (f *follower) begin(tip bitcoin.Header, heard uint64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.seq++
	f.from, f.tip, f.blocks, f.heard = f.seq, tip, nil, heard
}

// add goes on with blocks, the last of which is tip.
func (f *follower) add(tip bitcoin.Header, blocks []map[bitcoin.Hash]struct{}, heard uint64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, txs := range blocks {
		f.seq++
		f.blocks = append(f.blocks, followed{f.seq, txs})
	}
	f.blocks = append([]followed(nil), f.blocks[max(0, len(f.blocks)-blocksKept):]...)
	f.tip, f.heard = tip, heard
}
