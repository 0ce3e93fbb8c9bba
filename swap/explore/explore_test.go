package explore

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"hash/maphash"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/swapper-go/swapper/internal/engine"
	"github.com/swapper-go/swapper/internal/swapstate"
	"github.com/swapper-go/swapper/storage"
	"github.com/swapper-go/swapper/swap"
)

var surprises = flag.Int("explore", -1, "visit all worlds with so many surprises at most; -1: the nearest worlds with one")

var most = flag.Int("explore.most", 0, "visit so many worlds of each type at most, those with the shortest stories first; 0: all")

// nearest is how many states of each type ordinary tests visit: those with the shortest
// stories.
const nearest = 1500

// story is how one type of swap is explored: its first record, what may happen, and
// what must hold.
type story struct {
	name    string
	flow    *swap.Flow
	moments []time.Duration // since the quote; the time jumps from one to the next
	begin   func() []start
	answers func(s *sim, o opts) engine.Reader
	faults  []look
	actions []action
	// truth says what of the record is wrong after a pass with true answers, before
	// which the record was was.
	truth func(s *sim, was *swap.Record, res *engine.Result) string
	// fair lets the world go on fairly: it does what an honest or an absent provider
	// does, and reports whether anything happened.
	fair func(s *sim, gone bool) bool
	// ended says what is wrong with the world in which the swap has ended.
	ended func(s *sim, r *swap.Record, gone bool) string
	// rests reports whether an unfinished swap stays as it is; nil: none does.
	rests func(s *sim, r *swap.Record, gone bool) bool
	// pay is told when the user is asked for a payment, by the facts res.
	pay     func(s *sim, res *engine.Result)
	authFor time.Duration // how long the provider's authorisation to open is good
}

type start struct {
	w    world
	r    *swap.Record
	cost int8 // surprises
}

// action is what may happen. It reports false where it cannot.
type action struct {
	name string
	cost int8 // 1: a surprise, of which a world holds few
	do   func(s *sim) bool
}

// sim is a state in the making.
type sim struct {
	*story
	x     *explorer
	w     world
	rec   *swap.Record // as the store has it; not to be modified
	bad   string       // the promise that was broken
	o     opts         // of the effect that is carried out
	quiet bool         // the process does not look after this action
}

// opts are what is wrong with one pass.
type opts struct {
	miss  fact // answers that do not come
	lag   bool // nodes answer from three blocks ago
	wrong int8 // 1 and up: the chain's answer is that of another state of it
	skew  int8 // hours by which our clock is off
	die   int8 // the process dies after so many writes; 0: it lives
}

func (o opts) clean() bool { return o == opts{} }

// look is one look of the process at the world with which something is wrong.
type look struct {
	name     string
	o        opts
	ends     fate
	passOnly bool // nothing is done after it
}

// fact names answers.
type fact uint16

const (
	aEscrow fact = 1 << iota
	aLP
	aTxs
	aFound
	aDelivered
	aProof // refund authorisations, payouts, authorisations to open
	aPayment
	aSpends
	aVault
	aWithdrawal
	aRival
	aGas
)

var (
	errSilent = errors.New("no answer")
	errDied   = errors.New("the process died")
)

const swapID = "swap"

// stored is a record as it is read from the store.
func stored(body []byte) *swap.Record {
	r, err := swap.Decode(swapID, 1, body)
	if err != nil {
		panic(err)
	}
	return r
}

func encoded(r *swap.Record) []byte {
	body, err := r.Encode()
	if err != nil {
		panic(err)
	}
	return body
}

func (s *sim) broken(format string, args ...any) {
	if s.bad == "" {
		s.bad = fmt.Sprintf(format, args...)
	}
}

// begun is the swap as it was at first.
func (s *sim) begun() *swap.Record { return s.begin()[0].r }

