package evm

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"

	"github.com/swapper-go/swapper/chains"
)

// eventPoll is how often new logs are asked for (protocol: chain-evm.md §1.4).
const eventPoll = 5 * time.Second

// hintCursor is the cursor of a chain: where each contract set was read up to.
type hintCursor map[string][2]LogCursor // by version: escrow manager, vault manager

// Hints polls: one round trip every five seconds while nothing lags.
func (c *chain) Hints(ctx context.Context, from chains.Cursor, deliver func([]chains.Hint, chains.Cursor) error) error {
	at := hintCursor{}
	if len(from) > 0 {
		if err := json.Unmarshal(from, &at); err != nil {
			return fmt.Errorf("cursor: %w", err)
		}
	}
	pause := eventPoll
	for {
		hints, next, err := c.poll(ctx, at)
		if err == nil {
			text, err := json.Marshal(next)
			if err != nil {
				return err
			}
			if err := deliver(hints, text); err != nil {
				return err
			}
			at, pause = next, eventPoll
		} else if ctx.Err() == nil {
			c.env.Log.Warn("events could not be read", "chain", c.net.Chain, "err", err)
			pause = min(2*pause, 2*time.Minute)
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(pause):
		}
	}
}

// poll reads what is new up to the block that is acted on.
func (c *chain) poll(ctx context.Context, at hintCursor) ([]chains.Hint, hintCursor, error) {
	var h headsRequest
	if err := batch(ctx, c.node, h.requests(c.net)); err != nil {
		return nil, nil, err
	}
	if _, err := h.heads(); err != nil {
		return nil, nil, err
	}
	tip := uint64(h.safe.Number)
	next := hintCursor{}
	var hints []chains.Hint
	for _, k := range c.contracts {
		cursors := at[k.Version()]
		for i, of := range []common.Address{k.EscrowManager.Address, k.VaultManager.Address} {
			cur := cursors[i]
			if cur.Block == 0 {
				cur.Block = tip
			}
			if tip >= cur.Block {
				logs, err := c.logs(ctx, of, BlockRange{cur.Block, tip})
				if err != nil {
					return nil, nil, err
				}
				some, err := k.hints(ctx, cur.New(logs))
				if err != nil {
					return nil, nil, err
				}
				hints = append(hints, some...)
				cur = cur.Next(logs, tip)
			}
			cursors[i] = cur
		}
		next[k.Version()] = cursors
	}
	return hints, next, nil
}

// logs returns all logs of a contract in a range, in ascending order.
func (c *chain) logs(ctx context.Context, of common.Address, blocks BlockRange) ([]types.Log, error) {
	return c.filter(ctx, of, blocks, nil)
}

func (c *chain) filter(ctx context.Context, of common.Address, blocks BlockRange, topics [][]common.Hash) ([]types.Log, error) {
	var found []types.Log
	ranges := LogRanges(blocks.From, blocks.To, LogRange)
	for len(ranges) > 0 {
		some := ranges[:min(ParallelLogReads, len(ranges))]
		ranges = ranges[len(some):]
		answers := make([][]types.Log, len(some))
		requests := make([]Request, len(some))
		for i, r := range some {
			requests[i] = logRequest(of, r, topics, &answers[i])
		}
		if err := batch(ctx, c.node, requests); err != nil {
			return nil, err
		}
		for _, logs := range answers {
			found = append(found, logs...)
		}
	}
	return found, nil
}

// hints turns logs into hints. An escrow that an LP opened is known to us by its
// claim hash only, which stands in the transaction.
func (k *contracts) hints(ctx context.Context, logs []types.Log) ([]chains.Hint, error) {
	var hints []chains.Hint
	var opened []types.Log
	for _, l := range logs {
		e, err := k.DecodeLog(l)
		if err != nil {
			continue // what cannot be read is about no swap of ours
		}
		if init, ok := e.(InitializeEvent); ok && init.Kind == chains.HTLC {
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
func (k *contracts) hint(e Event, l types.Log) (chains.Hint, bool) {
	h := chains.Hint{Version: k.Version(), TxID: l.TxHash.Hex()}
	switch e := e.(type) {
	case InitializeEvent:
		h.EscrowHash = e.EscrowHash.Bytes()
	case ClaimEvent:
		h.EscrowHash = e.EscrowHash.Bytes()
	case RefundEvent:
		h.EscrowHash = e.EscrowHash.Bytes()
	case VaultFrontEvent:
		h.BitcoinTx = e.BitcoinTx
	case VaultClaimEvent:
		h.BitcoinTx = e.BitcoinTx
	case VaultCloseEvent:
		h.BitcoinTx = e.BitcoinTx
	default:
		return chains.Hint{}, false
	}
	return h, true
}
