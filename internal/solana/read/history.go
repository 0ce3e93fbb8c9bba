package read

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/internal/solana/rpc"
	"github.com/swapper-go/swapper/internal/solana/wire"
)

// history is what happened at an address, as far as it was read, newest first.
type history struct {
	of    wire.Key
	from  uint64    // the lowest slot that counts
	began time.Time // when it was asked for first

	infos  []rpc.SignatureInfo // its transactions
	listed bool                // some were asked for
	more   bool                // there may be older ones
	next   int                 // the first of infos whose events are not in events
	events []wire.Occurrence
	read   int   // transactions that were asked for
	err    error // why it cannot be read further
}

// listing is a page of a history that was asked for.
type listing struct {
	h    *history
	at   int // index of the request
	size int
	page []rpc.SignatureInfo
}

// list adds the request for the next page.
func (h *history) list(pageSize int, requests *[]rpc.Request) *listing {
	l := &listing{h: h, at: len(*requests), size: pageSize}
	page := rpc.Page{Limit: pageSize}
	if len(h.infos) > 0 {
		page.Before = &h.infos[len(h.infos)-1].Signature
	}
	*requests = append(*requests, rpc.SignaturesRequest(h.of, page, rpc.Confirmed, &l.page))
	return l
}

// take adds the page to the history.
func (l *listing) take(requests []rpc.Request) {
	h := l.h
	h.listed = true
	if err := requests[l.at].Err; err != nil {
		h.err = fault.New(fault.Upstream, "history of %s: %w", h.of, err)
		return
	}
	h.more = len(l.page) == l.size
	if kept := wire.Since(l.page, func(i rpc.SignatureInfo) uint64 { return i.Slot }, h.from); len(kept) < len(l.page) {
		l.page, h.more = kept, false
	}
	h.infos = append(h.infos, l.page...)
}

// complete reports whether all of the history was read.
func (h *history) complete() bool {
	return h.listed && !h.more && h.next == len(h.infos) && h.err == nil
}

// opens reports whether a call that was read opens an escrow.
func (h *history) opens(d *wire.SwapData) bool {
	k := dataKey(d)
	return slices.ContainsFunc(h.events, func(o wire.Occurrence) bool { return o.Opened != nil && dataKey(o.Opened) == k })
}

// advance takes the events of the transactions that are known.
func (h *history) advance(r *Reader, fetched map[txKey][]wire.Occurrence) {
	for ; h.next < len(h.infos); h.next++ {
		info := h.infos[h.next]
		if info.Failed {
			continue
		}
		k := txKey{info.Signature, info.Slot}
		some, ok := fetched[k]
		if !ok {
			if some, ok = r.memory.txs.Hint(k, h.began); !ok {
				return
			}
		}
		h.events = append(h.events, some...)
	}
}

// Bounds of reading one history. Anybody can make it long; what lies beyond is read
// when it is asked for again.
const (
	historyRounds = 24
	historyTxs    = 2000
)

// fetch reads on in histories: their next pages and transactions, in one round trip.
func (r *Reader) fetch(ctx context.Context, open []*history, round int, fetched map[txKey][]wire.Occurrence) error {
	var requests []rpc.Request
	var listings []*listing
	var asks []asked
	seen := map[txKey]bool{}
	for _, h := range open {
		if round >= historyRounds || h.read >= historyTxs {
			h.err = fault.New(fault.Upstream, "the history of %s is long: %d transactions of it have been read, ask again for the rest", h.of, h.next)
			continue
		}
		if !h.listed || h.more && h.next == len(h.infos) {
			listings = append(listings, h.list(r.ledger.pageSize, &requests))
			continue
		}
		// Most histories have one or two transactions.
		for i, left := h.next, min(8<<(2*min(round, 3)), historyTxs-h.read); i < len(h.infos) && left > 0; i++ {
			info := h.infos[i]
			k := txKey{info.Signature, info.Slot}
			if _, ok := r.memory.txs.Hint(k, h.began); ok || info.Failed {
				continue
			}
			left--
			h.read++
			if !seen[k] {
				seen[k] = true
				asks = append(asks, ask(h, k, &requests))
			}
		}
	}
	if len(requests) == 0 {
		return nil
	}
	if err := r.ledger.Node.Batch(ctx, requests); err != nil {
		return err
	}
	for _, l := range listings {
		l.take(requests)
	}
	for _, a := range asks {
		tx, err := a.take(requests)
		if err != nil {
			a.h.err = err
			continue
		}
		some := r.occurrences(a.key, tx)
		slices.Reverse(some)
		fetched[a.key] = some
		r.memory.txs.Note(a.key, some, a.h.began, r.ledger.alone())
	}
	return nil
}

// asked is a transaction that was asked for.
type asked struct {
	h    *history
	key  txKey
	at   int // index of the request
	seen *rpc.Seen
}

func ask(h *history, k txKey, requests *[]rpc.Request) asked {
	a := asked{h, k, len(*requests), new(rpc.Seen)}
	*requests = append(*requests, rpc.TransactionRequest(k.id, rpc.Confirmed, a.seen))
	return a
}

// take returns the transaction. One of a form that cannot be read, which is none of
// the programs', has an Err of its own.
func (a asked) take(requests []rpc.Request) (*rpc.Seen, error) {
	switch err := requests[a.at].Err; {
	case rpc.IsUnreadable(err):
		return &rpc.Seen{Known: true, Err: fmt.Errorf("%w: %w", wire.ErrTxForm, err)}, nil
	case err != nil:
		return nil, fault.New(fault.Upstream, "transaction %s: %w", a.key.id, err)
	case errors.Is(a.seen.Err, wire.ErrOutcome):
		return nil, fault.New(fault.Upstream, "transaction %s: %w", a.key.id, a.seen.Err)
	case !a.seen.Known, a.seen.Err == nil && a.seen.Tx.Slot != a.key.slot:
		return nil, fault.New(fault.Upstream, "the node lists the transaction %s in slot %d and does not have it there", a.key.id, a.key.slot)
	}
	return a.seen, nil
}

// occurrences returns what happened in a transaction, in its order. What cannot be
// read is passed over (protocol: chain-solana.md §21.9).
func (r *Reader) occurrences(k txKey, tx *rpc.Seen) []wire.Occurrence {
	if tx.Err != nil {
		r.ledger.Log.Warn("a transaction cannot be read and is passed over", "tx", k.id.String(), "err", tx.Err)
		return nil
	}
	all, truncated := r.Programs.Occurrences(tx.Tx)
	if truncated {
		r.ledger.Log.Warn("the node left out a part of a transaction's log", "tx", k.id.String())
	}
	return all
}
