package settle

import (
	"testing"
	"time"
)

func TestMemoryKeepsWhatWasSettledTwice(t *testing.T) {
	start := time.Unix(1_000_000, 0)
	type note struct {
		at      time.Duration
		value   int // 0: forget
		settled bool
	}
	for name, c := range map[string]struct {
		notes []note
		at    time.Duration
		kept  int // 0: nothing
		hint  int
	}{
		"nothing":                                {},
		"once":                                   {notes: []note{{0, 1, true}}, hint: 1},
		"once, long ago":                         {notes: []note{{0, 1, true}}, at: 3 * time.Minute},
		"twice, too close":                       {notes: []note{{0, 1, true}, {time.Minute, 1, true}}, at: time.Minute, hint: 1},
		"twice":                                  {notes: []note{{0, 1, true}, {121 * time.Second, 1, true}}, at: 121 * time.Second, kept: 1, hint: 1},
		"twice, at the bound":                    {notes: []note{{0, 1, true}, {2 * time.Minute, 1, true}}, at: 2 * time.Minute, hint: 1},
		"many, each soon after the last":         {notes: []note{{0, 1, true}, {time.Minute, 1, true}, {121 * time.Second, 1, true}}, at: 121 * time.Second, kept: 1, hint: 1},
		"another":                                {notes: []note{{0, 1, true}, {3 * time.Minute, 2, true}}, at: 3 * time.Minute, hint: 2},
		"another and back":                       {notes: []note{{0, 1, true}, {3 * time.Minute, 2, true}, {4 * time.Minute, 1, true}}, at: 4 * time.Minute, hint: 1},
		"one node's word":                        {notes: []note{{0, 1, false}}, hint: 1},
		"one node's word twice":                  {notes: []note{{0, 1, false}, {3 * time.Minute, 1, false}}, at: 3 * time.Minute, hint: 1},
		"one node's word, then settled":          {notes: []note{{0, 1, false}, {3 * time.Minute, 1, true}}, at: 3 * time.Minute, hint: 1},
		"settled, then one node's word":          {notes: []note{{0, 1, true}, {3 * time.Minute, 1, false}}, at: 3 * time.Minute},
		"settled, one node's word, settled":      {notes: []note{{0, 1, true}, {time.Minute, 1, false}, {3 * time.Minute, 1, true}}, at: 3 * time.Minute, kept: 1, hint: 1},
		"kept, one node says otherwise":          {notes: []note{{0, 1, true}, {3 * time.Minute, 1, true}, {4 * time.Minute, 2, false}}, at: 4 * time.Minute, kept: 1, hint: 2},
		"kept, and settled otherwise":            {notes: []note{{0, 1, true}, {3 * time.Minute, 1, true}, {4 * time.Minute, 2, true}}, at: 4 * time.Minute, hint: 2},
		"kept and forgotten":                     {notes: []note{{0, 1, true}, {3 * time.Minute, 1, true}, {4 * time.Minute, 0, true}}, at: 4 * time.Minute},
		"the clock was set back":                 {notes: []note{{time.Hour, 1, true}, {0, 1, true}}, hint: 1},
		"the clock was set back and went on":     {notes: []note{{time.Hour, 1, true}, {0, 1, true}, {3 * time.Minute, 1, true}}, at: 3 * time.Minute, kept: 1, hint: 1},
		"a question asked before the other came": {notes: []note{{time.Minute, 1, true}, {0, 1, true}, {150 * time.Second, 1, true}}, at: 150 * time.Second, kept: 1, hint: 1},
	} {
		m := NewMemory[string](16, Equal[int])
		for _, n := range c.notes {
			if n.value == 0 {
				m.Forget("k")
				continue
			}
			m.Note("k", n.value, start.Add(n.at), n.settled)
		}
		kept, has := m.Kept("k")
		hint, some := m.Hint("k", start.Add(c.at))
		if kept != c.kept || has != (c.kept != 0) || hint != c.hint || some != (c.hint != 0) {
			t.Errorf("%s: kept %d (%t), hint %d (%t), want %d and %d", name, kept, has, hint, some, c.kept, c.hint)
		}
	}
}

// A search that goes on from where one before ended confirms nothing that lies before.
func TestMemoryOfASearch(t *testing.T) {
	start := time.Unix(1_000_000, 0)
	m := NewMemory[string](16, Later)
	look := func(after time.Duration, tip uint64) (from uint64) {
		at := start.Add(after)
		from, _ = m.Hint("k", at)
		m.Note("k", tip, at, true)
		return from
	}
	for i, c := range []struct {
		after     time.Duration
		tip, from uint64
	}{
		{0, 100, 0},
		{time.Minute, 110, 100},
		{2 * time.Minute, 120, 100},
		{3 * time.Minute, 130, 0}, // the first was too long ago: all of it once more
		{4 * time.Minute, 140, 130},
		{6 * time.Minute, 160, 100}, // twice up to 100
		{7 * time.Minute, 170, 160},
	} {
		if from := look(c.after, c.tip); from != c.from {
			t.Errorf("look %d began at %d, want %d", i, from, c.from)
		}
	}
}
