package evm

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/internal/evm/rpc"
	"github.com/swapper-go/swapper/internal/evm/wire"
	"github.com/swapper-go/swapper/internal/subscribe"
)

// eventPoll is how often new logs are asked for (protocol: chain-evm.md §1.4).
const eventPoll = 5 * time.Second

// pollMost is how many blocks a poll goes back at most.
const pollMost = 200_000

// hintCursor is the cursor of a chain: where each contract set was read up to.
type hintCursor map[string][2]rpc.LogCursor // by version: escrow manager, vault manager

// Hints polls every five seconds, or by what a subscription tells: one round trip, one more to
// read the escrows that were opened, and those of the blocks in between after a pause, of the
// newest two hundred thousand: hints only say where to look.
func (c *chain) Hints(ctx context.Context, from chains.Cursor, deliver func([]chains.Hint, chains.Cursor) error) error {
	at := hintCursor{}
	if len(from) > 0 {
		if err := json.Unmarshal(from, &at); err != nil {
			return fmt.Errorf("cursor: %w", err)
		}
	}
	tip := uint64(0)
	return subscribe.Poll(ctx, c.subscribed, c.eventPoll, at, func(at hintCursor, hand func([]chains.Hint, hintCursor) error) error {
		hints, next, seen, err := c.poll(ctx, at, tip)
		if err == nil && (len(hints) > 0 || !maps.Equal(at, next)) {
			err = hand(hints, next)
		}
		if err == nil {
			tip = seen
		}
		return err
	}, deliver, func(err error) { c.env.Log.Warn("reading contract events failed", "err", err) })
}

// addresses are the contracts whose logs are read.
func (c *chain) addresses() (all []common.Address) {
	for _, k := range c.contracts {
		all = append(all, k.EscrowManager.Address, k.VaultManager.Address)
	}
	return all
}

// feed is one contract whose logs are read.
type feed struct {
	k      *contracts
	member int // of the cursor
	of     common.Address
	cursor rpc.LogCursor
	logs   []types.Log
	asked  bool // logs were asked for along with the heads
}

// poll reads what is new up to the block that is acted on. While the cursors are
// near the tip as it was seen last, the logs are asked for together with the heads.
func (c *chain) poll(ctx context.Context, at hintCursor, tip uint64) ([]chains.Hint, hintCursor, uint64, error) {
	var h headsRequest
	requests := h.requests(c.net)
	var feeds []*feed
	for _, k := range c.contracts {
		for i, of := range []common.Address{k.EscrowManager.Address, k.VaultManager.Address} {
			f := &feed{k: k, member: i, of: of, cursor: at[k.Version()][i]}
			if f.cursor.Block != 0 && tip >= f.cursor.Block && tip-f.cursor.Block < rpc.LogRange/2 {
				f.asked = true
				requests = append(requests, rpc.NewLogsRequest(of, f.cursor.Block, c.net.SafeTag, nil, &f.logs))
			}
			feeds = append(feeds, f)
		}
	}
	heads := len(requests)
	for heads > 0 && requests[heads-1].Method == "eth_getLogs" {
		heads--
	}
	if err := c.node.Batch(ctx, requests); err != nil {
		return nil, nil, 0, err
	}
	for _, r := range requests[:heads] {
		if r.Err != nil {
			return nil, nil, 0, fmt.Errorf("%s: %w", r.Method, r.Err)
		}
	}
	if _, err := h.heads(); err != nil {
		return nil, nil, 0, err
	}
	tip = uint64(h.safe.Number)
	next := hintCursor{}
	maps.Copy(next, at) // places of contract sets that are not configured now are kept
	logsAsked := requests[heads:]
	lied := c.ahead.Lasts(slices.ContainsFunc(feeds, func(f *feed) bool { return f.cursor.Block > tip }))
	var hints []chains.Hint
	for _, f := range feeds {
		var answered error
		if f.asked {
			answered, logsAsked = logsAsked[0].Err, logsAsked[1:]
		}
		if lied && f.cursor.Block > tip {
			c.env.Log.Warn("contract events are read from an earlier block: the nodes are behind the last that was read, so that one of them was wrong", "contract", f.of.Hex(), "from", f.cursor.Block, "to", tip)
			f.cursor = rpc.LogCursor{Block: tip - min(rpc.LateLogs, tip)}
		} else if some, err := c.advance(ctx, f, tip, f.asked && answered == nil); err != nil {
			return nil, nil, 0, err
		} else {
			hints = append(hints, some...)
		}
		cursors := next[f.k.Version()]
		cursors[f.member] = f.cursor
		next[f.k.Version()] = cursors
	}
	return hints, next, tip, nil
}

