package settle

import (
	"testing"
	"time"

	"github.com/swapper-go/swapper/chains"
)

func stays(height uint64) bool { return height != 0 && height <= 200 }

// An end is kept after two readings more than two minutes apart, and only as long as what
// all nodes say is the same.
func TestWhatIsKeptOfEscrows(t *testing.T) {
	start := time.Unix(now, 0)
	m := NewEscrowMemory[string](16)
	end := *claimed(at(300), 100, 200, "0x2")
	open, other, recent := *opened(at(300), 100, "0x1"), *opened(at(300), 100, "0x9"), *claimed(at(300), 100, 201, "0x2")
	failed := chains.EscrowFact{Err: errOpen}
	for i, c := range []struct {
		f             chains.EscrowFact
		after         time.Duration
		settled       bool
		ended, opened bool
		likely        Blocks
	}{
		{recent, 0, true, false, false, Blocks{100, 201}},
		{end, 0, true, false, false, Blocks{100, 200}},
		{end, time.Minute, true, false, false, Blocks{100, 200}},
		{end, 3 * time.Minute, false, false, false, Blocks{100, 200}}, // one node's word
		{end, 3 * time.Minute, true, true, true, Blocks{0, 200}},
		{failed, 4 * time.Minute, true, true, true, Blocks{0, 200}},
		{open, 4 * time.Minute, false, true, true, Blocks{}},
		{open, 4 * time.Minute, true, false, true, Blocks{}},
		{other, 4 * time.Minute, true, false, false, Blocks{100, 0}},
		{chains.EscrowFact{}, 5 * time.Minute, true, false, false, Blocks{}},
	} {
		m.Note("k", c.f, stays, start.Add(c.after), c.settled)
		_, ended := m.Ended("k")
		_, opened := m.Opened("k")
		likely, _ := m.Likely("k")
		if ended != c.ended || opened != c.opened || likely != c.likely {
			t.Errorf("note %d: the end is kept: %t, the opening: %t, likely %+v, want %t, %t, %+v", i, ended, opened, likely, c.ended, c.opened, c.likely)
		}
	}
}

// So is what became of a withdrawal; that there was nothing serves the next search.
func TestWhatIsKeptOfWithdrawals(t *testing.T) {
	start := time.Unix(now, 0)
	m := NewWithdrawalMemory[string](16)
	none, fronted := chains.WithdrawalFact{}, chains.WithdrawalFact{State: chains.WithdrawalFronted, FrontTx: "0x1", Height: 100}
	paid := chains.WithdrawalFact{State: chains.WithdrawalClaimed, ClaimTx: "0x2", Height: 200}
	for i, c := range []struct {
		f        chains.WithdrawalFact
		searched uint64
		after    time.Duration
		settled  bool
		done     bool
		from     uint64
	}{
		{none, 50, 0, true, false, 50},
		{none, 60, time.Minute, true, false, 50},
		{fronted, 0, 2 * time.Minute, true, false, 0},
		{paid, 0, 3 * time.Minute, false, false, 0}, // one node's word
		{paid, 0, 4 * time.Minute, true, false, 0},
		{fronted, 0, 5 * time.Minute, false, false, 0},
		{paid, 0, 7 * time.Minute, true, true, 0},
		{none, 70, 8 * time.Minute, false, true, 70},
		{none, 80, 8 * time.Minute, true, false, 80},
	} {
		m.Note("k", c.f, c.searched, stays, start.Add(c.after), c.settled)
		_, done := m.Done("k")
		from, _ := m.From("k", start.Add(c.after))
		if done != c.done || from != c.from {
			t.Errorf("note %d: it is kept: %t, a search begins at %d, want %t and %d", i, done, from, c.done, c.from)
		}
	}
}
