package engine

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/internal/async"
	"github.com/swapper-go/swapper/internal/lp"
	"github.com/swapper-go/swapper/internal/swap"
	"github.com/swapper-go/swapper/internal/trial"
)

// calls counts what the background work asks, by whom it asks.
type calls struct{ LP, Chain, Bitcoin int }

func (c calls) String() string { return fmt.Sprintf("%d; %d; %d", c.LP, c.Chain, c.Bitcoin) }

// counting is a reader that counts its calls.
type counting struct {
	*liar
	hears bool // of all that happens, which is nothing
	mu    sync.Mutex
	n     calls
	asked []question
}

// question is one that the background work has asked.
type question struct {
	about    string
	at       time.Time
	patience time.Duration
}

func (w *counting) note(ctx context.Context, about string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.asked = append(w.asked, question{about, w.now, async.PatienceOf(ctx)})
}

func (w *counting) Heard(string) uint64 {
	if w.hears {
		return 1
	}
	return 0
}
func (w *counting) HeardBitcoin() uint64                           { return w.Heard("") }
func (w *counting) TxUnchanged(*bitcoin.Tx, uint64) (uint32, bool) { return 900, w.hears }

func (w *counting) count(n *int) { w.mu.Lock(); *n++; w.mu.Unlock() }

func (w *counting) Escrow(ctx context.Context, chain, contract string, q chains.EscrowQuery) (chains.EscrowFact, error) {
	w.count(&w.n.Chain)
	w.note(ctx, "escrows")
	return w.liar.Escrow(ctx, chain, contract, q)
}
func (w *counting) Vault(ctx context.Context, chain, contract string, id chains.VaultID) (chains.VaultFact, error) {
	w.count(&w.n.Chain)
	w.note(ctx, "vaults")
	return w.liar.Vault(ctx, chain, contract, id)
}
func (w *counting) Withdrawal(ctx context.Context, chain, contract string, q chains.WithdrawalQuery) (chains.WithdrawalFact, error) {
	w.count(&w.n.Chain)
	w.note(ctx, "withdrawals")
	return w.liar.Withdrawal(ctx, chain, contract, q)
}
func (w *counting) Txs(ctx context.Context, chain string, txs []chains.Signed) ([]chains.TxStatus, error) {
	w.count(&w.n.Chain)
	return w.liar.Txs(ctx, chain, txs)
}
func (w *counting) GasPayout(ctx context.Context, chain string, q swap.GasAsk) (swap.GasFact, error) {
	w.count(&w.n.Chain)
	return w.liar.GasPayout(ctx, chain, q)
}
func (w *counting) LPStatus(ctx context.Context, q lp.StatusQuery) (lp.Status, error) {
	w.count(&w.n.LP)
	w.note(ctx, "provider")
	return w.liar.LPStatus(ctx, q)
}
func (w *counting) BitcoinTx(ctx context.Context, id bitcoin.Hash) (*bitcoin.Tx, error) {
	w.count(&w.n.Bitcoin)
	w.note(ctx, "bitcoin")
	return w.liar.BitcoinTx(ctx, id)
}
func (w *counting) ETA(ctx context.Context, q swap.ETAAsk) (int, error) {
	w.count(&w.n.Bitcoin)
	return w.liar.ETA(ctx, q)
}
func (w *counting) Spends(ctx context.Context, ops []bitcoin.OutPoint) ([]bitcoin.Spend, error) {
	w.count(&w.n.Bitcoin)
	w.note(ctx, "bitcoin")
	return w.liar.Spends(ctx, ops)
}
func (w *counting) Received(ctx context.Context, q swap.ReceivedAsk) ([]*bitcoin.Tx, error) {
	w.count(&w.n.Bitcoin)
	w.note(ctx, "bitcoin")
	return w.liar.Received(ctx, q)
}
func (w *counting) Refunded(ctx context.Context, q swap.RefundedAsk) (swap.RefundedFact, error) {
	w.count(&w.n.Bitcoin)
	w.note(ctx, "bitcoin")
	return w.liar.Refunded(ctx, q)
}

