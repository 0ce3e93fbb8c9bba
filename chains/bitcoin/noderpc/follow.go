package noderpc

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net/http"
	"time"

	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/internal/subscribe"
)

const (
	waitAtNode = 20 * time.Second // below the 30 s after which Core closes a connection (-rpcservertimeout)
	waitSlack  = 5 * time.Second  // for the answer itself; then the node is silent
)

// listen prepares what [Client.Follow] listens to.
func (c *Client) listen() error {
	var nodes *subscribe.Nodes
	var err error
	switch {
	case c.o.LongPoll && c.o.WebSocket != "":
		return fault.Invalid("webSocket", "cannot be combined with longPoll: one is of btcd, the other of Core")
	case c.o.LongPoll:
		nodes, err = subscribe.New(subscribe.Options{URLs: []string{c.o.URL}, LongPoll: c.longPoll, Silence: waitAtNode + waitSlack, Log: c.o.Logger})
	case c.o.WebSocket != "":
		nodes, err = c.notified()
	}
	c.heard = subscribe.Follow(nodes, subscribe.Source{Tip: c.newTip, Headers: c.HeadersFrom, BlockTxs: c.blockTxs}, c.o.Logger)
	return err
}

// Follow implements [bitcoin.Listener]. It returns at once without Options.LongPoll and
// Options.WebSocket. For a long poll one request waits at the node all the time, which takes one of
// its threads (-rpcthreads). What is told is a hint: for each new block the tip, headers and the ids of its transactions are asked for, in five
// requests, and the ids must fold to the header's root. A node that does not tell is tried again
// every two minutes, and the log says why.
func (c *Client) Follow(ctx context.Context, deliver func(confirmed []bitcoin.Hash)) error {
	return c.heard.Follow(ctx, deliver)
}

// Heard implements [bitcoin.Listener].
func (c *Client) Heard() uint64 { return c.heard.Heard() }

// Unchanged implements [bitcoin.Listener].
func (c *Client) Unchanged(tx *bitcoin.Tx, heard uint64) (asOf uint32, ok bool) {
	return c.heard.Unchanged(tx, heard)
}

// Subscriptions implements [bitcoin.Listener]: the state of the long poll or of the WebSocket, if there is one.
func (c *Client) Subscriptions() []bitcoin.Subscription { return c.heard.Subscriptions() }

// told is the best block in the answer to a long poll.
type told struct {
	Hash   string `json:"hash"`
	Height uint32 `json:"height"`
}

// longPoll implements [subscribe.LongPoll].
func (c *Client) longPoll(ctx context.Context) (func(context.Context) (subscribe.News, error), error) {
	n, err := c.learn(ctx)
	if err != nil {
		return nil, err
	}
	if n.btcd {
		return nil, errors.New("btcd has no long polls: use its WebSocket")
	}
	last, err := c.wait(ctx, 0, time.Second) // it has that block
	if err != nil {
		return nil, err
	}
	begun := false
	return func(ctx context.Context) (subscribe.News, error) {
		if !begun {
			begun = true
			return subscribe.Beat, nil
		}
		at := time.Now()
		now, err := c.wait(ctx, last.Height+1, waitAtNode)
		switch {
		case err != nil:
			return subscribe.Nothing, err
		case now == last && time.Since(at) < waitAtNode/2:
			return subscribe.Nothing, errors.New("the node did not wait for the next block")
		case now == last:
			return subscribe.Beat, nil
		}
		last = now
		return subscribe.Hint, nil
	}, nil
}

// wait returns the best block once the chain has a height, or after a time. It needs no slot, which
// others wait for, and is not tried again.
func (c *Client) wait(ctx context.Context, height uint32, most time.Duration) (told, error) {
	const name = "waitforblockheight"
	limit := most + waitSlack
	waiting, cancel := context.WithTimeoutCause(ctx, limit, fmt.Errorf("no response within %s: %w", limit, context.DeadlineExceeded))
	defer cancel()
	by := *c.http
	by.Timeout = 0 // one of the caller's may be shorter
	var t told
	a, err := c.one(waiting, &by, method(name, height, most.Milliseconds()))
	if err == nil {
		err = a.decode(&t)
	}
	if err != nil {
		return told{}, c.failed(ctx, name, err)
	}
	if _, err := bitcoin.ParseHash(t.Hash); err != nil || t.Height >= math.MaxInt32 {
		return told{}, errors.New("the best block has no hash, or a height that cannot be")
	}
	return t, nil
}

// one makes one call, apart from others that are the same.
func (c *Client) one(ctx context.Context, by *http.Client, m call) (answer, error) {
	body, err := json.Marshal([]call{m})
	if err != nil {
		return answer{}, err
	}
	answers, err := c.attempt(ctx, by, body, 1)
	if err != nil {
		return answer{}, err
	}
	return answers[0], nil
}

// newTip is TipHeight that is asked now: what was heard is newer than a question under way.
func (c *Client) newTip(ctx context.Context) (height uint32, err error) {
	const name = "getblockcount"
	asking, cancel := context.WithTimeout(ctx, c.o.Timeout)
	defer cancel()
	a, err := c.one(asking, c.http, method(name))
	if err == nil {
		err = a.decode(&height)
	}
	return height, c.failed(ctx, name, err)
}

// blockTxs returns the ids of the transactions of a block, in its order.
func (c *Client) blockTxs(ctx context.Context, h bitcoin.Header) (_ []bitcoin.Hash, err error) {
	defer func() { err = c.blamed(ctx, err) }()
	block := h.Hash()
	ids, known := c.txids.Get(block)
	if !known {
		answers, err := c.do(ctx, method("getblock", block.String(), 1))
		if err != nil {
			return nil, err
		}
		if ids, err = blockIDs(answers[0]); err != nil {
			return nil, err
		}
	}
	if err := subscribe.CheckBlock(h, ids); err != nil {
		return nil, err
	}
	c.txids.Add(block, ids)
	return ids, nil
}
