package engine

import (
	"math/big"
	"sync"

	"github.com/swapper-go/swapper/swap"
	"github.com/swapper-go/swapper/tokens"
)

// census is what Run follows, counted without reading the store: one small value
// for each swap on the schedule. Safe for concurrent use.
type census struct {
	mu    sync.Mutex
	swaps map[string]sheet
}

// sheet is what is counted of one swap.
type sheet struct {
	group   Group
	input   tokens.Amount
	begun   bool // money may be under way
	waiting []swap.EffectKind
}

// Group is the swaps of one type, chain and state.
type Group struct {
	Type  swap.Type
	Chain string
	State int
	Name  string // of the state
}

// Census is how many swaps are followed, and what they hold up.
type Census struct {
	Groups   map[Group]int
	UnderWay []tokens.Amount         // inputs of swaps that are neither finished nor unused quotes, by token, in no order
	Waiting  map[swap.EffectKind]int // effects that were attempted and have not succeeded yet
	Running  map[swap.EffectKind]int // effects in progress, or with their turn to come
}

func (c *census) set(r *swap.Record, row swap.StateRow) {
	f := sheet{
		group: Group{r.Type, r.Chain, r.State, row.Name},
		input: r.Terms.Input,
		begun: !row.Finished && !row.Expired && !r.MayPurge(),
	}
	for key, try := range r.Tried {
		if try.Outcome == "" {
			f.waiting = append(f.waiting, swap.KindOf(key))
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.swaps == nil {
		c.swaps = map[string]sheet{}
	}
	c.swaps[r.ID] = f
}

func (c *census) drop(id string) {
	c.mu.Lock()
	delete(c.swaps, id)
	c.mu.Unlock()
}

func (c *census) clear() {
	c.mu.Lock()
	clear(c.swaps)
	c.mu.Unlock()
}

// Census counts the swaps that Run follows now; there are none while it does not
// run. It takes no questions and does not read the store.
func (g *Engine) Census() Census {
	out := Census{Groups: map[Group]int{}, Waiting: map[swap.EffectKind]int{}, Running: map[swap.EffectKind]int{}}
	sums := map[string]*tokens.Amount{}
	g.census.mu.Lock()
	for _, f := range g.census.swaps {
		out.Groups[f.group]++
		for _, kind := range f.waiting {
			out.Waiting[kind]++
		}
		if !f.begun || f.input.Raw == nil {
			continue
		}
		sum := sums[f.input.Token.ID()]
		if sum == nil {
			sum = &tokens.Amount{Raw: new(big.Int), Token: f.input.Token}
			sums[f.input.Token.ID()] = sum
		}
		sum.Raw.Add(sum.Raw, f.input.Raw)
	}
	g.census.mu.Unlock()
	for _, sum := range sums {
		out.UnderWay = append(out.UnderWay, *sum)
	}
	g.Effects.mu.Lock()
	defer g.Effects.mu.Unlock()
	for key := range g.Effects.running {
		out.Running[swap.KindOf(key.effect)]++
	}
	return out
}
