package read

import (
	"cmp"
	"context"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/internal/settle"
	"github.com/swapper-go/swapper/internal/starknet/rpc"
	"github.com/swapper-go/swapper/internal/starknet/wire"
)

// escrowsPerCall is how many escrow states one call asks for.
const escrowsPerCall = 256

// Escrows answers queries, in their order. It takes one round trip, a second one if
// something happened to an escrow since it was last looked at, unless the query says from
// which height on, and another one if an
// authorisation seems to be over. Queries by claim hash take one before for all of them,
// and one or two more where an escrow is found that was not read before.
//
// A state is what a node says that the contract says. An opened escrow that was found by
// its claim hash is the one that its hash commits to; whether it was opened at all only
// the node says (protocol: chain-starknet.md §12.1, §20.20). A settled query goes to all
// nodes, each of which takes these round trips.
func (r *Reader) Escrows(ctx context.Context, queries []chains.EscrowQuery) ([]chains.EscrowFact, error) {
	facts, err := settle.Escrows(ctx, r.panel(), queries, r.escrows, (*Reader).escrows)
	for i, f := range facts {
		if queries[i].Settled && !r.alone() && f.Err == nil {
			r.noteSettled(queries[i], f)
		}
	}
	return facts, err
}

// noteSettled keeps what stays of what all nodes say.
func (r *Reader) noteSettled(q chains.EscrowQuery, f chains.EscrowFact) {
	now := r.ledger.Now()
	e := q.Escrow
	if e == nil {
		e = f.Escrow
		if s, err := r.newSearch(q); err == nil && e == nil {
			r.memory.unopened.Note(s, searchedTo(s.from, f.Head), now, true)
		} else if err == nil {
			r.memory.unopened.Forget(s)
		}
	}
	if e == nil {
		return
	}
	if hash, err := wire.FeltOfBytes(e.Hash); err == nil {
		r.memory.known.Note(hash, f, buriedBelow(f.Head), now, true)
	}
}

// escrows asks one node.
func (r *Reader) escrows(ctx context.Context, queries []chains.EscrowQuery) ([]chains.EscrowFact, error) {
	if len(queries) == 0 {
		return nil, nil
	}
	began := r.ledger.Now()
	facts := make([]chains.EscrowFact, len(queries))
	if err := r.find(ctx, queries, facts); err != nil {
		return nil, err
	}
	hashes := make([]*wire.Felt, len(queries)) // nil: unknown
	var asked []wire.Felt                      // each once
	at, since := map[wire.Felt]int{}, map[wire.Felt]uint64{}
	for i, q := range queries {
		e := cmp.Or(q.Escrow, facts[i].Escrow)
		if e == nil || facts[i].Err != nil {
			continue
		}
		hash, err := wire.FeltOfBytes(e.Hash)
		if err != nil {
			continue // a hash that is not a felt belongs to no escrow
		}
		hashes[i] = &hash
		if _, ended := r.memory.known.Ended(hash); ended {
			continue
		}
		if _, ok := at[hash]; !ok {
			at[hash] = len(asked)
			asked = append(asked, hash)
		}
		if _, opened := r.memory.known.Opened(hash); q.Escrow != nil && q.From != 0 && !opened {
			since[hash] = max(q.From, r.EscrowManager.Height)
		}
	}
	read, head, err := r.states(ctx, asked, since)
	if err != nil {
		return nil, err
	}
	heads := r.ledger.heads(head)
	for i, q := range queries {
		found := facts[i].Escrow
		if h := hashes[i]; h != nil {
			if n, ok := at[*h]; ok {
				facts[i] = read[n]
				r.memory.known.Note(*h, read[n], buriedBelow(heads.Latest), began, r.alone())
			} else if ended, ok := r.memory.known.Ended(*h); ok {
				facts[i] = ended
			} else { // forgotten in this moment
				facts[i].Err = fault.New(fault.Upstream, "the escrow was not read: ask again")
			}
		}
		facts[i].Escrow = found
		facts[i].Head = heads.Latest
		facts[i].Final = isFinal(facts[i], heads.Final)
		if q.Auth != nil {
			facts[i].Auth = r.ledger.authState(*q.Auth, heads)
		}
	}
	return facts, r.confirmOver(ctx, head, hashes, facts)
}

