package engine

import (
	"math/big"
	"strings"
	"sync"

	"github.com/swapper-go/swapper/internal/swap"
	"github.com/swapper-go/swapper/tokens"
)

// census is what Run follows, counted without reading the store: one small value
// for each swap on the schedule, which holds nothing of its record. Safe for
// concurrent use.
type census struct {
	mu     sync.Mutex
	swaps  map[string]*sheet
	groups map[Group]*Group         // of sheets; there are few
	tokens map[string]*tokens.Token // likewise, by id
}

// sheet is what is counted of one swap.
type sheet struct {
	group   *Group
	token   *tokens.Token // of the input, if money may be under way
	raw     *big.Int
	waiting []swap.EffectKind
	said    string // what was answered to its last questions: see [said]
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
	var f sheet
	for key, try := range r.Tried {
		if try.Outcome == "" {
			f.waiting = append(f.waiting, swap.KindOf(key))
		}
	}
	begun := !row.Finished && !row.Expired && !r.MayPurge() // money may be under way
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.swaps == nil {
		c.swaps, c.groups, c.tokens = map[string]*sheet{}, map[Group]*Group{}, map[string]*tokens.Token{}
	}
	group := Group{r.Type, r.Chain, r.State, row.Name}
	if f.group = c.groups[group]; f.group == nil {
		f.group = &group
		c.groups[group] = f.group
	}
	if in := r.Terms.Input; begun && in.Raw != nil {
		id := in.Token.ID()
		if f.token = c.tokens[id]; f.token == nil {
			token := in.Token
			f.token = &token
			c.tokens[id] = f.token
		}
		f.raw = in.Raw
	}
	if before, ok := c.swaps[r.ID]; ok {
		f.said = before.said
		*before = f
		return
	}
	c.swaps[strings.Clone(r.ID)] = &f
}

// kept returns what is kept of a swap's answers; followed is false if it is not on the schedule.
func (c *census) kept(id string) (text string, followed bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if f := c.swaps[id]; f != nil {
		return f.said, true
	}
	return "", false
}

// keep keeps a swap's answers for as long as it is on the schedule, and reports whether it is.
func (c *census) keep(id, text string) (followed bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	f := c.swaps[id]
	if f != nil {
		f.said = text
	}
	return f != nil
}

func (c *census) drop(id string) {
	c.mu.Lock()
	delete(c.swaps, id)
	c.mu.Unlock()
}

func (c *census) clear() {
	c.mu.Lock()
	c.swaps, c.groups, c.tokens = nil, nil, nil
	c.mu.Unlock()
}

// Census counts the swaps that Run follows now; there are none while it does not
// run. It takes no questions and does not read the store.
func (g *Engine) Census() Census {
	out := Census{Groups: map[Group]int{}, Waiting: map[swap.EffectKind]int{}, Running: map[swap.EffectKind]int{}}
	sums := map[*tokens.Token]*big.Int{}
	g.census.mu.Lock()
	for _, f := range g.census.swaps {
		out.Groups[*f.group]++
		for _, kind := range f.waiting {
			out.Waiting[kind]++
		}
		if f.token == nil {
			continue
		}
		sum := sums[f.token]
		if sum == nil {
			sum = new(big.Int)
			sums[f.token] = sum
		}
		sum.Add(sum, f.raw)
	}
	g.census.mu.Unlock()
	for token, sum := range sums {
		out.UnderWay = append(out.UnderWay, tokens.Amount{Raw: sum, Token: *token})
	}
	g.Effects.mu.Lock()
	defer g.Effects.mu.Unlock()
	for key := range g.Effects.running {
		out.Running[swap.KindOf(key.effect)]++
	}
	return out
}
