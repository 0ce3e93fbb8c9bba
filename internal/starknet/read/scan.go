package read

import (
	"context"
	"errors"

	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/internal/starknet/rpc"
)

// Bounds of searches of events. A node may cut what it found into pages, and give pages
// with nothing on them.
const (
	scanPages    = 1000   // of one search
	scanEvents   = 50_000 // of one search
	scanRestarts = 2      // after a node has forgotten where it was
)

// scan is one search of events.
type scan struct {
	filter rpc.Filter
	found  []rpc.Event // in the order in which they happened
	err    error       // why it was not finished

	page            rpc.Page
	next            string
	pages, restarts int
	done            bool
}

func newScan(f rpc.Filter) *scan { return &scan{filter: f} }

// run carries out searches together: one round trip for those that fit one page, others
// take one for each page more. along go out with the first trip, in front; what is the
// matter with those, and with a search, is for their owner to see.
func (l *Ledger) run(ctx context.Context, along []rpc.Request, scans []*scan) error {
	for first := true; ; first = false {
		var requests []rpc.Request
		if first {
			requests = append(requests, along...)
		}
		before := len(requests)
		var asked []*scan
		for _, s := range scans {
			if s.done || s.err != nil {
				continue
			}
			s.page = rpc.Page{}
			asked = append(asked, s)
			requests = append(requests, rpc.EventsRequest(s.filter, s.next, &s.page))
		}
		if len(requests) == 0 {
			return nil
		}
		if err := l.Nodes.Batch(ctx, requests); err != nil {
			return err
		}
		copy(along, requests[:before])
		for i, s := range asked {
			s.take(requests[before+i])
		}
	}
}

// take adds a page.
func (s *scan) take(r rpc.Request) {
	s.pages++
	switch {
	case rpc.IsStaleToken(r.Err) && s.next != "" && s.restarts < scanRestarts:
		// Another node, or the same one later: from the beginning.
		s.restarts++
		s.next, s.found = "", nil
		return
	case r.Err != nil:
		s.err = upstream(r)
		return
	case len(s.found) > 0 && len(s.page.Events) > 0 && s.page.Events[0].Height < s.found[len(s.found)-1].Height:
		s.err = fault.New(fault.Upstream, "%s: the node's pages are not in the order of their blocks", r.Method)
		return
	}
	s.found = append(s.found, s.page.Events...)
	s.next, s.done = s.page.Next, s.page.Next == ""
	if !s.done && (s.pages >= scanPages || len(s.found) >= scanEvents) {
		s.err = fault.New(fault.Upstream, "%s: the search has more than %d pages: begin at a later block", r.Method, s.pages)
	}
}

// all returns what searches found, one after the other, or why one of them failed.
func all(scans []*scan) (found []rpc.Event, err error) {
	for _, s := range scans {
		found = append(found, s.found...)
		err = errors.Join(err, s.err)
	}
	return found, err
}