// turn is one pass of the process.
func (s *sim) turn(input swap.Input, o opts) (*engine.Result, []swap.Effect, error) {
	writes := int8(0)
	now := func() time.Time { return s.clock(o.skew) }
	return engine.Turn{
		Flow: func(swap.Type) *swap.Flow { return s.flow },
		Now:  now,
		Load: func() (*swap.Record, error) { return s.rec, nil },
		Observe: func(f *swap.Flow, in swap.In) {
			engine.Observe(context.Background(), s.answers(s, o), s.rival(o), f, in)
		},
		Write: func(r, next *swap.Record, move *swap.Move) error {
			if o.die != 0 && writes == o.die {
				return errDied
			}
			writes++
			if move != nil {
				s.x.take(move)
			}
			return s.write(r, next, move, now())
		},
	}.Pass(input)
}

// write is the store: one other swap may hold a unique key.
func (s *sim) write(r, next *swap.Record, move *swap.Move, now time.Time) error {
	return engine.Write(s.flow, now, r, next, move, func(e storage.Entry) error {
		for _, k := range e.Keys {
			if s.w.rival && k.Unique && (k.Index == swap.ByPaying || k.Index == swap.ByHash) {
				return &storage.KeyTakenError{Index: k.Index, Value: k.Value}
			}
		}
		s.rec = stored(e.Body)
		return nil
	})
}

func (s *sim) rival(o opts) func(context.Context, string, swap.RivalAsk) (bool, error) {
	return func(context.Context, string, swap.RivalAsk) (bool, error) {
		if o.miss&aRival != 0 {
			return false, errSilent
		}
		return s.w.rival, nil
	}
}

// check holds a pass against the world, if nothing was wrong with it.
func (s *sim) check(was *swap.Record, res *engine.Result, o opts) {
	if !o.clean() || s.bad != "" {
		return
	}
	if wrong := s.truth(s, was, res); wrong != "" {
		s.broken("after a pass with true answers: %s", wrong)
	}
	if v := engine.ViewOf(s.flow, res); !says(v) && !s.underWay(res.Record) {
		s.broken("state %s shows neither an action nor what is waited for", v.Row.Name)
	}
}

// underWay reports whether what was signed is being mined, or was in a block that the
// chain has not reached again: its submission says so.
func (s *sim) underWay(r *swap.Record) bool {
	return r.Submission.Open() || r.Submission != nil && r.Submission.Block > uint64(s.w.height)
}

// says reports whether a view tells its reader what to do or to wait for.
func says(v swap.View) bool {
	return v.Row.Finished || v.Row.Failed || v.Action != nil || v.Late != nil || v.Blocked != nil || v.Reveal != nil && *v.Reveal ||
		slices.ContainsFunc(v.Steps, func(st swap.Step) bool {
			switch st.Status {
			case "waiting_lp", "soft_settled", "awaiting_automatic", "received", "soft_expired", "awaiting_manual":
				return true
			}
			return false
		})
}

// pass is a pass after which nothing else is done.
func (s *sim) pass(o opts) bool {
	was := s.rec
	res, _, err := s.turn(nil, o)
	if err == nil {
		s.check(was, res, o)
	} else if !errors.Is(err, errDied) {
		s.broken("a pass failed: %v", err)
	}
	return was != s.rec
}

// How an effect may end.
type fate int8

const (
	asUsual    fate = iota
	lostBefore      // nothing was done, and nobody knows
	lostAfter       // it was done, and nobody knows
	diedBefore      // the process died once it was noted that it begins
	diedAfter       // the process died when it was done
	refused         // it was refused, though nothing was wrong with it
)

// work is a pass and what is to be done after it.
func (s *sim) work(o opts, ends fate) bool {
	was := s.rec
	world := s.w
	res, due, err := s.turn(nil, o)
	if err != nil {
		s.broken("a pass failed: %v", err)
		return true
	}
	s.check(was, res, o)
	ran := false
	for _, e := range due {
		ran = s.effect(e, o, ends) || ran
	}
	if ends != asUsual && !ran {
		return false
	}
	return world != s.w || was != s.rec
}