// event is what happens at a moment of a swap's life.
type event struct {
	after time.Duration
	truth truth
	input swap.Input // what the caller or the chain's listener brings then; nil: nothing
	wrote func(r *swap.Record)
}

// followed runs the engine's schedule over one swap, as [Engine.Run] does, until the
// swap is deleted or settled, and returns what was asked and when that was.
func followed(t *testing.T, c scenario, r *swap.Record, events []event) (calls, time.Duration) {
	t.Helper()
	n, lasted := followedFor(t, c, r, events, false, 100*24*time.Hour)
	if lasted == 0 {
		t.Errorf("%s: still followed after 100 days", c.flow.Type)
	}
	return n, lasted
}

// followedFor ends after some time at the latest, and returns 0 then.
func followedFor(t *testing.T, c scenario, r *swap.Record, events []event, hears bool, most time.Duration) (calls, time.Duration) {
	t.Helper()
	return followedBy(t, &counting{hears: hears}, c, r, events, most)
}

// followedBy asks a reader.
func followedBy(t *testing.T, w *counting, c scenario, r *swap.Record, events []event, most time.Duration) (calls, time.Duration) {
	t.Helper()
	start := r.CreatedAt.Time()
	w.liar = &liar{now: start, truth: &events[0].truth}
	if r.Escrow != nil {
		w.delivers = r.Escrow.Expected
	}
	g := newEngine(t, Config{Reader: w, Flows: []*swap.Flow{c.flow}, Now: func() time.Time { return w.now },
		Executor: executorFunc(func(context.Context, *swap.Record, swap.Effect) swap.Outcome { return swap.Outcome{Done: true} })})
	if events[0].wrote != nil {
		events[0].wrote(r)
	}
	add(t, g, r)
	s := &schedule{at: map[string]*turn{}}
	g.reschedule(s, r, 0)
	happened, purged := 1, start
	for w.now.Sub(start) < most {
		next := purged.Add(time.Hour) // of each hour one look at what may be deleted is enough here
		if len(s.queue) > 0 && s.queue[0].when.Before(next) {
			next = s.queue[0].when
		}
		if happened < len(events) && !start.Add(events[happened].after).After(next) {
			e := &events[happened]
			w.now, w.truth, happened = start.Add(e.after), &e.truth, happened+1
			if e.input != nil {
				res := advance(t, g, r.ID, e.input)
				g.Effects.Drain()
				g.reschedule(s, res.Record, 0)
			}
			continue
		}
		w.now = next
		if turn := s.next(next); turn != nil {
			g.follow(t.Context(), s, turn)
			g.Effects.Drain()
		} else {
			purged = next
			g.Purge(t.Context())
		}
		now, err := g.Load(t.Context(), r.ID)
		if fault.CodeOf(err) == fault.NotFound || err == nil && now.Settled && happened == len(events) && now.Ended != 0 && !hidden(c.flow, now) {
			return w.n, w.now.Sub(start)
		}
	}
	return w.n, 0
}

func hidden(f *swap.Flow, r *swap.Record) bool {
	row, _ := f.State(r.State)
	return row.Hidden
}

