package explore

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/internal/engine"
	"github.com/swapper-go/swapper/internal/swap"
	"github.com/swapper-go/swapper/internal/trial"
	"github.com/swapper-go/swapper/storage"
)

var surprises = flag.Int("explore", -1, "visit all worlds with so many surprises at most; -1: the nearest worlds with one")

var most = flag.Int("explore.most", 0, "visit so many worlds of each type at most, those with the shortest stories first; 0: all, those with the fewest surprises first")

// nearest is how many states of each type ordinary tests visit: those with the shortest
// stories; nearer those at the usual depth.
const nearest, nearer = 1500, 500

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
	// ends are the expiries that the provider chooses from, since the quote; nil: 12 h.
	ends []time.Duration
	// hasty is a mistake: what one answer says of these is kept for good.
	hasty fact
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
	rest  *rest        // nil: none

	remembering sync.Mutex // questions are asked at the same time

	writes int8  // of the last pass
	ran    bool  // something was done after it
	usual  usual // of the looks after an action
}

// rest has the passes that change nothing, of which each world sees several. It is of one
// worker.
type rest struct {
	all   map[atRest]passed
	asked atomic.Uint32 // the facts that were asked for
}

type atRest struct {
	w   world
	rec *swap.Record
}

type passed struct {
	res   *engine.Result
	due   []swap.Effect
	asked uint32
}

func (r *rest) keep(k atRest, p passed) {
	if len(r.all) > 200 {
		clear(r.all)
	}
	r.all[k] = p
}

