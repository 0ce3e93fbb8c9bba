package read

import (
	"context"
	"encoding/hex"
	"errors"
	"iter"
	"slices"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/internal/solana/rpc"
	"github.com/swapper-go/swapper/internal/solana/wire"
)

// History yields every escrow in which signer is a party, of all given deployments,
// that was opened from a slot on, oldest first. It takes a round trip for each thousand
// transactions of the signer, one for each two hundred of those, and those of
// [Reader.Escrows] where some of them opened escrows. An error ends the sequence
// (protocol: chain-solana.md §18).
func (l *Ledger) History(ctx context.Context, readers []*Reader, signer wire.Key, from uint64) iter.Seq2[chains.Past, error] {
	return func(yield func(chains.Past, error) bool) {
		seen := map[[32]byte]bool{}
		for txs, err := range l.oldestFirst(ctx, signer, from) {
			if err != nil {
				yield(chains.Past{}, err)
				return
			}
			var past []chains.Past
			for _, r := range readers {
				some, err := r.past(ctx, txs, signer, seen)
				if err != nil {
					yield(chains.Past{}, err)
					return
				}
				past = append(past, some...)
			}
			slices.SortStableFunc(past, func(a, b chains.Past) int {
				return int(min(max(int64(a.Fact.Opened.Height)-int64(b.Fact.Opened.Height), -1), 1))
			})
			for _, p := range past {
				if !yield(p, nil) {
					return
				}
			}
		}
	}
}

// past returns the escrows of an address that were opened in transactions.
func (r *Reader) past(ctx context.Context, txs []*wire.SeenTx, signer wire.Key, seen map[[32]byte]bool) ([]chains.Past, error) {
	var queries []chains.EscrowQuery
	for _, tx := range txs {
		all, truncated := r.Programs.Occurrences(*tx)
		if truncated {
			r.ledger.Log.Warn("the node left out a part of a transaction's log", "tx", tx.ID)
		}
		for _, o := range all {
			if o.Kind != wire.Initialized {
				continue
			}
			e, err := r.openedFor(o, signer)
			if err != nil {
				hash := o.EscrowHash()
				r.ledger.Log.Info("an opened escrow is unreadable", "tx", tx.ID, "escrow", hex.EncodeToString(hash[:]), "err", err)
				continue
			}
			if k := dataKey(o.Opened); e != nil && !seen[k] {
				seen[k] = true
				queries = append(queries, chains.EscrowQuery{Escrow: e})
			}
		}
	}
	facts, err := r.Escrows(ctx, queries)
	if err != nil {
		return nil, err
	}
	past := make([]chains.Past, len(facts))
	for i, f := range facts {
		past[i] = chains.Past{Escrow: queries[i].Escrow, Fact: f}
	}
	return past, nil
}

// openedFor returns the escrow that was opened, nil if signer is not a party to it.
func (r *Reader) openedFor(o wire.Occurrence, signer wire.Key) (*chains.Escrow, error) {
	if o.Opened == nil {
		return nil, errors.New("the call that opened it is not told")
	}
	if o.Opened.Offerer != signer && o.Opened.Claimer != signer {
		return nil, nil
	}
	if err := r.Programs.Check(o.Opened); err != nil {
		return nil, err
	}
	e, err := o.Opened.Escrow()
	return &e, err
}

// Bounds of reading back the history of an account.
const (
	pastTxs  = 200     // read at a time
	pastMost = 500_000 // listed at most
)

// oldestFirst yields the transactions of an address that did something, in groups,
// from a slot on.
func (l *Ledger) oldestFirst(ctx context.Context, of wire.Key, from uint64) iter.Seq2[[]*wire.SeenTx, error] {
	return func(yield func([]*wire.SeenTx, error) bool) {
		infos, err := l.signatures(ctx, of, from)
		if err != nil {
			yield(nil, err)
			return
		}
		slices.Reverse(infos)
		for some := range slices.Chunk(infos, pastTxs) {
			txs, errs, err := l.transactions(ctx, some)
			if err = errors.Join(append(errs, err)...); err != nil {
				yield(nil, err)
				return
			}
			if !yield(slices.DeleteFunc(txs, func(tx *wire.SeenTx) bool { return tx == nil }), nil) {
				return
			}
		}
	}
}

// signatures lists the transactions of an address from a slot on, newest first.
func (l *Ledger) signatures(ctx context.Context, of wire.Key, from uint64) (all []rpc.SignatureInfo, err error) {
	page := rpc.Page{Limit: l.pageSize}
	for {
		var some []rpc.SignatureInfo
		if err := rpc.AskAll(ctx, l.Node, []rpc.Request{rpc.SignaturesRequest(of, page, rpc.Confirmed, &some)}); err != nil {
			return nil, err
		}
		kept := wire.Since(some, func(i rpc.SignatureInfo) uint64 { return i.Slot }, from)
		all = append(all, kept...)
		if len(kept) < l.pageSize {
			return all, nil
		}
		if len(all) >= pastMost {
			return nil, fault.New(fault.Unsupported, "%s has more than %d transactions from slot %d on: begin at a later one", of, pastMost, from)
		}
		page.Before = &all[len(all)-1].Signature
	}
}
