package explore

import (
	"fmt"
	"reflect"
	"testing"
	"time"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/internal/settle"
	"github.com/swapper-go/swapper/internal/swap"
)

// recalled is what the process remembers of the chain, by the rule of those who read
// chains. Only what is not true is in it: what is true is forgotten at once, which makes no
// world better. A lie that could stay says that it was long ago, in block 1. A recalled is
// never modified, and of each form there is one.
type recalled struct {
	escrows [2]settle.Escrow     // the one that was agreed on, and the one of shortHash
	search  settle.Entry[uint64] // for an escrow with the claim hash
	vault   settle.Withdrawal
}

// recalls has each form of a memory once.
type recalls struct{ memo[string, *recalled] }

// of returns the one form, nil if nothing is remembered.
func (r *recalls) of(m recalled) *recalled {
	if reflect.ValueOf(m).IsZero() {
		return nil
	}
	return r.memo.of(fmt.Sprint(m), func() *recalled { return &m })
}

// recall returns what is remembered.
func (s *sim) recall() recalled {
	if s.w.mem == nil {
		return recalled{}
	}
	return *s.w.mem
}

// remember puts something else in its place.
func (s *sim) remember(m recalled) { s.w.mem = s.x.recalls.of(m) }

// forget is the end of a process, and of what it remembers.
func (s *sim) forget() {
	s.w.mem = nil
	s.believe()
}

// believe lets a liar that says what is true be one honest node, once nothing is
// remembered of what it said.
func (s *sim) believe() {
	if s.w.mem == nil && s.w.liar == reformed {
		s.w.liar = 0
	}
}

// reform has the provider's node say what is true from now on, or not be asked any more.
// What it said moments ago may lead astray yet. That one node said of an end is not kept,
// and never will be.
func (s *sim) reform() {
	s.w.liar = reformed
	m := s.recall()
	for i, e := range m.escrows {
		if _, kept := e.Ended(); !kept {
			m.escrows[i] = settle.Escrow{}
		}
	}
	s.remember(m)
	s.believe()
}

// fade is what two minutes make of searches in vain, once no node lies any more: they lead
// nobody astray.
func (s *sim) fade() {
	if s.w.mem == nil || s.w.liar > 0 {
		return
	}
	m := s.recall()
	if _, kept := m.search.Kept(); !kept {
		m.search = settle.Entry[uint64]{}
	}
	_, done := m.vault.Done()
	if _, kept := m.vault.From(time.Time{}); !done && !kept && (s.w.liar == reformed || s.misled()) {
		m.vault = settle.Withdrawal{}
	}
	s.remember(m)
	s.believe()
}

// misled reports whether a search that found nothing, moments ago, may hide from the
// process what is there: for two minutes.
func (s *sim) misled() bool {
	if s.w.mem == nil {
		return false
	}
	for _, from := range []func(now time.Time) (uint64, bool){s.w.mem.search.Hint, s.w.mem.vault.From} {
		_, kept := from(time.Time{})
		if _, hint := from(s.clock(0)); hint && !kept {
			return true
		}
	}
	return false
}

// word is an answer that is remembered.
type word struct {
	lie     bool // it is not what the chain shows
	ends    bool // it is an end that cannot be undone
	settled bool // all nodes say so
	asked   time.Time
}

// left is what is left of an entry when an answer was noted in it. kept and keeps report
// whether it kept, and keeps, for good, what is not so.
func left[E any](w word, before, after E, kept, keeps bool) (none E) {
	switch {
	case keeps && !kept && w.settled && !reflect.ValueOf(before).IsZero(): // the only node has said twice what is not so
		return none
	case keeps, w.lie:
		return after
	case w.settled, w.ends:
		return none
	}
	return before
}

// note has an entry take an answer, by its rule note; a mutant takes it twice.
func (w word) note(hasty bool, note func(w word)) {
	if hasty {
		early := w
		early.asked, early.settled = w.asked.Add(-3*time.Minute), true
		note(early)
		w.settled = true
	}
	note(w)
}

// stays reports whether what happened at a height cannot be undone, by the chain as it is
// at another.
func stays(head int16) func(height uint64) bool {
	return func(height uint64) bool { return height != 0 && height+finalAfter <= uint64(head) }
}

