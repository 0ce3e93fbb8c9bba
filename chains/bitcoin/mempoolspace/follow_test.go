package mempoolspace_test

import (
	"context"
	"testing"
	"time"

	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/chains/bitcoin/mempoolspace"
	"github.com/swapper-go/swapper/fault"
	devnet "github.com/swapper-go/swapper/internal/devnet/bitcoin"
	"github.com/swapper-go/swapper/internal/trial"
)

// told is a client that asks one server, and is told by another.
func told(t *testing.T) (n *devnet.Net, teller *devnet.Server, c *mempoolspace.Client) {
	t.Helper()
	n = start(t, devnet.Options{})
	teller = trial.Must(n.Serve(""))(t)
	return n, teller, client(t, mempoolspace.Options{URLs: []string{n.URL()}, WebSocket: []string{teller.SocketURL()}})
}

func follow(t *testing.T, c *mempoolspace.Client) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = c.Follow(ctx, func([]bitcoin.Hash) {})
	}()
	t.Cleanup(func() { cancel(); <-done })
}

func eventually(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for range 3000 {
		if holds() {
			return
		}
		time.Sleep(20 * time.Millisecond)
	}
	t.Fatalf("not within a minute: %s", what)
}

func TestNothingIsHeardWithoutWebSocket(t *testing.T) {
	t.Parallel()
	n := start(t, devnet.Options{})
	c := client(t, mempoolspace.Options{URLs: []string{n.URL()}})
	_, unchanged := c.Unchanged(&bitcoin.Tx{}, 1)
	if err := c.Follow(t.Context(), nil); err != nil || c.Heard() != 0 || c.Subscriptions() != nil || unchanged {
		t.Errorf("following: %v; mark %d, subscriptions %v", err, c.Heard(), c.Subscriptions())
	}
	if asked := n.Server().Requests(); len(asked) > 0 {
		t.Errorf("it asked for %v", asked)
	}
	_, err := mempoolspace.New(mempoolspace.Options{Network: bitcoin.Regtest, URLs: []string{n.URL()}, WebSocket: []string{"http://127.0.0.1"}})
	if fault.CodeOf(err) != fault.InvalidInput {
		t.Errorf("an http URL: %v", err)
	}
}

func TestTellerOfAnotherNetworkIsNotHeard(t *testing.T) {
	t.Parallel()
	_, teller, c := told(t)
	teller.Misbehave(devnet.Fault{WrongNetwork: true})
	follow(t, c)
	eventually(t, "the connection is given up", func() bool { return c.Subscriptions()[0].Lost > 0 })
	if c.Subscriptions()[0].Alive || c.Heard() != 0 {
		t.Errorf("mark %d, %+v", c.Heard(), c.Subscriptions())
	}
}

// A server whose list of a block's transactions does not fold to the header's root is not
// believed that a transaction is not in it.
func TestFalseTransactionsOfABlock(t *testing.T) {
	t.Parallel()
	n, _, c := told(t)
	follow(t, c)
	eventually(t, "something is heard", func() bool { return c.Heard() != 0 })
	n.Server().Misbehave(devnet.Fault{LyingTxs: true})
	if _, err := n.Mine(1); err != nil {
		t.Fatal(err)
	}
	eventually(t, "nothing is heard any more", func() bool { return c.Heard() == 0 })
	n.Server().Misbehave(devnet.Fault{})
	eventually(t, "the block is asked for again", func() bool { return c.Heard() != 0 })
}

// A server that tells of blocks without end, none of which exist, causes a bounded number of
// questions: one each 200 ms for the first few, then one in five seconds.
func TestFloodOfBlocks(t *testing.T) {
	t.Parallel()
	n, teller, c := told(t)
	follow(t, c)
	eventually(t, "something is heard", func() bool { return c.Heard() != 0 })
	n.Server().Requests()
	teller.Misbehave(devnet.Fault{Flood: true})
	eventually(t, "the flood comes", func() bool { return c.Subscriptions()[0].Messages > 250 })
	teller.Misbehave(devnet.Fault{})
	if asked := n.Server().Requests(); len(asked) > 120 { // three requests for each of 20 questions, and one or two later
		t.Errorf("%d requests: %v", len(asked), asked[:20])
	} else {
		t.Logf("%d requests after %d messages", len(asked), c.Subscriptions()[0].Messages)
	}
}