// opts are what is wrong with one pass.
type opts struct {
	miss  fact // answers that do not come
	lag   bool // nodes answer from three blocks ago
	blank bool // nodes know no transaction of the user's
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

// turn is one pass of the process.
func (s *sim) turn(input swap.Input, o opts) (*engine.Result, []swap.Effect, error) {
	if input != nil || !o.clean() || s.rest == nil {
		return s.take(input, o)
	}
	k := atRest{s.w, s.rec}
	k.w.left, k.w.asleep = 0, false
	if p, ok := s.rest.all[k]; ok {
		s.writes = 0
		s.rest.asked.Or(p.asked)
		return p.res, p.due, nil
	}
	before := s.rest.asked.Swap(0)
	res, due, err := s.take(nil, o)
	if err == nil && s.rec == k.rec && s.w.mem == k.w.mem {
		s.rest.keep(k, passed{res, due, s.rest.asked.Load()})
	}
	s.rest.asked.Or(before)
	return res, due, err
}

func (s *sim) take(input swap.Input, o opts) (*engine.Result, []swap.Effect, error) {
	s.writes = 0
	now := func() time.Time { return s.clock(o.skew) }
	res, due, err := engine.Turn{
		Flow: func(swap.Type) *swap.Flow { return s.flow },
		Now:  now,
		Load: func() (*swap.Record, error) { return s.rec, nil },
		Observe: func(f *swap.Flow, in swap.Decision) {
			engine.Observe(context.Background(), s.answers(s, o), s.rival(o), f, in)
		},
		Write: func(r, next *swap.Record, move *swap.Move) error {
			if o.die != 0 && s.writes == o.die {
				return errDied
			}
			s.writes++
			if move != nil {
				s.x.taking(move)
			}
			return s.write(r, next, move, now())
		},
	}.Pass(input)
	if errors.Is(err, errDied) {
		s.forget()
	}
	s.believe()
	return res, due, err
}

// write is the store: one other swap may hold a unique key.
func (s *sim) write(r, next *swap.Record, move *swap.Move, now time.Time) error {
	return engine.Write(s.flow, now, r, next, move, func(e storage.Entry) error {
		for _, k := range e.Keys {
			if s.w.rival && k.Unique && (k.Index == swap.ByPaying || k.Index == swap.ByHash) {
				return &storage.KeyTakenError{Index: k.Index, Value: k.Value}
			}
		}
		s.rec = s.x.records.of(e.Body)
		return nil
	})
}

func (s *sim) rival(o opts) func(context.Context, string, swap.RivalAsk) (bool, error) {
	return func(context.Context, string, swap.RivalAsk) (bool, error) {
		if (answer{s: s, o: o}).missing(aRival) {
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
	for i := range s.w.btc.txs {
		t := &s.w.btc.txs[i]
		t.known = t.known || res.Observation.Received.Known() && (t.state == waiting || t.state == mined)
	}
	if s.w.liar > 0 {
		if bad := s.falseEnd(was, res.Record); bad != "" {
			s.broken("while the first of two nodes lies: %s", bad)
		}
		return
	}
	if row, _ := s.flow.State(res.Record.State); s.misled() && (s.w.liar == 0 || !row.Finished || was.State == row.Number) {
		return
	}
	if wrong := s.truth(s, was, res); wrong != "" {
		s.broken("after a pass with true answers: %s", wrong)
	}
	if v := engine.ViewOf(s.flow, res); !says(v) && !s.underWay(res.Record) {
		s.broken("state %s shows neither an action nor what is waited for", v.Row.Name)
	}
}

// falseEnd says which end a pass has shown, or taken for settled, that is not the truth.
func (s *sim) falseEnd(was, r *swap.Record) string {
	end, _ := s.flow.State(r.State)
	if !end.Finished || was.State == r.State && was.Settled == r.Settled {
		return ""
	}
	if s.flow.Type == swap.SPVFromBTC {
		state, _ := s.withdrawalAt(s.w.height)
		said := chains.WithdrawalState(s.w.liar - 1)
		if shown := map[int]chains.WithdrawalState{swap.SPVClaimed: chains.WithdrawalClaimed, swap.SPVClosed: chains.WithdrawalClosed, swap.SPVFronted: chains.WithdrawalFronted}[r.State]; shown != chains.WithdrawalNone && shown == said && shown != state {
			return fmt.Sprintf("it is shown as %s, and the vault's withdrawal is %d", end.Name, state)
		}
		return ""
	}
	state := s.w.escrow()
	unpaid := s.flow.Type == swap.FromBTCLN && r.State == swap.LnExpired && r.Escrow.Real == nil && r.Lightning.EndsAt.Passed(s.clock(0))
	if unpaid && state == chains.EscrowNone { // the clock says so: there is no escrow that a node could be asked for
		return ""
	}
	if state != chains.EscrowState(s.w.liar-1) {
		return fmt.Sprintf("it is shown as %s, and the escrow is %s", end.Name, state)
	}
	return ""
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
	writes, ran := s.writes, false
	for _, e := range due {
		ran = s.effect(e, o, ends) || ran
	}
	s.writes, s.ran = writes, ran
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
		s.restart()
		return true
	case lostBefore:
	case refused:
		out.Refused, out.Again, out.Reason = true, true, "refused"
	default:
		s.o = o
		done, no := s.perform(r, res, e)
		if ends == diedAfter {
			s.restart()
			return true
		}
		if ends == asUsual {
			out.Done, out.Refused, out.Again = done, no, no
		}
	}
	was := s.rec
	res, _, err = s.turn(out, opts{skew: o.skew})
	if err != nil {
		s.broken("the outcome of %s is not taken: %v", e.Kind, err)
		return true
	}
	s.check(was, res, opts{skew: o.skew})
	return true
}

// restart is the end of one process, and another one takes its place.
func (s *sim) restart() {
	s.w.restarted = !s.w.restarted
	s.forget()
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

// unused returns the rows of the table that no world has taken, and for which there is
// no story of its own.
func (x *explorer) unused() []string {
	var rows []string
	for i, m := range x.flow.Moves {
		told := m.Why == longNotShown || slices.ContainsFunc(farRows, func(f far) bool { return f.typ == x.flow.Type && f.row == m.Why })
		if !told && !x.taken[i].Load() {
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
			if x.most, x.all = *most, true; left < 0 {
				left, x.most, x.all = 1, nearer, false
				if trial.Full() {
					x.most = nearest
				}
			}
			done, told := 0, time.Now()
			x.progress = func(some, all int) {
				if done += some; time.Since(told) > time.Minute {
					told = time.Now()
					t.Logf("%d of %d worlds that hold one surprise more: %d worlds", done, all, x.visited)
				}
			}
			if bad := x.explore(int8(left)); bad != "" {
				t.Fatal(bad)
			}
			t.Logf("%d worlds with %d surprises in %s; all: %v", x.visited, left, time.Since(began).Round(time.Millisecond), !x.cut)
			if x.steps > 0 {
				t.Logf("the farthest is %d steps away", x.steps-1)
			}
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

// Both ways to search visit as many worlds. They need not be the very same: of worlds that
// are merged, as those in which something was tried three times and four, each way follows
// the one that it meets first.
func TestWaysToSearch(t *testing.T) {
	for _, st := range stories() {
		if st.flow.Type != swap.TrustedFromBTCLN && (st.flow.Type != swap.TrustedFromBTC || !trial.Full()) {
			continue
		}
		plainest, nearest := newExplorer(st), newExplorer(st)
		nearest.most = math.MaxInt
		for _, x := range []*explorer{plainest, nearest} {
			if bad := x.explore(1); bad != "" {
				t.Fatal(bad)
			}
		}
		if plainest.visited != nearest.visited {
			t.Errorf("%s: %d worlds in one order, and %d in the other", st.name, plainest.visited, nearest.visited)
		}
	}
}
