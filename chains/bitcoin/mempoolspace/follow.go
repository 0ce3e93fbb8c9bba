package mempoolspace

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/internal/async"
	"github.com/swapper-go/swapper/internal/httpx"
	"github.com/swapper-go/swapper/internal/subscribe"
)

// mostSilent is how long a connection may be without a sign of life.
const mostSilent = time.Minute

// subscribe prepares what [Client.Follow] listens to.
func (c *Client) subscribe() error {
	nodes, err := subscribe.New(subscribe.Options{
		URLs: c.o.WebSocket, Silence: mostSilent, HTTP: c.http.Transport, Log: c.log,
		Speech: &subscribe.Speech{Open: `{"action":"want","data":["blocks"]}`, Ping: `{"action":"ping"}`, Judge: c.judge},
	})
	c.heard = subscribe.Follow(nodes, subscribe.Source{Tip: c.newTip, Headers: c.HeadersFrom, BlockTxs: c.blockTxs}, c.log)
	return err
}

// socketJSON is a message of a mempool.space server, as far as it is read.
type socketJSON struct {
	Blocks []struct {
		ID     string `json:"id"`
		Height uint32 `json:"height"`
	} `json:"blocks"` // the answer to "want"
	Block *struct{} `json:"block"`
	Pong  bool      `json:"pong"`
}

// judge says what a message means. The blocks that a server begins with are compared with
// those of the servers that are asked.
func (c *Client) judge(ctx context.Context, text []byte) (subscribe.News, error) {
	var m socketJSON
	if err := httpx.Decode(text, &m); err != nil {
		return subscribe.Nothing, fmt.Errorf("message does not follow the protocol: %w", err)
	}
	switch {
	case len(m.Blocks) > 0:
		id, err := bitcoin.ParseHash(m.Blocks[0].ID)
		if err != nil {
			return subscribe.Nothing, fmt.Errorf("block: %w", err)
		}
		if in, err := c.InMainChain(ctx, id); err != nil {
			return subscribe.Nothing, errors.New("its blocks could not be compared")
		} else if !in {
			return subscribe.Nothing, errors.New("its blocks are not those of the servers that are asked")
		}
		return subscribe.Beat, nil
	case m.Block != nil:
		return subscribe.Hint, nil
	case m.Pong:
		return subscribe.Beat, nil
	}
	return subscribe.Nothing, nil
}

// Follow implements [bitcoin.Listener]. It returns at once without a URL in Options.WebSocket.
// For each new block it sends two requests, for headers and for the ids of its transactions,
// which must fold to the header's root.
func (c *Client) Follow(ctx context.Context, deliver func(confirmed []bitcoin.Hash)) error {
	return c.heard.Follow(ctx, deliver)
}

// Heard implements [bitcoin.Listener].
func (c *Client) Heard() uint64 { return c.heard.Heard() }

// Unchanged implements [bitcoin.Listener].
func (c *Client) Unchanged(tx *bitcoin.Tx, heard uint64) (asOf uint32, ok bool) {
	return c.heard.Unchanged(tx, heard)
}

// Subscriptions implements [bitcoin.Listener].
func (c *Client) Subscriptions() []bitcoin.Subscription { return c.heard.Subscriptions() }

// newTip is TipHeight that is asked now: what was heard is newer than what is remembered.
func (c *Client) newTip(ctx context.Context) (uint32, error) {
	return c.tip.Get(ctx, -1, c.askTip)
}

// blockTxs returns the ids of the transactions of a block, in its order.
func (c *Client) blockTxs(ctx context.Context, h bitcoin.Header) ([]bitcoin.Hash, error) {
	path := "block/" + h.Hash().String() + "/txids"
	return async.Do(ctx, &c.flight, path, func(ctx context.Context) ([]bitcoin.Hash, error) {
		return ask(ctx, c, "GET "+path, func(ctx context.Context, s *source) ([]bitcoin.Hash, error) {
			var texts []string
			if err := s.getJSON(ctx, path, txLimit, &texts); err != nil {
				return nil, err
			}
			ids := make([]bitcoin.Hash, len(texts))
			for i, text := range texts {
				var err error
				if ids[i], err = bitcoin.ParseHash(text); err != nil {
					return nil, fmt.Errorf("transaction %d of block %d: %w", i, h.Height, err)
				}
			}
			return ids, subscribe.CheckBlock(h, ids)
		})
	})
}
