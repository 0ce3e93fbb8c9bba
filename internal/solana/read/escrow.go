package read

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/internal/settle"
	"github.com/swapper-go/swapper/internal/solana/rpc"
	"github.com/swapper-go/swapper/internal/solana/wire"
)

// Escrows answers queries, in their order. It takes one round trip, a second one if
// something happened at an escrow's address that was not read before, a third one where
// that is the end of an escrow that was finally open before, or a long history, and
// another one if an authorisation seems to be over.
//
// An escrow is found by its claim hash too, without a search: its address follows from
// it. Of several that the same parties opened the newest counts.
func (r *Reader) Escrows(ctx context.Context, queries []chains.EscrowQuery) ([]chains.EscrowFact, error) {
	if len(queries) == 0 {
		return nil, nil
	}
	facts := make([]chains.EscrowFact, len(queries))
	looks, of := r.looks(queries, facts)
	auths := newAuthQuestions(r.ledger, queries)
	heads, err := r.read(ctx, looks, auths)
	if err != nil {
		return nil, err
	}
	for i, q := range queries {
		if l := of[i]; l != nil {
			facts[i] = l.fact
		}
		facts[i].Head = heads.Latest
		if q.Auth != nil {
			facts[i].Auth = auths.state(*q.Auth, heads)
		}
	}
	return facts, r.confirmOver(ctx, heads.finalSlot, of, facts)
}

// looks returns what has to be read for queries, each once, and which of it belongs to
// each query. What is the matter with a query itself goes into its fact.
func (r *Reader) looks(queries []chains.EscrowQuery, facts []chains.EscrowFact) (looks []*look, of []*look) {
	type key struct {
		data   [32]byte
		search search
	}
	known := map[key]*look{}
	of = make([]*look, len(queries))
	for i, q := range queries {
		l, err := r.newLook(q)
		if err != nil {
			facts[i].Err = err
			continue
		}
		k := key{search: l.search}
		if l.data != nil {
			k.data = dataKey(l.data)
		}
		if known[k] == nil {
			known[k] = l
			looks = append(looks, l)
		}
		of[i] = known[k]
	}
	return looks, of
}

func (r *Reader) newLook(q chains.EscrowQuery) (*look, error) {
	if q.Escrow != nil {
		d, err := r.Programs.SwapDataOf(*q.Escrow)
		if err != nil {
			return nil, err
		}
		return &look{hash: d.PaymentHash, data: d}, nil
	}
	hash, err := wire.DecodeClaimHash(q.ClaimHash)
	if err != nil {
		return nil, fault.Invalid("claimHash", "%w", err)
	}
	s := search{hash: hash, from: q.From}
	if s.offerer, err = wire.ParseKey(q.Offerer); err != nil {
		return nil, fault.Invalid("offerer", "%w", err)
	}
	if s.claimer, err = wire.ParseKey(q.Claimer); err != nil {
		return nil, fault.Invalid("claimer", "%w", err)
	}
	return &look{hash: hash.PaymentHash, search: s}, nil
}

// search is a query for an escrow by its claim hash.
type search struct {
	hash             wire.ClaimHash
	offerer, claimer wire.Key
	from             uint64 // slot
}

// finds reports whether an escrow is one that is searched, and one of this program.
func (s search) finds(p wire.Programs, d *wire.SwapData) bool {
	return d.ClaimHash() == s.hash && d.Offerer == s.offerer && d.Claimer == s.claimer && p.Check(d) == nil
}

// look is one escrow that is being read.
type look struct {
	hash   [32]byte       // payment hash
	data   *wire.SwapData // nil: searched by claim hash
	search search

	began          time.Time
	account, final []byte // at the confirmed and the finalized state; nil: none
	history        history
	fact           chains.EscrowFact
	done           bool
}

// patience is how often an escrow is read again at once where the parts of an answer
// contradict each other: they are answered one after the other.
const patience = 2

// readAt is what escrows were read at.
type readAt struct {
	chains.Heads
	finalSlot uint64 // the newest finalized slot that was heard of, be it newer than the confirmed state
	lastValid uint64 // block height up to which the newest final block's hash counts
}

