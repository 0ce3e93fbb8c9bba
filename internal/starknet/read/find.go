package read

import (
	"context"
	"encoding/json"
	"slices"
	"time"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/internal/starknet/rpc"
	"github.com/swapper-go/swapper/internal/starknet/wire"
)

// search is a query for an escrow by its claim hash.
type search struct {
	offerer, claimer wire.Felt
	claimData        wire.Felt
	from             uint64
}

func (r *Reader) newSearch(q chains.EscrowQuery) (s search, err error) {
	if s.offerer, err = wire.ParseAddress(q.Offerer); err != nil {
		return s, fault.Invalid("offerer", "%w", err)
	}
	if s.claimer, err = wire.ParseAddress(q.Claimer); err != nil {
		return s, fault.Invalid("claimer", "%w", err)
	}
	if s.claimData, err = wire.FeltOfBytes(q.ClaimHash); err != nil {
		return s, fault.Invalid("claimHash", "%w", err)
	}
	s.from = max(q.From, r.EscrowManager.Height)
	return s, nil
}

// finds reports whether an event opens what is searched. The filter demands five keys.
func (s search) finds(e rpc.Event) bool {
	return e.Keys[1] == s.offerer && e.Keys[2] == s.claimer && e.Keys[3] == s.claimData && e.Height >= s.from
}

// asked is the search for a query, and the scan that finds it.
type asked struct {
	search
	query int
	scan  *scan
}

// scansFor returns the scans of all searches: each for as many as one filter takes, from the
// first height that was not searched before.
func (r *Reader) scansFor(searches []asked, began time.Time) []*scan {
	var scans []*scan
	for first := 0; first < len(searches); first += rpc.KeyValues {
		some := searches[first:min(first+rpc.KeyValues, len(searches))]
		keys := [][]wire.Felt{{wire.SelectorInitialize}, nil, nil, nil}
		from := uint64(rpc.Newest)
		for _, s := range some {
			begin := s.from
			if next, ok := r.memory.unopened.Hint(s.search, began); ok {
				begin = max(begin, next)
			}
			from = min(from, begin)
			for at, v := range []wire.Felt{s.offerer, s.claimer, s.claimData} {
				if !slices.Contains(keys[at+1], v) {
					keys[at+1] = append(keys[at+1], v)
				}
			}
		}
		one := newScan(rpc.Filter{From: r.EscrowManager.Address, Keys: append(keys, nil), Blocks: rpc.Range{First: from, Last: rpc.Newest}})
		scans = append(scans, one)
		for i := range some {
			some[i].scan = one
		}
	}
	return scans
}

// find answers the queries that name no escrow: it searches the openings between the
// parties for the claim hash, and puts what it finds, or why it could not look, into
// facts. Of several the newest counts. An event names parties and claim hash, so that
// only what was opened for them is read; that it cannot be read is an error, and never
// that there is none.
func (r *Reader) find(ctx context.Context, queries []chains.EscrowQuery, facts []chains.EscrowFact) error {
	var searches []asked
	began := r.ledger.Now()
	for i, q := range queries {
		if q.Escrow != nil {
			continue
		}
		s, err := r.newSearch(q)
		if err != nil {
			facts[i].Err = err
			continue
		}
		searches = append(searches, asked{search: s, query: i})
	}
	if len(searches) == 0 {
		return nil
	}
	scans := r.scansFor(searches, began)
	var head rpc.Head
	along := []rpc.Request{rpc.HeadRequest(&head)}
	if err := r.ledger.run(ctx, along, scans); err != nil {
		return err
	}
	if along[0].Err != nil {
		return upstream(along[0])
	}
	heads := r.ledger.heads(&head)
	var events []rpc.Event
	candidates := make([][]rpc.Event, len(searches)) // newest first
	for i, s := range searches {
		if err := s.scan.err; err != nil {
			facts[s.query].Err = err
			continue
		}
		for _, e := range slices.Backward(s.scan.found) {
			if len(e.Keys) == 5 && s.finds(e) && r.isOurs(e) && len(candidates[i]) < findMost {
				candidates[i] = append(candidates[i], e)
			}
		}
		if len(candidates[i]) == 0 {
			r.memory.unopened.Note(s.search, searchedTo(s.from, heads.Latest), began, r.alone())
		}
		events = append(events, candidates[i]...)
	}
	escrows, errs, err := r.openings(ctx, events)
	if err != nil {
		return err
	}
	for i, s := range searches {
		for _, e := range candidates[i] {
			hash := e.Keys[4]
			found := escrows[hash]
			if found == nil {
				facts[s.query].Err = fault.New(fault.Upstream, "the opening of escrow %s cannot be read: %w", wire.Hex64(hash), errs[hash])
				break
			}
			if data, err := wire.SwapDataOf(*found); err == nil && r.CheckSwapData(data) == nil {
				facts[s.query].Escrow = found
				break
			} // else it is none that the network's clients open
		}
	}
	return nil
}