// What a quote costs that nobody uses and nobody asks for, until it is deleted, and
// a swap that goes its way while nobody asks for it, until it rests. The figures
// stand in docs/benchmarks.md.
func TestCallsOfASwap(t *testing.T) {
	start := time.Unix(1_700_000_000, 0)
	minute := time.Minute
	type cost struct{ abandoned, settled calls }
	most := map[swap.Type]cost{
		swap.ToBTC:            {calls{0, 16, 0}, calls{10, 28, 0}},
		swap.ToBTCLN:          {calls{0, 16, 0}, calls{10, 28, 0}},
		swap.FromBTC:          {calls{0, 16, 0}, calls{0, 125, 92}},
		swap.FromBTCLN:        {calls{14, 0, 0}, calls{3, 86, 0}},
		swap.FromBTCLNAuto:    {calls{13, 11, 0}, calls{3, 42, 0}},
		swap.SPVFromBTC:       {calls{0, 0, 0}, calls{0, 77, 76}},
		swap.TrustedFromBTCLN: {calls{15, 0, 0}, calls{10, 3, 0}},
		swap.TrustedFromBTC:   {calls{8, 0, 16}, calls{50, 3, 52}},
	}
	for _, c := range waysOut() {
		typ := c.flow.Type
		record := func() *swap.Record { return unused(c.record(0, start)) }
		never := truth{escrow: chains.EscrowFact{Auth: chains.AuthLate}}
		never.lp = &lp.Status{Code: map[swap.Type]int{swap.FromBTCLN: lp.CodeUnpaid, swap.FromBTCLNAuto: lp.CodeUnpaid, swap.TrustedFromBTCLN: lp.CodeGasUnpaid, swap.TrustedFromBTC: lp.CodeGasUnpaid}[typ]}
		over := never
		over.escrow.Auth = chains.AuthOver
		if typ == swap.TrustedFromBTCLN || typ == swap.TrustedFromBTC {
			over.lp = &lp.Status{Code: lp.CodeExpired}
		}
		n, age := followed(t, c, record(), []event{{truth: never}, {after: 15 * minute, truth: over}})
		if m := most[typ].abandoned; n.LP > m.LP || n.Chain > m.Chain || n.Bitcoin > m.Bitcoin {
			t.Errorf("%s: an abandoned quote asks %s times, want at most %s", typ, n, m)
		}
		t.Logf("%s abandoned: LP; chain; Bitcoin = %s, deleted after %s", typ, n, age)

		n, age = followed(t, c, record(), life(c, record()))
		if m := most[typ].settled; n.LP > m.LP || n.Chain > m.Chain || n.Bitcoin > m.Bitcoin {
			t.Errorf("%s: a settled swap asks %s times, want at most %s", typ, n, m)
		}
		t.Logf("%s settled: LP; chain; Bitcoin = %s, at rest after %s", typ, n, age)
	}
}

// waiting is a state of each type in which it waits for others, and a truth of that.
var waiting = map[swap.Type]struct {
	state int
	truth string
}{
	swap.ToBTC: {swap.OutCommitted, "open"}, swap.ToBTCLN: {swap.OutCommitted, "open"}, swap.FromBTC: {swap.InCommitted, "open and paid"},
	swap.FromBTCLN: {swap.LnCommitted, "open"}, swap.FromBTCLNAuto: {swap.LnCommitted, "open"}, swap.SPVFromBTC: {swap.SPVBroadcasted, "waiting"},
	swap.TrustedFromBTCLN: {swap.TrustedLNPaid, "received"}, swap.TrustedFromBTC: {swap.TrustedBTCCreated, "pending"},
}

// longWait is a swap that waits for days, and what is true of it.
func longWait(c scenario, start time.Time) (*swap.Record, truth) {
	typ, most := c.flow.Type, start.Add(5*24*time.Hour)
	r := c.record(waiting[typ].state, start)
	if r.Escrow != nil {
		r.Escrow.Real.Expiry = most.Unix()
	}
	if r.Lightning != nil {
		r.Lightning.EndsAt = swap.At(most)
	}
	is := c.truths[slices.IndexFunc(c.truths, func(is truth) bool { return is.name == waiting[typ].truth })]
	if is.lp == nil {
		is.lp = &lp.Status{Code: lp.CodeUnpaid}
	}
	return r, is
}

// What a swap asks in a day in which it is under way and nothing happens to it: an escrow is
// open and final, a payment waits for its first block, a trusted LP has yet to pay out. Who hears
// of what happens asks seldom.
func TestCallsOfALongWait(t *testing.T) {
	start, day := time.Unix(1_700_000_000, 0), 24*time.Hour
	var all [2]calls
	for _, c := range waysOut() {
		typ := c.flow.Type
		var n [2]calls
		for i, hears := range []bool{false, true} {
			r, is := longWait(c, start)
			var ended time.Duration
			if n[i], ended = followedFor(t, c, r, []event{{truth: is}}, hears, day); ended != 0 {
				t.Errorf("%s: over after %s", typ, ended)
			}
			all[i].LP, all[i].Chain, all[i].Bitcoin = all[i].LP+n[i].LP, all[i].Chain+n[i].Chain, all[i].Bitcoin+n[i].Bitcoin
		}
		most := calls{15, 15, 10}
		if typ == swap.TrustedFromBTCLN || typ == swap.TrustedFromBTC { // of which only the LP tells
			most.LP = n[0].LP
		}
		if n := n[1]; n.LP > most.LP || n.Chain > most.Chain || n.Bitcoin > most.Bitcoin {
			t.Errorf("%s asks %s times in a day although it hears, want at most %s", typ, n, most)
		}
		t.Logf("%s in a day: LP; chain; Bitcoin = %s; with subscriptions %s", typ, n[0], n[1])
	}
	t.Logf("all types in a day: %s; with subscriptions %s", all[0], all[1])
}