// effect begins an effect as the engine does, carries it out, and reports.
func (s *sim) effect(e swap.Effect, o opts, ends fate) bool {
	now := s.clock(o.skew)
	ready := func(e swap.Effect) bool { return !s.rec.Elsewhere(e, s.w.process(), now) && e.Due(s.rec, now) }
	if !ready(e) {
		return false
	}
	res, _, err := s.turn(nil, o)
	if err != nil {
		s.broken("a pass failed: %v", err)
		return true
	}
	e, ok := engine.StillDue(s.flow, res, e, now, ready)
	if !ok {
		return false
	}
	if res.Record.Marks(e) {
		if err := s.write(res.Record, res.Record.Begin(e, s.w.process(), now, now.Add(90*time.Second)), nil, now); err != nil {
			s.broken("the beginning of %s cannot be stored: %v", e.Kind, err)
		}
	}
	out := swap.Outcome{Effect: e.Kind, Step: e.Step, Reason: "no answer"}
	r := s.rec
	if e.Kind == swap.SendTx {
		out.Tx = r.Submission.Txs[e.Step].ID
	}
	switch ends {
	case diedBefore:
		s.w.restarted = !s.w.restarted
		return true
	case lostBefore:
	case refused:
		out.Refused, out.Reason = true, "refused"
	default:
		s.o = o
		done, no := s.perform(r, res, e)
		if ends == diedAfter {
			s.w.restarted = !s.w.restarted
			return true
		}
		if ends == asUsual {
			out.Done, out.Refused = done, no
		}
	}
	if _, _, err := s.turn(out, opts{skew: o.skew}); err != nil {
		s.broken("the outcome of %s is not taken: %v", e.Kind, err)
	}
	return true
}

// node of the exploration: how a state was reached.
type node struct {
	parent int32
	what   string
}

type state struct {
	at  int32 // node
	w   world
	rec *swap.Record
}

type key [2]uint64

type explorer struct {
	*story
	seeds [2]maphash.Seed
	taken []atomic.Bool // rows of the table
	nodes []node
	seen  map[key]bool
	good  [2]sync.Map // states from which a fair world ends well: with the provider, and without
	most  int         // states; 0: no bound
	cut   bool        // more states there were
}

// take notes that a row of the table was taken.
func (x *explorer) take(m *swap.Move) {
	for i := range x.flow.Moves {
		if &x.flow.Moves[i] == m {
			x.taken[i].Store(true)
		}
	}
}

func newExplorer(st *story) *explorer {
	return &explorer{story: st, seeds: [2]maphash.Seed{maphash.MakeSeed(), maphash.MakeSeed()}, taken: make([]atomic.Bool, len(st.flow.Moves)), seen: map[key]bool{}}
}

func (x *explorer) key(s *sim) key {
	r := s.rec.Clone()
	w := s.w.canonical(r)
	s.normalise(r)
	body, err := json.Marshal(r)
	if err != nil {
		panic(err)
	}
	var k key
	for i, seed := range x.seeds {
		var h maphash.Hash
		h.SetSeed(seed)
		maphash.WriteComparable(&h, w)
		h.Write(body)
		k[i] = h.Sum64()
	}
	return k
}

// normalise leaves of a record what decides: heights count from the newest block, and
// times by how many moments ago they were.
func (s *sim) normalise(r *swap.Record) {
	r.Changed, r.Due = 0, 0
	height := func(h uint64) uint64 {
		switch {
		case h == 0:
			return 0
		case h+finalAfter < uint64(s.w.height):
			return 1
		}
		return 100 + h - uint64(s.w.height)
	}
	ago := func(m swap.Millis) swap.Millis {
		if m == 0 {
			return 0
		}
		for n := int8(0); n < 2; n++ {
			if s.w.now < n {
				break
			}
			switch d := m - swap.At(s.moment(s.w.now-n)); {
			case d > 60_000:
				return 1 + 10*swap.Millis(n)
			case d >= 0:
				return 2 + 10*swap.Millis(n)
			}
		}
		return 3
	}
	r.Seen.Chain, r.Seen.At = height(r.Seen.Chain), ago(r.Seen.At)
	r.Ended = ago(r.Ended)
	if p := r.Problem; p != "" {
		r.Problem = "a problem"
	}
	if e := r.Escrow; e != nil {
		e.OpenedAt = ago(e.OpenedAt)
	}
	if l := r.Lightning; l != nil {
		l.Revealed = min(l.Revealed, 1)
	}
	if b := r.Bitcoin; b != nil {
		b.ConfirmedAt = ago(b.ConfirmedAt)
	}
	if sub := r.Submission; sub != nil {
		sub.Block = height(sub.Block)
		sub.Since, sub.Moved, sub.Missing = ago(sub.Since), ago(sub.Moved), ago(sub.Missing)
		if sub.Reason != "" {
			sub.Reason = "a reason"
		}
		if sub.Closed && len(sub.Txs) > 0 { // which they were is history
			sub.Txs = sub.Txs[:1]
			sub.Txs[0].ID = "closed"
		}
	}
	now := swap.At(s.clock(0))
	for k, t := range r.Tried {
		t.Attempts, t.Started, t.Reason = min(t.Attempts, 3), min(t.Started, 1), ""
		if swap.KindOf(k) == swap.SendTx {
			t.Attempts = min(t.Attempts, 1)
		}
		if t.NotBefore <= now {
			t.NotBefore = 0
		} else {
			t.NotBefore = 1
		}
		if t.Busy = min(t.Busy, 1); t.Busy != 0 && !r.Tried[k].Busy.Reached(s.clock(0)) {
			t.Busy = 2
		}
		r.Tried[k] = t
	}
}

