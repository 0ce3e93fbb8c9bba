package evmrpc

import (
	"context"
	"time"

	"github.com/swapper-go/swapper/fault"
)

// Each puts the same questions to every URL that is up, in parallel, and hands
// over the answers of each that answered. The first is waited for as long as ctx
// lasts, the others for rpcHedge more. It is one round trip.
func (n *Nodes) Each(ctx context.Context, questions func() []Request, take func([]Request)) error {
	inner, cancel := context.WithCancel(ctx)
	results := make(chan attempt, len(n.all))
	waiting := 0
	defer func() { // nothing outlives the call
		cancel()
		for range waiting {
			<-results
		}
	}()
	for _, e := range n.order() {
		if waiting > 0 && e.isDown(n.now()) {
			break
		}
		waiting++
		go func() { results <- e.attempt(inner, n.chainID, questions()) }()
	}
	var enough <-chan time.Time
	answered := false
	for waiting > 0 {
		select {
		case a := <-results:
			waiting--
			if ctx.Err() == nil {
				a.by.note(a.err, n.now())
			}
			if a.err != nil {
				continue
			}
			requests := questions()
			n.accept(a, requests)
			take(requests)
			if !answered {
				answered = true
				timer := time.NewTimer(rpcHedge)
				defer timer.Stop()
				enough = timer.C
			}
		case <-enough:
			return nil
		}
	}
	if !answered {
		return fault.New(fault.Upstream, "no node of the chain is responding")
	}
	return nil
}