// read reads escrows and the heads that they were read at.
func (r *Reader) read(ctx context.Context, looks []*look, auths *authQuestions) (readAt, error) {
	heads, err := r.readOnce(ctx, looks, auths)
	for again := 0; again < patience && err == nil; again++ {
		var doubtful []*look
		for _, l := range looks {
			if errors.Is(l.fact.Err, errContradiction) {
				*l = look{hash: l.hash, data: l.data, search: l.search}
				doubtful = append(doubtful, l)
			}
		}
		if len(doubtful) == 0 {
			break
		}
		_, err = r.readOnce(ctx, doubtful, nil) // newer than the heads
	}
	return heads, err
}

var errContradiction = errors.New("the node's answers contradict each other: the escrow was opened, is not open, and did not end")

func (r *Reader) readOnce(ctx context.Context, looks []*look, auths *authQuestions) (readAt, error) {
	keys := make([]wire.Key, len(looks))
	began := r.ledger.Now()
	for i, l := range looks {
		l.began = began
		keys[i] = r.escrowAddress(l.hash)
		l.history = history{of: keys[i], from: l.search.from, began: began}
	}
	latest, final := newState(keys, rpc.Confirmed), newState(keys, rpc.Finalized)
	requests := append(latest.requests, final.requests...)
	needed := len(requests)
	if auths != nil {
		requests = append(requests, auths.requests...)
	}
	var listings []*listing
	for _, l := range looks {
		if !r.known(l) {
			listings = append(listings, l.history.list(r.ledger.pageSize, &requests))
		}
	}
	if err := r.ledger.Node.Batch(ctx, requests); err != nil {
		return readAt{}, err
	}
	for _, q := range requests[:needed] {
		if q.Err != nil {
			return readAt{}, fault.New(fault.Upstream, "%s: %w", q.Method, q.Err)
		}
	}
	if auths != nil {
		auths.read()
	}
	heads, err := headsOf(latest, final)
	if err != nil {
		return readAt{}, err
	}
	for _, l := range listings {
		l.take(requests)
	}
	for i, l := range looks {
		var errs [2]error
		l.account, errs[0] = r.dataOf(latest.account(i))
		l.final, errs[1] = r.dataOf(final.account(i))
		if l.history.err == nil {
			l.history.err = errors.Join(errs[:]...)
		}
	}
	return readAt{heads, max(final.accounts().Slot, final.block.Slot), final.block.LastValid}, r.finish(ctx, looks, heads)
}

// known reports whether an escrow's history need not be read as long as it is open.
func (r *Reader) known(l *look) bool {
	if l.data == nil {
		return false
	}
	_, ok := r.memory.opened.Kept(dataKey(l.data))
	return ok
}

// finish reads histories until every escrow's fact is known.
func (r *Reader) finish(ctx context.Context, looks []*look, heads chains.Heads) error {
	fetched := map[txKey][]wire.Occurrence{}
	for round := 0; ; round++ {
		var open []*history
		for _, l := range looks {
			if l.done {
				continue
			}
			l.history.advance(r, fetched)
			if r.judge(l, heads); !l.done {
				open = append(open, &l.history)
			}
		}
		if len(open) == 0 {
			return nil
		}
		if err := r.fetch(ctx, open, round, fetched); err != nil {
			return err
		}
	}
}

// judge sets the fact of an escrow if what was read of its history is enough.
func (r *Reader) judge(l *look, heads chains.Heads) {
	f, data, done := r.conclude(l)
	switch {
	case done:
	case l.history.err == nil:
		return
	case f.State != chains.EscrowOpen: // else its account says so, and what opened it is not told
		f = chains.EscrowFact{Err: l.history.err}
	}
	l.fact, l.done = f, true
	if f.Err != nil || data == nil {
		return
	}
	switch f.State {
	case chains.EscrowOpen:
		s, err := r.Programs.DecodeEscrow(l.final)
		l.fact.Final = err == nil && r.Programs.Match(s, data) == nil
	case chains.EscrowClaimed, chains.EscrowRefunded:
		l.fact.Final = f.Finished.Height <= heads.Final.Height
	}
	r.memory.note(data, l.fact, l.began, r.ledger.alone())
}

// note keeps the opening of an escrow that is final. One that is not open any more can
// be opened anew. asked is when the node was asked.
func (m *memory) note(d *wire.SwapData, f chains.EscrowFact, asked time.Time, settled bool) {
	k := dataKey(d)
	switch {
	case f.State == chains.EscrowOpen && f.Final && f.InitTx != "":
		m.opened.Note(k, settle.Opening{Tx: f.InitTx, At: chains.Block{Height: f.Opened.Height}}, asked, settled)
	case f.State != chains.EscrowOpen && settled:
		m.opened.Forget(k)
	}
}

