package jsonrpc

import (
	"github.com/swapper-go/swapper/internal/httpx"
)

// Singles returns a view of each node, in the order in which they are asked now, and how
// often what a node does not answer is to be repeated. A view shares the connections and
// the places of its node, and is asked as a lone node is, once.
func (n *Nodes) Singles() ([]*Nodes, httpx.RetryPolicy) {
	order := n.order()
	views := make([]*Nodes, len(order))
	for i, e := range order {
		views[i] = &Nodes{dialect: n.dialect, now: n.now, all: []*endpoint{e}, Retry: httpx.RetryPolicy{Calls: 1}, Hedge: n.Hedge}
	}
	return views, n.Retry
}

// Name is the host of the node of a view. It belongs into logs alone.
func (n *Nodes) Name() string { return n.all[0].name }

// Contradicts notes that other nodes contradict the node of a view. With demote it is
// asked last for a minute; what is handed to all nodes it still gets.
func (n *Nodes) Contradicts(demote bool) {
	e, now := n.all[0], n.now()
	e.mu.Lock()
	defer e.mu.Unlock()
	e.contradictions++
	if demote {
		e.contradicted = now
	}
}

// Contradictions returns how often others contradicted each node, in the order of the URLs.
func (n *Nodes) Contradictions() []uint64 {
	all := make([]uint64, len(n.all))
	for i, e := range n.all {
		e.mu.Lock()
		all[i] = e.contradictions
		e.mu.Unlock()
	}
	return all
}