// next is what one action makes of a state; nil if it cannot happen or changes nothing.
func (x *explorer) next(st *state, a *action) *sim {
	if st.w.left < a.cost {
		return nil
	}
	s := &sim{story: x.story, x: x, w: st.w, rec: st.rec}
	s.w.left -= a.cost
	happened := s.safely(func() bool {
		if !a.do(s) {
			return false
		}
		if !s.quiet {
			s.wake()
		}
		return true
	})
	if !happened && s.bad == "" {
		return nil
	}
	return s
}

// safely turns a panic of a pass into a broken promise.
func (s *sim) safely(do func() bool) (did bool) {
	defer func() {
		if p := recover(); p != nil {
			s.broken("a pass panics: %v", p)
		}
	}()
	return do()
}

// wake has the process look as often as there is something new, if it runs; only once
// if something is wrong with that look.
func (s *sim) wake() {
	switch {
	case s.w.asleep:
	case s.w.fault != 0:
		f := s.faults[s.w.fault-1]
		s.w.fault = 0
		if f.passOnly {
			s.pass(f.o)
		} else {
			s.work(f.o, f.ends)
		}
	default:
		for n := 0; s.bad == "" && s.work(opts{}, asUsual); n++ {
			if n == 10 {
				s.broken("the process finds something to do again and again")
			}
		}
	}
}

// explore visits every state and returns the story of the first promise that is
// broken, "" if none is.
func (x *explorer) explore(left int8) string {
	var level []*state
	for _, b := range x.begin() {
		s := &sim{story: x.story, x: x, w: b.w, rec: stored(encoded(b.r))}
		s.wake()
		if s.w.left = left - b.cost; s.w.left < 0 {
			continue
		}
		x.seen[x.key(s)] = true
		x.nodes = append(x.nodes, node{-1, b.w.variant()})
		level = append(level, &state{int32(len(x.nodes) - 1), s.w, s.rec})
	}
	type found struct {
		*state
		key  key
		what string
		bad  string
	}
	for len(level) > 0 {
		results := make([][]found, len(level))
		var at atomic.Int64
		var stop atomic.Bool
		var workers sync.WaitGroup
		for range runtime.GOMAXPROCS(0) {
			workers.Go(func() {
				for !stop.Load() {
					i := int(at.Add(1)) - 1
					if i >= len(level) {
						return
					}
					st := level[i]
					if bad := x.live(st); bad != "" {
						results[i] = []found{{what: "", bad: bad, state: st}}
						stop.Store(true)
						return
					}
					for a := range x.actions {
						s := x.next(st, &x.actions[a])
						if s == nil {
							continue
						}
						results[i] = append(results[i], found{&state{st.at, s.w, s.rec}, x.key(s), x.actions[a].name, s.bad})
						if s.bad != "" {
							stop.Store(true)
						}
					}
				}
			})
		}
		workers.Wait()
		var following []*state
		for _, fs := range results {
			for _, f := range fs {
				if f.bad != "" {
					return x.tell(f.at, f.what, f.bad)
				}
				if x.seen[f.key] {
					continue
				}
				if x.most > 0 && len(x.nodes) >= x.most {
					x.cut = true
					return ""
				}
				x.seen[f.key] = true
				x.nodes = append(x.nodes, node{f.at, f.what})
				f.state.at = int32(len(x.nodes) - 1)
				following = append(following, f.state)
			}
		}
		level = following
	}
	return ""
}

