package solread

import (
	"context"
	"encoding/json"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/internal/solana/solrpc"
	"github.com/swapper-go/swapper/internal/solana/wire"
)

// Sent is a transaction that was, or may have been, sent.
type Sent struct {
	ID        wire.Signature
	Blockhash wire.Hash // zero if it is not known
}

// Outcome is what became of a transaction.
type Outcome struct {
	chains.TxStatus
	Err json.RawMessage // reverted: as the node tells it
}

// Outcomes returns what became of transactions. It takes one round trip, and a second
// one for those that look as if they can never be executed.
//
// A transaction that nodes do not know is pending while its block hash counts: it may
// be executed yet (protocol: chain-solana.md §16). It is replaced, and can never be
// executed, when so many blocks are final that its block hash counts no more; that is
// known of block hashes that [Ledger.LatestBlockhash] or [Ledger.Block] have returned.
// Of others it is unknown: a node that is behind does not know a new hash either.
func (l *Ledger) Outcomes(ctx context.Context, txs []Sent) ([]Outcome, error) {
	all, doubtful, err := l.outcomes(ctx, txs)
	if err != nil || len(doubtful) == 0 {
		return all, err
	}
	// A transaction may be executed, or come to be known, between the answers of one batch.
	again := make([]Sent, len(doubtful))
	for n, i := range doubtful {
		again[n] = txs[i]
	}
	second, replaced, err := l.outcomes(ctx, again)
	if err != nil {
		return nil, err
	}
	for n, i := range doubtful {
		all[i] = second[n]
	}
	for _, n := range replaced {
		all[doubtful[n]].State = chains.TxReplaced
	}
	return all, nil
}

// outcomes also returns the indexes of the transactions that are not known although
// their block hash counts no more.
func (l *Ledger) outcomes(ctx context.Context, txs []Sent) (all []Outcome, doubtful []int, err error) {
	if len(txs) == 0 {
		return nil, nil, nil
	}
	var final solrpc.LatestBlockhash
	requests := []solrpc.Request{solrpc.LatestBlockhashRequest(solrpc.Finalized, &final)}
	var pages []*solrpc.Statuses
	for first := 0; first < len(txs); first += solrpc.StatusesPerCall {
		var ids []wire.Signature
		for _, tx := range txs[first:min(first+solrpc.StatusesPerCall, len(txs))] {
			ids = append(ids, tx.ID)
		}
		page := new(solrpc.Statuses)
		pages = append(pages, page)
		requests = append(requests, solrpc.StatusesRequest(ids, page))
	}
	valid := map[wire.Hash]*solrpc.Validity{}
	for _, tx := range txs {
		if valid[tx.Blockhash] == nil && !tx.Blockhash.IsZero() {
			valid[tx.Blockhash] = new(solrpc.Validity)
			requests = append(requests, solrpc.BlockhashValidRequest(tx.Blockhash, solrpc.Processed, valid[tx.Blockhash]))
		}
	}
	if err := solrpc.AskAll(ctx, l.Node, requests); err != nil {
		return nil, nil, err
	}
	all = make([]Outcome, len(txs))
	for i, tx := range txs {
		page := pages[i/solrpc.StatusesPerCall]
		s, v := page.All[i%solrpc.StatusesPerCall], valid[tx.Blockhash]
		lastValid, known := l.lastValid.Get(tx.Blockhash)
		switch {
		case s != nil && s.Reached(solrpc.Confirmed):
			all[i].State, all[i].Block, all[i].Final = chains.TxConfirmed, chains.Block{Height: s.Slot}, s.Reached(solrpc.Finalized)
			if s.Err != nil {
				all[i].State, all[i].Err = chains.TxReverted, s.Err
			}
		case s != nil, v != nil && v.Valid:
			all[i].State = chains.TxPending
		case known && final.LastValid > lastValid+wire.TxSlots && page.Slot >= final.Slot:
			doubtful = append(doubtful, i)
		}
	}
	return all, doubtful, nil
}

// Transaction returns a transaction that was executed, in one round trip; nil if the
// node does not know it.
func (l *Ledger) Transaction(ctx context.Context, id wire.Signature) (*wire.SeenTx, error) {
	var seen solrpc.Seen
	if err := solrpc.AskAll(ctx, l.Node, []solrpc.Request{solrpc.TransactionRequest(id, solrpc.Confirmed, &seen)}); err != nil {
		return nil, err
	}
	switch {
	case seen.Err != nil:
		return nil, fault.New(fault.Upstream, "transaction %s: %w", id, seen.Err)
	case !seen.Known:
		return nil, nil
	}
	return &seen.Tx, nil
}

// DataAccount is an account that holds what a claim by Bitcoin proof is about.
type DataAccount struct {
	wire.DataAccount
	Lamports uint64
}

// DataAccounts reads data accounts of the swap program, in one round trip; nil where
// there is none, or one of another program.
func (r *Reader) DataAccounts(ctx context.Context, keys ...wire.Key) ([]*DataAccount, error) {
	got, err := solrpc.ReadAccounts(ctx, r.ledger.Node, keys, solrpc.Confirmed)
	if err != nil {
		return nil, err
	}
	all := make([]*DataAccount, len(keys))
	for i, a := range got.All {
		if a == nil || a.Owner != r.Programs.Swap {
			continue
		}
		if d, err := r.Programs.DecodeDataAccount(a.Data); err == nil {
			all[i] = &DataAccount{d, a.Lamports}
		}
	}
	return all, nil
}
