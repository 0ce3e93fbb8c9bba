package settle

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/fault"
)

// old is by how much the newest block of a node has to be older than our clock, and half
// of it older than another node's, to count as one that did not answer.
const old = 2 * time.Minute

// relation is the relation of one node's answer to another's.
type relation int

const (
	same        relation = iota
	firstLags            // the first has not seen yet what the second has
	secondLags           // the other way round
	contradicts          // one of the two is wrong
)

// rules are what is particular to one kind of facts.
type rules[F any] struct {
	head    func(*F) chains.Block
	err     func(*F) *error
	says    func(*F) string // for the log
	open    func(*F) bool   // it says that an escrow is open; nil: never
	compare func(a, b *F) relation
	merge   func(agree []*F) F // of facts that are the same; the first has the lowest head
	count   func(*F) *int      // where to note how many nodes say so; nil: nowhere
}

// verdict is what nodes say together of one question.
type verdict[F any] struct {
	fact         F
	err          error // why there is no fact
	contradicted bool  // they contradict each other
	disputed     []int // nodes that others contradict
	loses        map[int]bool
}

// decide compares the answers of all configured nodes, nil for one that gave none. need is
// how many have to agree. The nodes are in the order in which they are asked.
func decide[F any](facts []*F, need int, now time.Time, r rules[F]) (v verdict[F]) {
	var newest int64
	for _, f := range facts {
		if f != nil {
			newest = max(newest, r.head(f).Time)
		}
	}
	var live []int
	for i, f := range facts {
		if f == nil {
			continue
		}
		at := time.Unix(r.head(f).Time, 0)
		if now.Sub(at) > old && time.Unix(newest, 0).Sub(at) > old/2 {
			continue // what it says is of the past
		}
		live = append(live, i)
	}
	lags, disputed := map[int]bool{}, map[int]bool{}
	for n, i := range live {
		for _, j := range live[n+1:] {
			switch r.compare(facts[i], facts[j]) {
			case firstLags:
				lags[i] = true
			case secondLags:
				lags[j] = true
			case contradicts:
				disputed[i], disputed[j] = true, true
			}
		}
	}
	if len(disputed) > 0 {
		v.contradicted = true
		v.disputed = slices.Sorted(maps.Keys(disputed))
		v.loses = losers(facts, v.disputed, r)
		return v
	}
	var agree []*F
	for _, i := range live {
		if !lags[i] {
			agree = append(agree, facts[i])
		}
	}
	switch {
	case len(lags) > 0:
		// The one that is ahead may have made that up.
		v.err = fault.New(fault.Upstream, "%d of %d nodes of the chain that answered do not have the newest block of another yet: ask again", len(lags), len(live))
	case len(agree) < need:
		v.err = fault.New(fault.Upstream, "%d of %d nodes of the chain answered and %d have to: ask again", len(agree), len(facts), need)
	default:
		slices.SortStableFunc(agree, func(a, b *F) int { return cmp.Compare(r.head(a).Height, r.head(b).Height) })
		v.fact = r.merge(agree)
		if r.count != nil {
			*r.count(&v.fact) = len(agree)
		}
	}
	return v
}

// losers are the disputed nodes that are not of the largest group of them that agree, and
// of equally large ones the first.
func losers[F any](facts []*F, disputed []int, r rules[F]) map[int]bool {
	var groups [][]int
next:
	for _, i := range disputed {
		for g, members := range groups {
			if r.compare(facts[members[0]], facts[i]) == same {
				groups[g] = append(members, i)
				continue next
			}
		}
		groups = append(groups, []int{i})
	}
	size := func(a, b []int) int { return cmp.Compare(len(a), len(b)) }
	most := len(slices.MaxFunc(groups, size))
	largest := slices.IndexFunc(groups, func(g []int) bool { return len(g) == most })
	only := !slices.ContainsFunc(groups[largest+1:], func(g []int) bool { return len(g) == most })
	loses := map[int]bool{}
	for g, members := range groups {
		if len(members) == most && (only || g != largest) {
			continue
		}
		for _, i := range members {
			loses[i] = true
		}
	}
	return loses
}