// tell prints a path as a story.
func (x *explorer) tell(at int32, last, bad string) string {
	var lines []string
	if last != "" {
		lines = append(lines, last)
	}
	for ; at >= 0; at = x.nodes[at].parent {
		lines = append(lines, x.nodes[at].what)
	}
	slices.Reverse(lines)
	var b strings.Builder
	fmt.Fprintf(&b, "%s: a promise is broken\n", x.name)
	for i, l := range lines {
		fmt.Fprintf(&b, "  %2d. %s\n", i+1, l)
	}
	fmt.Fprintf(&b, "  => %s\n", bad)
	return b.String()
}

// fairRounds bounds how long a fair world may take to end a swap.
const fairRounds = 120

// live says what is wrong if the world is fair from now on; "" if the swap ends well.
func (x *explorer) live(st *state) string {
	for i, gone := range []bool{false, true} {
		var path []key
		var told []string
		s := &sim{story: x.story, x: x, w: st.w, rec: st.rec}
		s.w.left, s.w.asleep, s.w.fault = 0, false, 0
		for round := 0; ; round++ {
			k := x.key(s)
			if _, ok := x.good[i].Load(k); ok {
				break
			}
			path = append(path, k)
			did := ""
			s.safely(func() bool {
				did = s.fairly(gone)
				return true
			})
			if s.bad != "" {
				return fmt.Sprintf("%s\n     (in a fair world: %s)", s.bad, strings.Join(told, "; "))
			}
			if did == "" {
				r := s.rec
				if s.settled(r, gone) {
					if bad := s.ended(s, r, gone); bad != "" {
						return fmt.Sprintf("the swap has ended, and %s\n     (from here on in a fair world: %s)", bad, strings.Join(told, "; "))
					}
					break
				}
				if round >= fairRounds || !s.tick(false) {
					return fmt.Sprintf("in a fair world (provider gone: %v) the swap does not end; it stays in state %s\n     (%s)", gone, row(x.flow, r.State), strings.Join(told[max(0, len(told)-12):], "; "))
				}
				did = "time passes"
			}
			if round > 2*fairRounds {
				return "in a fair world the process finds no rest: " + strings.Join(told[max(0, len(told)-12):], "; ")
			}
			told = append(told, fmt.Sprintf("%s, state %d", did, s.rec.State))
		}
		for _, k := range path {
			x.good[i].Store(k, true)
		}
	}
	return ""
}

// fairly does what happens next in a fair world, "" if only time passes.
func (s *sim) fairly(gone bool) string {
	switch {
	case s.work(opts{}, asUsual):
		return "a pass"
	case s.mineAll():
		return "a block is found"
	case s.user(owner, opts{}):
		return "the user signs"
	case s.fair(s, gone):
		return "the provider acts"
	}
	return ""
}

func row(f *swap.Flow, n int) string {
	r, _ := f.State(n)
	return r.Name
}

// unused returns the rows of the table that no world has taken.
func (x *explorer) unused() []string {
	var rows []string
	for i, m := range x.flow.Moves {
		if !x.taken[i].Load() {
			rows = append(rows, fmt.Sprintf("%q from %v", m.Why, m.From))
		}
	}
	return rows
}

func TestExplore(t *testing.T) {
	for _, st := range stories() {
		t.Run(st.name, func(t *testing.T) {
			began := time.Now()
			x := newExplorer(st)
			left := *surprises
			if x.most = *most; left < 0 {
				left, x.most = 1, nearest
			}
			if bad := x.explore(int8(left)); bad != "" {
				t.Fatal(bad)
			}
			t.Logf("%d states with %d surprises in %s; all: %v", len(x.nodes), left, time.Since(began).Round(time.Millisecond), !x.cut)
			for _, r := range x.unused() {
				if left > 1 && !x.cut {
					t.Errorf("no world takes the row %s", r)
				} else {
					t.Logf("no world so near takes the row %s", r)
				}
			}
		})
	}
}