// NoteSettled keeps what stays of what all nodes say.
func (r *Reader) NoteSettled(q chains.EscrowQuery, f chains.EscrowFact) {
	e := cmp.Or(q.Escrow, f.Escrow)
	if e == nil || f.Err != nil {
		return
	}
	if d, err := r.Programs.SwapDataOf(*e); err == nil {
		r.memory.note(d, f, r.ledger.Now(), true)
	}
}

// conclude says what became of an escrow, as far as that follows from what was read.
// data is the escrow, nil if a search has found none.
func (r *Reader) conclude(l *look) (f chains.EscrowFact, data *wire.SwapData, done bool) {
	complete := l.history.complete()
	if data = l.data; data == nil {
		if data = r.find(l); data == nil {
			return f, nil, complete
		}
		e, err := data.Escrow()
		if err != nil {
			return chains.EscrowFact{Err: err}, data, true
		}
		defer func() { f.Escrow = &e }()
	}
	f, err := r.Programs.Fact(data, l.account, l.history.events)
	if err != nil {
		return chains.EscrowFact{Err: err}, data, true
	}
	if !l.history.listed { // it was open, and need not be asked again if it still is
		o, ok := r.memory.opened.Kept(dataKey(data))
		if !ok || f.State != chains.EscrowOpen {
			return f, data, false
		}
		f.InitTx, f.Opened = o.Tx, o.At
		return f, data, true
	}
	if f.InitTx == "" && !complete {
		return f, data, false
	}
	if f.State == chains.EscrowNone && f.InitTx != "" {
		if l.account != nil && !l.history.opens(data) {
			// What opened it cannot be read. The escrow that is there will be the one.
			return chains.EscrowFact{}, data, true
		}
		return chains.EscrowFact{Err: fault.New(fault.Upstream, "%w", errContradiction)}, data, true
	}
	return f, data, true
}

// find returns the escrow that a search is for, nil if nothing that was read shows it.
func (r *Reader) find(l *look) *wire.SwapData {
	var there *wire.SwapData
	if s, err := r.Programs.DecodeEscrow(l.account); err == nil {
		if d := r.Programs.SwapData(s); l.search.finds(r.Programs, d) {
			there = d
		}
	}
	for _, o := range l.history.events {
		if o.Kind != wire.Initialized || o.Opened == nil || !l.search.finds(r.Programs, o.Opened) {
			continue
		}
		// The call tells more of the escrow than its account.
		if there == nil || dataKey(there) == dataKey(o.Opened) {
			return o.Opened
		}
		break
	}
	return there
}

// confirmOver looks once more before an authorisation is called over: at a state that is
// not older than the one that says so, the escrow must not have been opened. A batch
// may have been answered by several machines, and one that is late would make a swap
// look dead that was opened in time.
func (r *Reader) confirmOver(ctx context.Context, finalSlot uint64, of []*look, facts []chains.EscrowFact) error {
	type doubt struct {
		fact int
		page *[]rpc.SignatureInfo
	}
	var doubts []doubt
	var keys []wire.Key
	at := rpc.Confirmed.Since(finalSlot)
	for i, f := range facts {
		if f.Auth == chains.AuthOver && f.State == chains.EscrowNone && f.Err == nil && of[i] != nil {
			doubts = append(doubts, doubt{i, new([]rpc.SignatureInfo)})
			keys = append(keys, of[i].history.of)
		}
	}
	if len(doubts) == 0 {
		return nil
	}
	again := newState(keys, at)
	requests := again.requests
	for n, d := range doubts {
		requests = append(requests, rpc.SignaturesRequest(keys[n], rpc.Page{Limit: 1}, at, d.page))
	}
	err := rpc.AskAll(ctx, r.ledger.Node, requests)
	for n, d := range doubts {
		f := &facts[d.fact]
		switch {
		case err != nil || again.accounts().Slot < finalSlot:
			f.Auth = chains.AuthLate
		case !slices.Equal(firstOf(*d.page), firstOf(of[d.fact].history.infos)) || (again.account(n) == nil) != (of[d.fact].account == nil):
			*f = chains.EscrowFact{Head: f.Head, Err: fault.New(fault.Upstream, "something happened at the escrow's address while it was read")}
		}
	}
	return ctx.Err()
}

func firstOf(infos []rpc.SignatureInfo) []wire.Signature {
	if len(infos) == 0 {
		return nil
	}
	return []wire.Signature{infos[0].Signature}
}
