package swap

import (
	"flag"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/swapper-go/swapper/internal/trial"
)

var update = flag.Bool("update", false, "write docs/states from the tables")

func TestDiagramsAreCurrent(t *testing.T) {
	for _, f := range Flows() {
		path := filepath.Join("..", "..", "docs", "states", f.Type.String()+".md")
		want := f.Diagram()
		if *update {
			trial.Do(t, os.WriteFile(path, []byte(want), 0o644))
		}
		got, err := os.ReadFile(path)
		if err != nil || string(got) != want {
			t.Errorf("%s is not what the table says (%v); run .ci/texts", path, err)
		}
	}
}

// TestTables checks what holds for every table: rows lead from states to states
// that exist, each state can be reached, and what the engine no longer looks at
// is finished.
func TestTables(t *testing.T) {
	for _, f := range Flows() {
		reached := map[int]bool{0: true}
		for _, m := range f.Moves {
			for _, from := range m.From {
				if _, ok := f.State(from); !ok {
					t.Errorf("%s: %q leads from state %d, which does not exist", f.Type, m.Why, from)
				}
			}
			if m.To == stay {
				if m.On == 0 {
					t.Errorf("%s: %q stays without an input", f.Type, m.Why)
				}
				continue
			}
			if _, ok := f.State(m.To); !ok {
				t.Errorf("%s: %q leads to state %d, which does not exist", f.Type, m.Why, m.To)
			}
			if m.On == 0 && m.If == nil {
				t.Errorf("%s: %q has no guard", f.Type, m.Why)
			}
			reached[m.To] = true
		}
		var numbers []int
		for _, s := range f.States {
			if !reached[s.Number] {
				t.Errorf("%s: state %s cannot be reached", f.Type, s.Name)
			}
			if slices.Contains(numbers, s.Number) {
				t.Errorf("%s: state %d stands twice", f.Type, s.Number)
			}
			numbers = append(numbers, s.Number)
			if !s.Watched && !s.Finished {
				t.Errorf("%s: nobody looks at unfinished state %s", f.Type, s.Name)
			}
			if s.Success && s.Failed || (s.Success || s.Expired) && !s.Finished {
				t.Errorf("%s: flags of %s contradict each other", f.Type, s.Name)
			}
		}
	}
}
