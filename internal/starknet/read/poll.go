package read

import (
	"context"
	"maps"
	"slices"

	"github.com/swapper-go/swapper/internal/starknet/rpc"
	"github.com/swapper-go/swapper/internal/starknet/wire"
)

// News is something that happened in one deployment.
type News struct {
	Version string
	Event   wire.Event
	Tx      string // id of the transaction, as nodes write it
	Height  uint64
}

// Bounds of polls, in blocks.
const (
	pollBlocks = 10_000  // that are searched at a time
	pollMost   = 200_000 // that a poll goes back at most
	lateBlocks = 60      // that are read again while nothing happens: nodes deliver events late
)

// Poll hands over what happened since a cursor, oldest first, with the cursor to continue
// from. It takes one round trip, one more if nothing was read from this network yet or
// the chain took another course, another for each hundred events of a contract, and
// after a pause one for each ten thousand blocks. News only say where to look: after a
// pause of more than two hundred thousand blocks the newest are enough. A position that stays
// ahead of the chain, which only a node's lie can cause, is moved back.
//
// A contract that has no position begins with the newest block. Each event is handed over
// at least once. An error of deliver ends the poll (protocol: chain-starknet.md §13.1).
func (l *Ledger) Poll(ctx context.Context, readers []*Reader, at Cursor, deliver func([]News, Cursor) error) error {
	at = maps.Clone(at)
	if at == nil {
		at = Cursor{}
	}
	tip, err := l.height(ctx)
	if err != nil {
		return err
	}
	for more := true; more; {
		feeds := l.feeds(readers, at, tip)
		var scans []*scan
		for _, f := range feeds {
			if f.scan != nil {
				scans = append(scans, f.scan)
			}
		}
		var head rpc.Head
		along := []rpc.Request{rpc.HeadRequest(&head)}
		if err := l.run(ctx, along, scans); err != nil {
			return err
		}
		if along[0].Err != nil {
			return upstream(along[0])
		}
		tip = l.heads(&head).Latest.Height
		lied := l.ahead.Lasts(slices.ContainsFunc(feeds, func(f *feed) bool { return f.at.Block > tip }))
		var news []News
		moved := false
		more = false
		for _, f := range feeds {
			some, again, err := f.advance(tip)
			if err != nil {
				return err
			}
			if lied && f.at.Block > tip {
				l.Log.Warn("events are read from an earlier block: the nodes are behind the last that was read, so that one of them was wrong", "version", f.r.Version, "from", f.at.Block, "to", tip)
				f.at = Position{Block: tip - min(lateBlocks, tip)}
			}
			news = append(news, some...)
			more = more || again
			both := at[f.r.Version]
			moved = moved || !both[f.member].equal(f.at)
			both[f.member] = f.at
			at[f.r.Version] = both
		}
		if moved || len(news) > 0 {
			if err := deliver(news, maps.Clone(at)); err != nil {
				return err
			}
		}
	}
	return nil
}

// feed is one contract whose events are read.
type feed struct {
	r      *Reader
	member int // of the cursor
	at     Position
	scan   *scan // nil: there is nothing to search
}

// feeds says what to search, given the height that the chain had lately.
func (l *Ledger) feeds(readers []*Reader, at Cursor, tip uint64) (feeds []*feed) {
	for _, r := range readers {
		for i, c := range []struct {
			of    wire.Contract
			kinds []wire.Felt
		}{
			{r.EscrowManager, []wire.Felt{wire.SelectorInitialize, wire.SelectorClaim, wire.SelectorRefund}},
			{r.VaultManager, []wire.Felt{wire.SelectorOpened, wire.SelectorDeposited, wire.SelectorClosed, wire.SelectorFronted, wire.SelectorClaimed}},
		} {
			f := &feed{r: r, member: i, at: at[r.Version][i]}
			if f.at.Block == 0 {
				f.at = Position{Block: tip}
			}
			if tip > pollMost && f.at.Block < tip-pollMost {
				l.Log.Warn("events are left out: there are too many blocks since the last look", "contract", wire.Hex64(c.of.Address), "from", f.at.Block)
				f.at = Position{Block: tip - pollMost}
			}
			if f.at.Block <= tip {
				blocks := rpc.Range{First: f.at.Block, Last: rpc.Newest}
				if tip-f.at.Block >= pollBlocks {
					blocks.Last = f.at.Block + pollBlocks - 1
				}
				f.scan = newScan(rpc.Filter{From: c.of.Address, Keys: [][]wire.Felt{c.kinds}, Blocks: blocks})
			}
			feeds = append(feeds, f)
		}
	}
	return feeds
}

// advance takes what was found up to the newest block, and moves the position on. again
// says that there is more to search.
func (f *feed) advance(tip uint64) (news []News, again bool, err error) {
	switch {
	case f.scan == nil || tip < f.at.Block:
		return nil, false, nil // the node is behind
	case f.scan.err != nil:
		return nil, false, f.scan.err
	}
	upTo := min(f.scan.filter.Blocks.Last, tip)
	events, last := f.scan.found, -1
	for len(events) > 0 && events[len(events)-1].Height > upTo {
		events = events[:len(events)-1]
	}
	if f.at.Tx != nil {
		for i, e := range events {
			if e.Tx == *f.at.Tx {
				last = i
			}
		}
		if last < 0 {
			// The last event that was read is in the chain no more: what was put into blocks
			// again may stand in some that were read before.
			f.at = Position{Block: f.at.Block - min(lateBlocks, f.at.Block-1)}
			return nil, true, nil
		}
	}
	again = upTo < tip
	events = events[last+1:]
	for _, e := range events {
		said, err := f.r.DecodeLog(e.Log)
		if err != nil || said == nil {
			continue // what cannot be read is about no swap of ours
		}
		news = append(news, News{f.r.Version, said, wire.Hex(e.Tx), e.Height})
	}
	if n := len(events); n > 0 && !(again && upTo-events[n-1].Height > lateBlocks) {
		f.at = Position{events[n-1].Height, &events[n-1].Tx}
	} else if upTo-f.at.Block > lateBlocks {
		f.at = Position{Block: upTo - lateBlocks}
	}
	return news, again, nil
}
