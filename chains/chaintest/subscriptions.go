package chaintest

import (
	"errors"
	"testing"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/chains/bitcoin"
)

// SocketNet is implemented by networks whose nodes tell of events over WebSocket.
type SocketNet interface {
	Net
	// Listening returns another chain on the nodes 0 and 1 that also listens to node 1.
	Listening(t *testing.T) chains.Chain
}

// testSubscriptions follows the hints of a chain that listens to a node which comes and goes.
func testSubscriptions(k *kit) {
	net, ok := k.net.(SocketNet)
	if !ok {
		k.Skip("the network's nodes have no WebSocket")
	}
	c, ok := net.Listening(k.T).(interface {
		chains.Chain
		chains.Subscriptions
	})
	if !ok {
		k.Fatal("the chain does not say how its subscriptions are")
	}
	state := func() bitcoin.Subscription {
		all := c.Subscriptions()
		if len(all) != 1 {
			k.Fatalf("%d subscriptions, want 1", len(all))
		}
		return all[0]
	}
	if got := state(); got != (bitcoin.Subscription{}) {
		k.Errorf("before Hints: %+v", got)
	}
	l := k.listen(c, nil)
	k.eventually("the first cursor", func() bool { return l.position() != nil })
	alive := func(want bool) func() bool {
		return func() bool {
			k.net.Mine(k.T, 1)
			return state().Alive == want
		}
	}
	k.eventually("new blocks to come over the subscription", alive(true))
	open := func(n int64) {
		e := k.expect(k.payOut(lock(secret(n)), k.facts.Token))
		before := state().Messages
		txs := k.open(e)
		k.eventually("the hint of an opening", func() bool {
			k.net.Mine(k.T, 1)
			return l.has(txs[len(txs)-1].ID, e, true)
		})
		if state().Alive && state().Messages == before {
			k.Error("the node told nothing of the opening")
		}
	}
	open(180)
	k.net.Misbehave(k.T, 1, Trouble{Down: true})
	k.eventually("the connection to be lost", alive(false))
	if state().Lost == 0 {
		k.Error("the lost connection was not counted")
	}
	open(181)
	k.net.Misbehave(k.T, 1, Trouble{})
	k.eventually("the subscription to come back", alive(true))
	open(182)
	if err := l.stop(); ignoreCancel(err) != nil {
		k.Errorf("hints ended with %v", err)
	}
	if state().Alive || errors.Is(l.stop(), nil) {
		k.Error("the subscription outlived Hints")
	}
}