// findMost bounds how many openings with one claim hash are read: a provider can open
// more than it agreed to.
const findMost = 16

// isOurs reports whether an event opens an escrow with the handlers of the deployment.
func (r *Reader) isOurs(e rpc.Event) bool {
	said, err := r.DecodeLog(e.Log)
	init, ok := said.(wire.InitializeEvent)
	return err == nil && ok && init.RefundHandler == r.RefundHandler
}

// openings reads the escrows that events say were opened, by their hashes, from the
// traces of the transactions that opened them, or why one cannot be read. Those that were
// read before are remembered; for others it takes one round trip, another one where a
// node has no trace of a transaction but may have those of its block (protocol:
// chain-starknet.md §13.3).
func (r *Reader) openings(ctx context.Context, events []rpc.Event) (map[wire.Felt]*chains.Escrow, map[wire.Felt]error, error) {
	found, errs := map[wire.Felt]*chains.Escrow{}, map[wire.Felt]error{}
	var unread []rpc.Event
	for _, e := range events {
		if len(e.Keys) != 5 || e.Keys[0] != wire.SelectorInitialize || e.From != r.EscrowManager.Address {
			continue
		}
		if known, ok := r.memory.escrows.Get(e.Keys[4]); ok {
			found[e.Keys[4]] = known
		} else if !slices.ContainsFunc(unread, func(o rpc.Event) bool { return o.Keys[4] == e.Keys[4] }) {
			unread = append(unread, e)
		}
	}
	traces := make([]json.RawMessage, len(unread))
	at := map[wire.Felt]int{} // index of the request, by transaction
	var requests []rpc.Request
	for _, e := range unread {
		if _, ok := at[e.Tx]; !ok {
			at[e.Tx] = len(requests)
			requests = append(requests, rpc.TraceRequest(e.Tx, &traces[len(requests)]))
		}
	}
	if len(requests) == 0 {
		return found, errs, nil
	}
	if err := r.ledger.Nodes.Batch(ctx, requests); err != nil {
		return nil, nil, err
	}
	blocks := map[wire.Felt]*rpc.BlockTraces{}
	var again []rpc.Request
	for _, e := range unread {
		if requests[at[e.Tx]].Err != nil && blocks[e.Block] == nil {
			blocks[e.Block] = new(rpc.BlockTraces)
			again = append(again, rpc.BlockTracesRequest(e.Block, blocks[e.Block]))
		}
	}
	if len(again) > 0 {
		if err := r.ledger.Nodes.Batch(ctx, again); err != nil {
			return nil, nil, err
		}
	}
	for _, e := range unread {
		n := at[e.Tx]
		trace, why := traces[n], requests[n].Err
		if why != nil {
			if t, ok := (*blocks[e.Block])[e.Tx]; ok {
				trace, why = t, nil
			}
		}
		hash := e.Keys[4]
		escrow, err := r.opening(hash, trace, why)
		if err != nil {
			errs[hash] = err
			continue
		}
		r.memory.escrows.Add(hash, escrow)
		found[hash] = escrow
	}
	return found, errs, nil
}

func (r *Reader) opening(hash wire.Felt, trace json.RawMessage, why error) (*chains.Escrow, error) {
	if why != nil {
		return nil, why
	}
	s, err := r.FindSwapData(trace, hash)
	if err != nil {
		return nil, err
	}
	e, err := r.Escrow(s)
	return &e, err
}