// How many requests 10,000 swaps cause that wait, each for a day, made one after the other, of all types
// with a contract. What the chain is asked in the patience of the first question, of one kind and about one chain's
// contracts, is one request.
func TestRequestsOfManyLongWaits(t *testing.T) {
	const number, gather = 10_000, 200 * time.Millisecond
	start, day := time.Unix(1_700_000_000, 0), 24*time.Hour
	for _, hears := range trial.Of(1, []bool{true, false}) {
		var of [][]question // by type
		for _, c := range waysOut() {
			if typ := c.flow.Type; typ == swap.TrustedFromBTCLN || typ == swap.TrustedFromBTC {
				continue
			}
			w := &counting{hears: hears}
			r, is := longWait(c, start)
			followedBy(t, w, c, r, []event{{truth: is}}, day)
			of = append(of, w.asked)
		}
		for chains, most := range map[int]float64{1: 0.42, 3: 0.5} {
			var all []question
			for i := range number * 25 / 24 { // those that are made within the hour too
				created := start.Add(time.Hour - day*time.Duration(i)/number)
				for _, q := range of[i%len(of)] {
					if q.at = q.at.Add(created.Sub(start)); q.at.Before(start) || !q.at.Before(start.Add(time.Hour)) {
						continue
					}
					if q.about != "provider" && q.about != "bitcoin" {
						q.about = fmt.Sprint(q.about, " of chain ", i/len(of)%chains)
					}
					all = append(all, q)
				}
			}
			requests, sum := together(all, gather)
			each := float64(sum) / number
			t.Logf("%d chains, hearing %v: %.2f questions, %.2f requests for each swap and hour: %v of %d swaps in an hour", chains, hears, float64(len(all))/number, each, requests, number)
			if hears && each > most {
				t.Errorf("%d chains: %.2f requests for each swap and hour, want %.2f at most", chains, each, most)
			}
		}
	}
}

// together counts requests by what they are about: what chains are asked within a time, or while all
// have patience, is asked together.
func together(all []question, gather time.Duration) (requests map[string]int, sum int) {
	slices.SortFunc(all, func(x, y question) int { return x.at.Compare(y.at) })
	requests, until := map[string]int{}, map[string]time.Time{}
	for _, q := range all {
		leaves := q.at.Add(max(gather, q.patience))
		alone := q.about == "provider" || q.about == "bitcoin"
		switch last := until[q.about]; {
		case alone || q.at.After(last):
			requests[q.about]++
			sum++
			until[q.about] = leaves
		case leaves.Before(last):
			until[q.about] = leaves
		}
	}
	return requests, sum
}

