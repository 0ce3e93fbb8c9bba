package jsonrpc

import (
	"context"

	"github.com/swapper-go/swapper/fault"
)

// Deliver hands a transaction to every node, as [Nodes.Each] does: one that takes it and
// forgets it, or keeps it from the network, must not be the only one that has it. judge
// says what a node makes of it. It is delivered if one node took it. The error has the
// code fault.InvalidState only if every node that answered refused it with that code.
func (n *Nodes) Deliver(ctx context.Context, questions func() []Request, judge func([]Request) error) error {
	took := false
	var refused, failed error
	err := n.Each(ctx, questions, func(r []Request) {
		switch err := judge(r); {
		case err == nil:
			took = true
		case fault.CodeOf(err) != fault.InvalidState:
			failed = err
		case refused == nil:
			refused = err
		}
	})
	switch {
	case took:
		return nil
	case err != nil:
		return err
	case failed != nil:
		return failed
	}
	return refused
}
