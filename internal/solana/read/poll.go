package read

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/swapper-go/swapper/internal/solana/rpc"
	"github.com/swapper-go/swapper/internal/solana/wire"
)

// News is what happened to escrows of one deployment.
type News struct {
	Version string
	wire.Occurrence
}

// pollTxs is how many transactions are read, and handed over, at a time.
const pollTxs = 200

// pollMost is how many transactions a poll goes back at most. News only say where to
// look: after a pause that long the newest are enough.
const pollMost = 20_000

// Poll hands over what happened since a cursor, oldest first, in parts; with each comes
// the cursor to continue from. It takes one round trip if nothing happened, another one
// for each thousand transactions of a program and one for each two hundred of those.
//
// A program that has no position begins with so many of its newest transactions, at most a page. A transaction
// that a node lists and does not have ends the poll without an error: the next one
// begins with it. Transactions that failed, that cannot be read, or that a node should
// have had for ten minutes, are passed over.
// An error of deliver ends the poll (protocol: chain-solana.md §18, §21.9).
func (l *Ledger) Poll(ctx context.Context, readers []*Reader, at Cursor, newest int, deliver func([]News, Cursor) error) error {
	feeds, err := l.feeds(ctx, readers, at, newest)
	if err != nil {
		return err
	}
	next := maps.Clone(at)
	if next == nil {
		next = Cursor{}
	}
	for {
		var part []rpc.SignatureInfo
		var of []*feed
		for _, f := range feeds {
			n := min(len(f.infos), pollTxs-len(part))
			for _, info := range f.infos[:n] {
				part, of = append(part, info), append(of, f)
			}
			f.infos = f.infos[n:]
		}
		if len(part) == 0 {
			return nil
		}
		txs, errs, err := l.transactions(ctx, part)
		if err != nil {
			return err
		}
		var news []News
		moved := false
		for i, tx := range txs {
			f := of[i]
			switch {
			case f.stopped:
				continue
			case errs[i] != nil && l.isLost(part[i]):
				l.Log.Warn("a transaction is passed over that the node lists and does not have", "err", errs[i])
			case errs[i] != nil:
				l.Log.Info("the poll of a program stops at a transaction that the node does not have yet", "err", errs[i])
				f.stopped, f.infos = true, nil
				continue
			}
			moved = true
			next[f.r.Programs.Version] = Position{part[i].Signature, part[i].Slot}
			if tx != nil {
				news = append(news, f.r.news(part[i], tx)...)
			}
		}
		if !moved {
			continue
		}
		if err := deliver(news, maps.Clone(next)); err != nil {
			return err
		}
	}
}

// lostAfter is how old a transaction is when a node that does not have it is not waited
// for any more.
const lostAfter = 10 * time.Minute

// isLost reports whether a transaction is so old that the node will not get it.
func (l *Ledger) isLost(info rpc.SignatureInfo) bool {
	return info.Time != 0 && l.Now().Sub(time.Unix(info.Time, 0)) > lostAfter
}

// news returns what happened in a transaction, and remembers it for who looks where it points.
func (r *Reader) news(info rpc.SignatureInfo, tx *wire.SeenTx) (news []News) {
	k := txKey{info.Signature, info.Slot}
	all := r.occurrences(k, &rpc.Seen{Known: true, Tx: *tx})
	for _, o := range all {
		news = append(news, News{r.Programs.Version, o})
	}
	slices.Reverse(all)
	r.memory.txs.Note(k, all, r.ledger.Now(), r.ledger.alone())
	return news
}

// feed is one program's new transactions.
type feed struct {
	r     *Reader
	from  *Position // nil: none is known
	first int       // how many transactions to begin with then
	page  []rpc.SignatureInfo
	infos []rpc.SignatureInfo // oldest first, once all are listed
	done  bool

	behind bool                // the node is, by what it lists
	newest []rpc.SignatureInfo // a page of what it lists, if so

	stopped bool // at a transaction that the node does not have
}

// feeds lists the new transactions of programs, oldest first.
func (l *Ledger) feeds(ctx context.Context, readers []*Reader, at Cursor, newest int) ([]*feed, error) {
	var feeds []*feed
	for _, r := range readers {
		f := &feed{r: r, first: newest}
		if p, ok := at[r.Programs.Version]; ok {
			f.from = &p
		}
		feeds = append(feeds, f)
	}
	for {
		var requests []rpc.Request
		for _, f := range feeds {
			if !f.done {
				requests = append(requests, f.request(l.pageSize))
			}
		}
		if len(requests) == 0 {
			break
		}
		if err := rpc.AskAll(ctx, l.Node, requests); err != nil {
			return nil, err
		}
		for _, f := range feeds {
			if !f.done {
				f.take(l)
			}
		}
	}
	if l.ahead.Lasts(slices.ContainsFunc(feeds, func(f *feed) bool { return f.behind })) {
		for _, f := range feeds {
			if f.behind {
				l.Log.Warn("program events are read from an earlier slot: the nodes are behind the last that was read, so that one of them was wrong", "program", f.r.Programs.Swap.String(), "from", f.from.Slot)
				f.infos = f.newest
			}
		}
	}
	for _, f := range feeds {
		slices.Reverse(f.infos)
	}
	return feeds, nil
}

func (f *feed) request(size int) rpc.Request {
	page := rpc.Page{Limit: f.first}
	if f.from != nil {
		page = rpc.Page{Until: &f.from.Signature, Limit: size}
	}
	if len(f.infos) > 0 {
		page.Before = &f.infos[len(f.infos)-1].Signature
	}
	return rpc.SignaturesRequest(f.r.Programs.Swap, page, rpc.Confirmed, &f.page)
}

// take adds a page.
func (f *feed) take(l *Ledger) {
	page := f.page
	f.page = nil
	if f.from == nil {
		f.infos, f.done = page, true
		return
	}
	if len(f.infos) == 0 && len(page) > 0 && page[0].Slot < f.from.Slot {
		f.done, f.behind, f.newest = true, true, page
		return
	}
	// A node that does not know the last transaction any more, because the chain took
	// another course, lists all that there ever was.
	kept := wire.Since(page, func(i rpc.SignatureInfo) uint64 { return i.Slot }, f.from.Slot)
	f.infos = append(f.infos, kept...)
	f.done = len(kept) < l.pageSize
	if len(f.infos) >= pollMost && !f.done {
		f.done = true
		l.Log.Warn("events are left out: there are too many since the last look", "program", f.r.Programs.Swap.String(), "from", f.from.Slot)
	}
}
