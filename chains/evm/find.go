package evm

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/internal/evm/rpc"
	"github.com/swapper-go/swapper/internal/evm/wire"
)

// search is a query for an escrow by its claim hash.
type search struct {
	query            int // index of the query
	offerer, claimer common.Hash
	claimHash        []byte
	from             uint64
}

func (s search) key() string {
	return fmt.Sprintf("%x %x %x %d", s.claimHash, s.offerer[12:], s.claimer[12:], s.from)
}

// findEscrows answers the queries that name no escrow: it searches the openings
// between the parties for the claim hash, and puts what it finds, or why it could
// not look, into facts. It takes one round trip for the heads, one for each 4750
// blocks since the lowest height that was not searched yet, and one or two to
// read what was opened there.
func (k *contracts) findEscrows(ctx context.Context, queries []chains.EscrowQuery, facts []chains.EscrowFact) error {
	var searches []search
	for i, q := range queries {
		if q.Escrow != nil {
			continue
		}
		s, err := newSearch(i, q, k.EscrowManager.Height)
		if err != nil {
			facts[i].Err = err
			continue
		}
		searches = append(searches, s)
	}
	if len(searches) == 0 {
		return nil
	}
	began := k.chain.env.Now()
	heads, err := k.chain.Heads(ctx)
	if err != nil {
		return err
	}
	for first := 0; first < len(searches); first += rpc.LogTopicValues {
		some := searches[first:min(first+rpc.LogTopicValues, len(searches))]
		if err := k.findSome(ctx, some, heads, facts, began); err != nil {
			return err
		}
	}
	return nil
}

func newSearch(query int, q chains.EscrowQuery, lowest uint64) (search, error) {
	offerer, err := account("offerer", q.Offerer)
	if err != nil {
		return search{}, err
	}
	claimer, err := account("claimer", q.Claimer)
	if err != nil {
		return search{}, err
	}
	return search{query, common.BytesToHash(offerer[:]), common.BytesToHash(claimer[:]), q.ClaimHash, max(q.From, lowest)}, nil
}

// findSome searches for as many escrows as a topic may list parties.
func (k *contracts) findSome(ctx context.Context, searches []search, heads chains.Heads, facts []chains.EscrowFact, began time.Time) error {
	var offerers, claimers []common.Hash
	from := heads.Latest.Height
	add := func(to *[]common.Hash, h common.Hash) {
		if !slices.Contains(*to, h) {
			*to = append(*to, h)
		}
	}
	for _, s := range searches {
		begin := s.from
		if next, ok := k.memory.unopened.Hint(s.key(), began); ok {
			begin = max(begin, next)
		}
		from = min(from, begin)
		add(&offerers, s.offerer)
		add(&claimers, s.claimer)
	}
	logs, err := k.chain.filter(ctx, k.EscrowManager.Address, rpc.BlockRange{From: from, To: heads.Latest.Height},
		[][]common.Hash{{wire.EscrowABI().Events["Initialize"].ID}, offerers, claimers})
	if err != nil {
		return err
	}
	logs = slices.DeleteFunc(logs, func(l types.Log) bool {
		return len(l.Topics) != 4 || !slices.ContainsFunc(searches, func(s search) bool { return l.Topics[1] == s.offerer && l.Topics[2] == s.claimer })
	})
	found, err := k.openings(ctx, logs)
	if err != nil {
		return err
	}
	for _, s := range searches {
		for _, e := range found {
			if bytes.Equal(e.ClaimHash, s.claimHash) && topicOf(e.Offerer) == s.offerer && topicOf(e.Claimer) == s.claimer {
				facts[s.query].Escrow = e // the newest, if there are several
			}
		}
		if facts[s.query].Escrow == nil && len(found) == len(logs) { // else what cannot be read may be it
			k.memory.unopened.Note(s.key(), searchedTo(s.from, heads), began, k.alone())
		}
	}
	return nil
}

func topicOf(address string) common.Hash {
	return common.BytesToHash(common.HexToAddress(address).Bytes())
}

// openings reads the escrows that logs say were opened from the transactions
// that opened them. What cannot be read, as when it was opened through another
// contract and the node gives no trace, is left out. An escrow that was read once
// is known by its hash; for others it takes one round trip, two with traces.
func (k *contracts) openings(ctx context.Context, logs []types.Log) ([]*chains.Escrow, error) {
	var found []*chains.Escrow
	var unread []types.Log
	for _, l := range logs {
		if l.Address != k.EscrowManager.Address || len(l.Topics) != 4 || l.Topics[0] != wire.EscrowABI().Events["Initialize"].ID {
			continue
		}
		if e, ok := k.memory.escrows.Get(l.Topics[3]); ok {
			found = append(found, e)
		} else {
			unread = append(unread, l)
		}
	}
	if len(unread) == 0 {
		return found, nil
	}
	frames, traces := make([]*wire.CallFrame, len(unread)), make([]*wire.CallFrame, len(unread))
	requests := make([]rpc.Request, len(unread))
	for i, l := range unread {
		requests[i] = rpc.Request{Method: "eth_getTransactionByHash", Params: []any{l.TxHash}, Result: &frames[i]}
	}
	if err := rpc.AskAll(ctx, k.chain.node, requests); err != nil {
		return nil, err
	}
	var again []rpc.Request
	for i, l := range unread {
		if frames[i] != nil && frames[i].To != k.EscrowManager.Address {
			again = append(again, rpc.Request{Method: "debug_traceTransaction", Params: []any{l.TxHash, json.RawMessage(`{"tracer":"callTracer"}`)}, Result: &traces[i]})
		}
	}
	if len(again) > 0 {
		if err := k.chain.node.Batch(ctx, again); err != nil {
			return nil, err
		}
	}
	for i, l := range unread {
		e, err := k.opening(l, frames[i], traces[i])
		if err != nil {
			k.chain.env.Log.Info("an opened escrow is unreadable", "tx", l.TxHash.Hex(), "err", err)
			continue
		}
		k.memory.escrows.Add(l.Topics[3], e)
		found = append(found, e)
	}
	return found, nil
}

func (k *contracts) opening(l types.Log, tx, trace *wire.CallFrame) (*chains.Escrow, error) {
	event, err := k.DecodeLog(l)
	if err != nil {
		return nil, err
	}
	init, ok := event.(wire.InitializeEvent)
	if !ok {
		return nil, fmt.Errorf("the event does not open a swap")
	}
	if trace != nil {
		tx = trace
	}
	if tx == nil {
		return nil, fmt.Errorf("the node does not have the transaction")
	}
	s, err := k.FindSwapData(*tx, init.EscrowHash)
	if err != nil {
		return nil, err
	}
	e, err := k.Deployment.Escrow(s)
	return &e, err
}