// advance turns the new logs of a feed into hints and moves its cursor on.
func (c *chain) advance(ctx context.Context, f *feed, tip uint64, have bool) ([]chains.Hint, error) {
	switch {
	case f.cursor.Block == 0:
		f.cursor.Block = tip
		return nil, nil
	case tip < f.cursor.Block:
		return nil, nil // the node is behind
	}
	if tip-f.cursor.Block > pollMost {
		c.env.Log.Warn("contract events are left out: there are too many blocks since the last look", "contract", f.of.Hex(), "from", f.cursor.Block)
		f.cursor, have = rpc.LogCursor{Block: tip - pollMost}, false
	}
	if !have {
		logs, err := c.filter(ctx, f.of, rpc.BlockRange{From: f.cursor.Block, To: tip}, nil)
		if err != nil {
			return nil, err
		}
		f.logs = logs
	}
	f.logs = slices.DeleteFunc(f.logs, func(l types.Log) bool { return l.BlockNumber > tip || l.Address != f.of })
	if !f.cursor.Found(f.logs) {
		// The last log that was read is in the chain no more: what was mined
		// again may stand in blocks that were read before.
		f.cursor = rpc.LogCursor{Block: f.cursor.Block - min(rpc.LateLogs, f.cursor.Block-1)}
		logs, err := c.filter(ctx, f.of, rpc.BlockRange{From: f.cursor.Block, To: tip}, nil)
		if err != nil {
			return nil, err
		}
		f.logs = logs
	}
	hints, err := f.k.hints(ctx, f.cursor.New(f.logs))
	f.cursor = f.cursor.Next(f.logs, tip)
	return hints, err
}

// filter returns the logs of a contract in a range, in ascending order.
func (c *chain) filter(ctx context.Context, of common.Address, blocks rpc.BlockRange, topics [][]common.Hash) ([]types.Log, error) {
	var found []types.Log
	for some := range rpc.NewLogRanges(blocks.From, blocks.To, rpc.LogRange).Up(rpc.ParallelLogReads) {
		answers := make([][]types.Log, len(some))
		requests := make([]rpc.Request, len(some))
		for i, r := range some {
			requests[i] = rpc.LogRequest(of, r, topics, &answers[i])
		}
		if err := rpc.AskAll(ctx, c.node, requests); err != nil {
			return nil, err
		}
		for _, logs := range answers {
			found = append(found, logs...)
		}
	}
	return found, nil
}

// hints turns logs into hints. We know an escrow that an LP opened only by its
// claim hash, which is found in the transaction.
func (k *contracts) hints(ctx context.Context, logs []types.Log) ([]chains.Hint, error) {
	var hints []chains.Hint
	var opened []types.Log
	for _, l := range logs {
		e, err := k.DecodeLog(l)
		if err != nil {
			continue // what cannot be read is about no swap of ours
		}
		if init, ok := e.(wire.InitializeEvent); ok && init.Kind == chains.HTLC {
			opened = append(opened, l)
		}
		if hint, ok := k.hint(e, l); ok {
			hints = append(hints, hint)
		}
	}
	escrows, err := k.openings(ctx, opened)
	if err != nil {
		return nil, err
	}
	for i := range hints {
		for _, e := range escrows {
			if bytes.Equal(e.Hash, hints[i].EscrowHash) {
				hints[i].ClaimHash = e.ClaimHash
			}
		}
	}
	return hints, nil
}

// hint says where a log points; a log is never trusted further.
func (k *contracts) hint(e wire.Event, l types.Log) (chains.Hint, bool) {
	h := chains.Hint{Version: k.Version(), TxID: l.TxHash.Hex()}
	switch e := e.(type) {
	case wire.InitializeEvent:
		h.EscrowHash = e.EscrowHash.Bytes()
	case wire.ClaimEvent:
		h.EscrowHash = e.EscrowHash.Bytes()
	case wire.RefundEvent:
		h.EscrowHash = e.EscrowHash.Bytes()
	case wire.VaultFrontEvent:
		h.BitcoinTx = e.BitcoinTx
	case wire.VaultClaimEvent:
		h.BitcoinTx = e.BitcoinTx
	case wire.VaultCloseEvent:
		h.BitcoinTx = e.BitcoinTx
	default:
		return chains.Hint{}, false
	}
	return h, true
}