// lookup is what was learnt of one escrow.
type lookup struct {
	record wire.EscrowRecord
	opened *settle.Opening // if it is known already
	events []rpc.Event
	err    error
}

// states reads what became of escrows, and the head that was there before. What happened since
// the heights is asked for at once, and its times are not asked for.
func (r *Reader) states(ctx context.Context, escrows []wire.Felt, since map[wire.Felt]uint64) ([]chains.EscrowFact, *rpc.Head, error) {
	var places settle.Places
	for i, e := range escrows {
		if at, ok := r.memory.known.Likely(e); ok {
			places.Add(i, at)
		}
	}
	guess := r.pastOf(escrows, places, nil)
	guess.since(since)
	var head rpc.Head
	records, err := r.records(ctx, escrows, rpc.Latest, &head, guess)
	if err != nil {
		return nil, nil, err
	}
	lookups := make([]lookup, len(escrows))
	for i, record := range records {
		lookups[i].record = record
		if o, ok := r.memory.known.Opened(escrows[i]); ok && record.State != chains.EscrowNone && o.At.Height == record.InitHeight {
			lookups[i].opened = &o
		}
	}
	guess.handOut(lookups, false)
	r.ledger.times.Add(head.Hash, head.Time)
	places = nil
	var untimed []uint64
	need := func(i int, selector wire.Felt, height uint64) {
		e := lookups[i].event(escrows[i], selector, height)
		if e == nil {
			places = append(places, settle.Place{Height: height, Escrow: i})
		}
		if _, lately := since[escrows[i]]; e == nil || !lately && !r.ledger.timed(e.Block) {
			untimed = append(untimed, height)
		}
	}
	for i, l := range lookups {
		if l.opened == nil && l.record.State != chains.EscrowNone {
			need(i, wire.SelectorInitialize, l.record.InitHeight)
		}
		if isEnd(l.record.State) {
			need(i, endOf(l.record.State), l.record.FinishHeight)
		}
	}
	if len(untimed) > 0 {
		rest := r.pastOf(escrows, places, untimed)
		if err := r.ledger.run(ctx, rest.asks, rest.scans); err != nil {
			return nil, nil, err
		}
		rest.handOut(lookups, true)
	}
	facts := make([]chains.EscrowFact, len(escrows))
	for i, l := range lookups {
		facts[i] = r.fact(escrows[i], l)
	}
	return facts, &head, nil
}

// records reads the states of escrows at a block, with the head in front and a guess of
// what is of interest besides.
func (r *Reader) records(ctx context.Context, escrows []wire.Felt, at rpc.At, head *rpc.Head, guess *pastOf) ([]wire.EscrowRecord, error) {
	requests := []rpc.Request{rpc.HeadRequest(head)}
	var answers []*rpc.Felts
	for first := 0; first < len(escrows); first += escrowsPerCall {
		answer := new(rpc.Felts)
		answers = append(answers, answer)
		requests = append(requests, r.call(r.EscrowManager, wire.EntryHashStates, wire.EscrowStatesCall(escrows[first:min(first+escrowsPerCall, len(escrows))]), at, answer))
	}
	along := requests
	var scans []*scan
	if guess != nil {
		along, scans = append(along, guess.asks...), guess.scans
	}
	if err := r.ledger.run(ctx, along, scans); err != nil {
		return nil, err
	}
	for _, one := range along[:len(requests)] {
		if one.Err != nil {
			return nil, upstream(one)
		}
	}
	if guess != nil {
		copy(guess.asks, along[len(requests):])
	}
	records := make([]wire.EscrowRecord, 0, len(escrows))
	for i, answer := range answers {
		some, err := wire.ReadEscrowStates(*answer, min(escrowsPerCall, len(escrows)-i*escrowsPerCall))
		if err != nil {
			return nil, fault.New(fault.Upstream, "%w", err)
		}
		records = append(records, some...)
	}
	return records, nil
}

func isEnd(s chains.EscrowState) bool {
	return s == chains.EscrowClaimed || s == chains.EscrowRefunded
}

