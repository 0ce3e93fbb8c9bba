package explore

import (
	"flag"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/internal/swap"
)

var mutants = flag.Bool("explore.mutants", false, "try every mutant of every table, and say which are not noticed")

// mutant is a table with one mistake in it.
type mutant struct {
	name string
	make func(f *swap.Flow) *swap.Flow
}

// changed is a copy of a flow in which a row is changed.
func changed(f *swap.Flow, i int, change func(m *swap.Move)) *swap.Flow {
	c := *f
	c.Moves = slices.Clone(f.Moves)
	change(&c.Moves[i])
	return &c
}

// without is a copy of a flow that lacks a row.
func without(f *swap.Flow, i int) *swap.Flow {
	c := *f
	c.Moves = slices.Delete(slices.Clone(f.Moves), i, i+1)
	return &c
}

func rowOf(f *swap.Flow, why string, on swap.InputKind) int {
	return slices.IndexFunc(f.Moves, func(m swap.Move) bool { return m.Why == why && (on == 0 || m.On == on) })
}

// A mistake in a table is noticed: the exploration of a mutant tells a story.
func TestMistakesAreNoticed(t *testing.T) {
	lacks := func(why string) mutant {
		return mutant{"without the row: " + why, func(f *swap.Flow) *swap.Flow { return without(f, rowOf(f, why, 0)) }}
	}
	always := func(why string) mutant {
		return mutant{"without the guard of: " + why, func(f *swap.Flow) *swap.Flow {
			return changed(f, rowOf(f, why, 0), func(m *swap.Move) { m.If = nil })
		}}
	}
	for typ, all := range map[swap.Type][]mutant{
		swap.ToBTCLN: {
			lacks("the escrow was refunded"),
			lacks("the escrow is open"),
			lacks("the escrow has expired"),
			always("the provider has proven its payment"),
			always("the authorization expired and the escrow was never opened"),
		},
		swap.FromBTCLNAuto: {
			lacks("no payment can arrive any more"),
			lacks("a reorganisation removed the escrow"),
			{"the preimage leaves as soon as the escrow is open", func(f *swap.Flow) *swap.Flow {
				c := *f
				c.Effects = func(in swap.Decision) []swap.Effect {
					all := f.Effects(in)
					if in.R.State == swap.LnCommitted && len(all) == 0 {
						all = append(all, swap.Effect{Kind: swap.Publish, Reveals: true})
					}
					return all
				}
				return &c
			}},
			{"an LNURL service is asked again and again", func(f *swap.Flow) *swap.Flow {
				c := *f
				c.Effects = func(in swap.Decision) []swap.Effect {
					all := f.Effects(in)
					if w := in.R.Lightning.Withdraw; w != nil && in.R.State == swap.LnCreated {
						return []swap.Effect{{Kind: swap.CallWithdraw, Mark: true}}
					}
					return all
				}
				return &c
			}},
		},
		swap.FromBTCLN: {
			always("the provider holds the payment and authorized the agreed escrow"),
			lacks("the escrow is open"),
		},
	} {
		for _, m := range all {
			t.Run(fmt.Sprintf("%s/%s", typ, m.name), func(t *testing.T) {
				st := storyOf(typ)
				st.flow = m.make(st.flow)
				x := newExplorer(st)
				x.most = nearest
				told := x.explore(1)
				if told == "" {
					t.Fatalf("nothing is noticed in %d worlds", x.visited)
				}
				t.Log(told)
			})
		}
	}
}

// A provider that delivers escrows which end too soon takes the deposit of whoever thinks,
// before they are open, that they last longer.
func TestLateOpeningsAreNoticed(t *testing.T) {
	st := inStory(swap.FromBTCLN, shortEnds...)
	longer := func(in swap.Decision) swap.Decision {
		in.R = in.R.Clone()
		obs := *in.Obs
		in.Obs = &obs
		for _, e := range []**chains.Escrow{&in.R.Escrow.Real, &obs.Delivered.Value} {
			if *e != nil && in.R.State != swap.LnCommitted {
				long := **e
				long.Expiry += 3600
				*e = &long
			}
		}
		return in
	}
	f := *st.flow
	f.Moves = slices.Clone(f.Moves)
	for i, m := range st.flow.Moves {
		if m.If != nil {
			f.Moves[i].If = func(in swap.Decision) bool { return m.If(longer(in)) }
		}
	}
	f.View = func(in swap.Decision) swap.View { return st.flow.View(longer(in)) }
	f.Effects = func(in swap.Decision) []swap.Effect { return st.flow.Effects(longer(in)) }
	mutant := *st
	mutant.flow = &f
	x := newExplorer(&mutant)
	x.most = nearest
	if told := x.explore(0); !strings.Contains(told, "its claim would be held back") {
		t.Errorf("in %d worlds this is noticed: %q", x.visited, told)
	}
}

// Every row that is dropped or loses its guard, of every table, and every command of the
// user that leaves no trace: a command, which says what is not noticed.
func TestMutants(t *testing.T) {
	if !*mutants {
		t.Skip("a command: -explore.mutants")
	}
	for _, st := range stories() {
		t.Run(st.name, func(t *testing.T) {
			noticed, tried := 0, 0
			try := func(what string, f *swap.Flow) {
				tried++
				if notices(f) != "" {
					noticed++
					return
				}
				t.Errorf("not noticed: %s", what)
			}
			for i, m := range st.flow.Moves {
				try(fmt.Sprintf("without the row %q from %v", m.Why, m.From), without(st.flow, i))
				if m.If != nil {
					try(fmt.Sprintf("without the guard of %q from %v", m.Why, m.From), changed(st.flow, i, func(m *swap.Move) { m.If = nil }))
				}
				if m.Do != nil && m.On != 0 && m.On != swap.OnOutcome { // what the user did
					try(fmt.Sprintf("without what is done in %q from %v", m.Why, m.From), changed(st.flow, i, func(m *swap.Move) { m.Do = nil }))
				}
			}
			t.Logf("%d of %d mutants are noticed", noticed, tried)
		})
	}
}

// notices plays the stories of rows that need more surprises with a mutant, and explores
// it. It returns what breaks a promise.
func notices(f *swap.Flow) (told string) {
	story := func() *story {
		st := storyOf(f.Type)
		st.flow = f
		return st
	}
	for _, far := range farRows {
		if far.typ == f.Type {
			if told, _ = far.play(story()); told != "" {
				return far.row + ": " + told
			}
		}
	}
	if told, _ = importing(story()); told != "" {
		return told
	}
	x := newExplorer(story())
	if x.most = *most; x.most == 0 {
		x.most = 20 * nearest
	}
	return x.explore(int8(max(1, *surprises)))
}

func storyOf(t swap.Type) *story {
	for _, st := range stories() {
		if st.flow.Type == t {
			return st
		}
	}
	panic("no such story")
}