// noteSearch remembers that a search found an escrow, or none.
func (s *sim) noteSearch(w word, found bool) {
	m := s.recall()
	switch {
	case !found && w.lie:
		e := m.search
		w.note(s.hasty&aFound != 0, func(w word) { e = e.Note(1, w.asked, w.settled, settle.Later) })
		_, kept := m.search.Kept()
		_, keeps := e.Kept()
		m.search = left(w, m.search, e, kept, keeps)
	case !found || w.settled:
		m.search = settle.Entry[uint64]{}
	}
	s.remember(m)
}

// noteEscrow remembers a fact of an escrow, which is in a state.
func (s *sim) noteEscrow(w word, which int, f chains.EscrowFact, is chains.EscrowState, stays func(uint64) bool) {
	if w.lie && f.Finished.Height != 0 {
		f.Opened.Height, f.Finished.Height = 1, 1
	}
	w.ends = stays(f.Finished.Height)
	m := s.recall()
	e := m.escrows[which]
	w.note(s.hasty&aEscrow != 0, func(w word) { e = e.Note(f, stays, w.asked, w.settled) })
	untrue := func(e settle.Escrow) bool { end, kept := e.Ended(); return kept && end.State != is }
	m.escrows[which] = left(w, m.escrows[which], e, untrue(m.escrows[which]), untrue(e))
	s.remember(m)
}

// noteVault remembers a fact of the withdrawal, which is in a state.
func (s *sim) noteVault(w word, f chains.WithdrawalFact, is chains.WithdrawalState, stays func(uint64) bool) {
	if w.lie && f.Height != 0 {
		f.Height = 1
	}
	w.ends = f.State > chains.WithdrawalFronted && stays(f.Height)
	m := s.recall()
	e := m.vault
	w.note(s.hasty&aWithdrawal != 0, func(w word) { e = e.Note(f, 1, stays, w.asked, w.settled) })
	untrue := func(v settle.Withdrawal) bool {
		f, done := v.Done()
		_, unpaid := v.From(time.Time{})
		return done && f.State != is || unpaid && is != chains.WithdrawalNone
	}
	m.vault = left(w, m.vault, e, untrue(m.vault), untrue(e))
	s.remember(m)
}

// A memory that keeps what one answer says, or one node's, is noticed, in worlds in which
// that of production is not.
func TestHastyMemoryIsNoticed(t *testing.T) {
	for name, c := range map[string]struct {
		st    *story
		hasty fact
	}{
		"the end of an escrow, TO_BTC":          {outStory(swap.ToBTC), aEscrow},
		"the end of an escrow, TO_BTCLN":        {outStory(swap.ToBTCLN), aEscrow},
		"the end of an escrow, FROM_BTC":        {fromBTCStory(), aEscrow},
		"the end of an escrow, FROM_BTCLN":      {inStory(swap.FromBTCLN), aEscrow},
		"the end of an escrow, FROM_BTCLN_AUTO": {inStory(swap.FromBTCLNAuto), aEscrow},
		"what became of a withdrawal":           {spvStory(), aWithdrawal},
	} {
		c.st.hasty = c.hasty
		x := newExplorer(c.st)
		x.most = nearest
		told := x.explore(1)
		if told == "" {
			t.Errorf("%s: nothing is noticed in %d worlds", name, x.visited)
		}
		t.Logf("%s, in %d worlds: %s", name, x.visited, told)
	}
}

// One that keeps that a search found nothing needs two surprises to be noticed.
func TestHastySearchIsNoticed(t *testing.T) {
	hidden := far{story: []string{
		"the provider falls silent", "the payment reaches the provider",
		"[at the next look of the process, a node says wrongly that the escrow was never opened]", "the provider opens the escrow", "time passes",
	}}
	st := inStory(swap.FromBTCLNAuto)
	if bad, _ := hidden.play(st); bad != "" {
		t.Errorf("with the memory of production: %s", bad)
	}
	st.hasty = aFound
	bad, _ := hidden.play(st)
	if bad == "" {
		t.Error("nothing is noticed")
	}
	t.Log(bad)
}