// endOf is the event that ends an escrow in the given state.
func endOf(s chains.EscrowState) wire.Felt {
	if s == chains.EscrowClaimed {
		return wire.SelectorClaim
	}
	return wire.SelectorRefund
}

// event returns an event about an escrow, nil if there is none.
func (l *lookup) event(escrow, selector wire.Felt, height uint64) *rpc.Event {
	for i, e := range l.events {
		if e.Height == height && e.Keys[0] == selector && e.Keys[4] == escrow {
			return &l.events[i]
		}
	}
	return nil
}

// fact puts together what is known of one escrow.
func (r *Reader) fact(escrow wire.Felt, l lookup) chains.EscrowFact {
	f := chains.EscrowFact{State: l.record.State, Err: l.err}
	if f.State == chains.EscrowNone || f.Err != nil {
		return f
	}
	lost := func(what string, height uint64) chains.EscrowFact {
		return chains.EscrowFact{State: f.State, Err: fault.New(fault.Upstream, "found no event of the %s of escrow %s in block %d", what, wire.Hex64(escrow), height)}
	}
	if l.opened != nil {
		f.InitTx, f.Opened = l.opened.Tx, l.opened.At
	} else {
		e := l.event(escrow, wire.SelectorInitialize, l.record.InitHeight)
		if e == nil {
			return lost("opening", l.record.InitHeight)
		}
		f.InitTx, f.Opened = wire.Hex(e.Tx), r.ledger.blockOf(*e)
	}
	if f.State == chains.EscrowOpen {
		return f
	}
	e := l.event(escrow, endOf(f.State), l.record.FinishHeight)
	if e == nil {
		return lost("end", l.record.FinishHeight)
	}
	switch said, err := r.DecodeLog(e.Log); said := said.(type) {
	case wire.ClaimEvent:
		f.ClaimTx, f.Result = wire.Hex(e.Tx), said.Result[:]
	case wire.RefundEvent:
		f.RefundTx = wire.Hex(e.Tx)
	default:
		f = lost("end", l.record.FinishHeight)
		if err != nil {
			f.Err = fault.New(fault.Upstream, "event of the end of escrow %s: %w", wire.Hex64(escrow), err)
		}
		return f
	}
	f.Finished = r.ledger.blockOf(*e)
	return f
}

// isFinal reports whether the last thing that happened to an escrow lies at or below a
// final block. That nothing happened is never final.
func isFinal(f chains.EscrowFact, final chains.Block) bool {
	last := f.Opened
	if isEnd(f.State) {
		last = f.Finished
	}
	return f.Err == nil && last.Height != 0 && last.Height <= final.Height
}

// authState judges an authorisation whose signature was verified when it came.
func (l *Ledger) authState(a chains.Auth, heads chains.Heads) chains.AuthState {
	switch {
	case settle.AuthOver(a, heads.Final.Time):
		return chains.AuthOver
	case settle.AuthUsableUntil(a, l.Now()) != 0 && heads.Latest.Time <= a.Timeout:
		return chains.AuthGood
	}
	return chains.AuthLate
}

// confirmOver looks once more before an authorisation is called over: the escrow must
// not be open at the very block whose time says so. A batch may have been answered by
// several machines, and one that is late would make a swap look dead that was opened in
// time.
func (r *Reader) confirmOver(ctx context.Context, head *rpc.Head, hashes []*wire.Felt, facts []chains.EscrowFact) error {
	var doubtful []int
	var ask []wire.Felt
	for i, f := range facts {
		if f.Auth == chains.AuthOver && f.State == chains.EscrowNone && f.Err == nil && hashes[i] != nil {
			doubtful, ask = append(doubtful, i), append(ask, *hashes[i])
		}
	}
	if len(ask) == 0 {
		return nil
	}
	records, err := r.records(ctx, ask, rpc.AtHash(head.Hash), new(rpc.Head), nil)
	for n, i := range doubtful {
		switch {
		case err != nil:
			facts[i].Auth = chains.AuthLate
		case records[n].State != chains.EscrowNone:
			facts[i] = chains.EscrowFact{Head: facts[i].Head, Auth: chains.AuthLate, Escrow: facts[i].Escrow,
				Err: fault.New(fault.Upstream, "the node returned contradictory data about the escrow")}
		}
	}
	return ctx.Err()
}