// life is how a swap of a type goes when all goes well: the user acts after a
// minute, an LP within half a minute, a block of Bitcoin comes every ten minutes,
// the chain is final after two.
func life(c scenario, r *swap.Record) []event {
	minute := time.Minute
	open := truth{escrow: chains.EscrowFact{State: chains.EscrowOpen}, lp: &lp.Status{Code: lp.CodeUnpaid}}
	final := open
	final.escrow.Final = true
	claimed := truth{escrow: chains.EscrowFact{State: chains.EscrowClaimed}, lp: &lp.Status{Code: lp.CodeUnpaid}}
	over := claimed
	over.escrow.Final = true
	none := truth{escrow: chains.EscrowFact{Auth: chains.AuthGood}, lp: &lp.Status{Code: lp.CodeUnpaid}}
	named := func(name string) truth {
		for _, is := range c.truths {
			if is.name == name {
				return is
			}
		}
		panic(name)
	}
	switch r.Type {
	case swap.ToBTC, swap.ToBTCLN:
		return []event{{truth: none},
			{after: minute, truth: none, input: swap.Submit{Action: swap.ActionInit, Txs: []swap.SignedTx{{Signed: chains.Signed{ID: "0x01"}}}}},
			{after: minute + 5*time.Second, truth: open, input: swap.Look{}}, {after: minute + 30*time.Second, truth: claimed, input: swap.Look{}}, {after: 3*minute + 30*time.Second, truth: over}}
	case swap.FromBTCLNAuto:
		secret := func(r *swap.Record) { r.Lightning.Preimage = chains.Preimage{1} }
		return []event{{truth: none, wrote: secret}, {after: minute, truth: open, input: swap.Look{}}, {after: 3 * minute, truth: final},
			{after: 3*minute + 30*time.Second, truth: claimed, input: swap.Look{}}, {after: 5*minute + 30*time.Second, truth: over}}
	case swap.FromBTC:
		paid := func(confirmations uint32, is truth) truth {
			tx := *named("open and paid").received[0]
			tx.Confirmations, is.received = confirmations, nil
			is.received = append(is.received, &tx)
			return is
		}
		return []event{{truth: none},
			{after: minute, truth: none, input: swap.Submit{Action: swap.ActionInit, Txs: []swap.SignedTx{{Signed: chains.Signed{ID: "0x01"}}}}},
			{after: minute + 5*time.Second, truth: open, input: swap.Look{}}, {after: 2 * minute, truth: paid(0, final)}, {after: 11 * minute, truth: paid(1, final)}, {after: 21 * minute, truth: paid(2, final)},
			{after: 31 * minute, truth: paid(3, final)}, {after: 31*minute + 30*time.Second, truth: paid(3, claimed), input: swap.Look{}}, {after: 33*minute + 30*time.Second, truth: paid(3, over)}}
	case swap.FromBTCLN:
		secret := func(r *swap.Record) { r.Lightning.Preimage = chains.Preimage{1} }
		delivered := none
		delivered.lp = held()
		return []event{{truth: none, wrote: secret}, {after: minute, truth: delivered},
			{after: minute + 10*time.Second, truth: delivered, input: swap.Submit{Action: swap.ActionInit, Txs: []swap.SignedTx{{Signed: chains.Signed{ID: "0x01"}}}}},
			{after: minute + 15*time.Second, truth: open, input: swap.Look{}}, {after: 3 * minute, truth: final},
			{after: 3*minute + 30*time.Second, truth: claimed, input: swap.Look{}}, {after: 5*minute + 30*time.Second, truth: over}}
	case swap.SPVFromBTC:
		b := c.record(0, r.CreatedAt.Time()).Bitcoin
		waiting, confirmed, paid := named("waiting"), named("confirmed"), named("claimed")
		paid.withdrawal.Final = false
		return []event{{truth: never()}, {after: minute, truth: waiting, input: swap.Submit{Action: swap.ActionFund, PSBT: &swap.SignedPSBT{TxID: b.TxID, Tx: b.Tx}}},
			{after: 31 * minute, truth: confirmed}, {after: 32 * minute, truth: paid, input: swap.Look{}}, {after: 34 * minute, truth: named("claimed")}}
	case swap.TrustedFromBTCLN:
		return []event{{truth: truth{lp: &lp.Status{Code: lp.CodeGasUnpaid}}}, {after: minute, truth: named("received"), input: swap.Look{}},
			{after: minute + 30*time.Second, truth: named("paid out")}}
	default:
		received := named("pending")
		received.lp = &lp.Status{Code: lp.CodeGasReceived, TxID: received.received[0].ID.String()}
		first := received
		tx := *received.received[0]
		tx.Confirmations = 0
		first.received = []*bitcoin.Tx{&tx}
		return []event{{truth: truth{lp: &lp.Status{Code: lp.CodeGasUnpaid}}}, {after: minute, truth: first, input: swap.Look{}}, {after: 11 * minute, truth: received},
			{after: 11*minute + 30*time.Second, truth: named("paid out")}}
	}
}

func never() truth { return truth{} }
