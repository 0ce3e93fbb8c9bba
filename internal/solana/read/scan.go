package read

import (
	"cmp"
	"context"

	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/internal/solana/rpc"
	"github.com/swapper-go/swapper/internal/solana/wire"
)

// scan goes back through an address's history for one thing.
type scan struct {
	of       wire.Key
	pageSize int // transactions of the first page, each later one has four times as many; 0: as many as nodes list

	page  []rpc.SignatureInfo
	asked bool
	last  *wire.Signature
}

// scanPages bounds how far a scan goes back, in pages.
const scanPages = 20

// request asks for the next page, which [scan.run] takes up.
func (s *scan) request() rpc.Request {
	s.asked = true
	s.pageSize = cmp.Or(s.pageSize, rpc.SignaturesPerCall)
	return rpc.SignaturesRequest(s.of, rpc.Page{Before: s.last, Limit: s.pageSize}, rpc.Confirmed, &s.page)
}

// run hands over the transactions, newest first, until found says that it has what it
// looks for. Those that failed, or cannot be read, are passed over. It takes a round
// trip for each page and one for each few dozen transactions.
func (s *scan) run(ctx context.Context, l *Ledger, found func(*wire.SeenTx) (bool, error)) error {
	for pages := 0; pages < scanPages; pages++ {
		if !s.asked {
			if err := rpc.AskAll(ctx, l.Node, []rpc.Request{s.request()}); err != nil {
				return err
			}
		}
		page := s.page
		s.asked, s.page = false, nil
		for first, some := 0, 16; first < len(page); first, some = first+some, min(4*some, 200) {
			infos := page[first:min(first+some, len(page))]
			txs, errs, err := l.transactions(ctx, infos)
			if err != nil {
				return err
			}
			for i, tx := range txs {
				if errs[i] != nil {
					return errs[i]
				}
				if tx == nil {
					continue
				}
				if done, err := found(tx); done || err != nil {
					return err
				}
			}
		}
		if len(page) < s.pageSize {
			return nil
		}
		s.pageSize = min(4*s.pageSize, rpc.SignaturesPerCall)
		s.last = &page[len(page)-1].Signature
	}
	return fault.New(fault.Upstream, "the history of %s is too long to be searched", s.of)
}

// transactions reads listed transactions in one round trip; nil for those that failed
// or are of a form that is not read here. errs says of those that the node lists and
// does not have.
func (l *Ledger) transactions(ctx context.Context, infos []rpc.SignatureInfo) (txs []*wire.SeenTx, errs []error, err error) {
	txs, errs = make([]*wire.SeenTx, len(infos)), make([]error, len(infos))
	var requests []rpc.Request
	asks := make([]asked, len(infos))
	for i, info := range infos {
		if !info.Failed {
			asks[i] = ask(nil, txKey{info.Signature, info.Slot}, &requests)
		}
	}
	if len(requests) == 0 {
		return txs, errs, nil
	}
	if err := l.Node.Batch(ctx, requests); err != nil {
		return nil, nil, err
	}
	for i, a := range asks {
		if a.seen == nil {
			continue
		}
		seen, err := a.take(requests)
		switch {
		case err != nil:
			errs[i] = err
		case seen.Err != nil:
			l.Log.Warn("a transaction cannot be read and is passed over", "tx", a.key.id.String(), "err", seen.Err)
		default:
			txs[i] = &seen.Tx
		}
	}
	return txs, errs, nil
}