// Rows that need more surprises than all worlds can be visited with.
func TestRowsOfManySurprises(t *testing.T) {
	for _, c := range []struct {
		typ   swap.Type
		row   string
		story []string
	}{
		{swap.SPVFromBTC, "a reorganisation brought the transaction back", []string{
			"the user signs what is asked for", "the provider sends the transaction", "another transaction spends an input of the user's Bitcoin transaction",
			"a reorganisation of Bitcoin takes back 1 blocks",
		}},
		{swap.SPVFromBTC, "the vault closed, and the payout was not advanced", []string{
			"the user signs what is asked for", "the provider sends the transaction", "the user's Bitcoin transaction is mined", "a Bitcoin block is found",
			"somebody advances the payout", "the process hears of an event of the vault", "the process stops", "a reorganisation takes back 1 blocks",
			"the vault closes over the transaction", "the process starts again",
		}},
		{swap.TrustedFromBTC, "a reorganisation undid the refund", []string{
			"the user pays from another wallet", "the payment from the user's other wallet is mined", "the provider cannot use the payment",
			"the user says where a refund is to go", "the provider returns the payment", "a reorganisation of Bitcoin takes back the refund",
		}},
		{swap.TrustedFromBTC, "the provider reports no payment, and none is found", []string{
			"the user pays from another wallet", "the payment from the user's other wallet is mined", "the provider cannot use the payment",
			"a reorganisation of Bitcoin takes back 1 blocks, and their transactions are forgotten", "time passes", "time passes",
		}},
		{swap.TrustedFromBTC, "a payment was seen after all", []string{
			"the user pays from another wallet", "Bitcoin nodes forget the payment from the user's other wallet", "time passes", "time passes",
			"the payment from the user's other wallet, which was forgotten, is mined",
		}},
	} {
		t.Run(c.typ.String()+"/"+c.row, func(t *testing.T) {
			x := newExplorer(storyOf(c.typ))
			b := x.begin()[0]
			at := &state{w: b.w, rec: stored(encoded(b.r))}
			at.w.left = 9
			for _, name := range c.story {
				i := slices.IndexFunc(x.actions, func(a action) bool { return a.name == name })
				if i < 0 {
					t.Fatalf("there is no action %q", name)
				}
				s := x.next(at, &x.actions[i])
				if s == nil || s.bad != "" {
					t.Fatalf("%q: it cannot happen, or breaks a promise: %+v", name, s)
				}
				at = &state{w: s.w, rec: s.rec}
			}
			if !x.taken[rowOf(x.flow, c.row, 0)].Load() {
				t.Errorf("the story ends in %s, and the row is not taken", row(x.flow, at.rec.State))
			}
			if bad := x.live(at); bad != "" {
				t.Error(bad)
			}
		})
	}
}

// An imported swap whose record says that its escrow is open, and whose chain has never
// shown it, ends too.
func TestImportedSwapsOfUnknownEscrowsEnd(t *testing.T) {
	const notShown = "the chain has not shown the escrow for long"
	for typ, c := range map[swap.Type]struct {
		state int
		row   string
	}{
		swap.FromBTC: {swapstate.InCommitted, notShown},
		swap.ToBTC:   {swapstate.OutRefundable, notShown},
		swap.ToBTCLN: {swapstate.OutCommitted, notShown},
	} {
		st := storyOf(typ)
		st.truth = func(*sim, *swap.Record, *engine.Result) string { return "" } // what was imported is believed for long
		x := newExplorer(st)
		b := x.begin()[0]
		b.r.State, b.r.Escrow.Init = c.state, nil
		if bad := x.live(&state{w: b.w, rec: stored(encoded(b.r))}); bad != "" {
			t.Errorf("%s: %s", typ, bad)
		}
		if !x.taken[rowOf(x.flow, c.row, 0)].Load() {
			t.Errorf("%s: the row %q is not taken", typ, c.row)
		}
	}
}
