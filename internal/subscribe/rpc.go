package subscribe

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/coder/websocket"

	"github.com/swapper-go/swapper/internal/httpx"
)

// connection is one that speaks JSON-RPC.
type connection struct {
	conn     *websocket.Conn
	channels map[string]*Channel // by subscription, as the node names it
	early    []message           // that came before the node said which subscription they belong to
}

// message is what a node sends: the answer to a call, or news of a subscription, which some
// nodes name in "subscription" and others in "subscription_id".
type message struct {
	ID     *uint64         `json:"id"`
	Result json.RawMessage `json:"result"`
	Error  *struct {
		Code int `json:"code"` // its text may repeat a URL with a key
	} `json:"error"`
	Method string `json:"method"`
	Params struct {
		Subscription   json.RawMessage `json:"subscription"`
		SubscriptionID json.RawMessage `json:"subscription_id"`
		Result         json.RawMessage `json:"result"`
	} `json:"params"`
}

// of is the subscription of news.
func (m *message) of() string {
	if len(m.Params.Subscription) > 0 {
		return name(m.Params.Subscription)
	}
	return name(m.Params.SubscriptionID)
}

// name is a subscription as a node names it: a number or a text.
func name(id json.RawMessage) string { return string(bytes.Trim(id, `"`)) }

// maxEarly bounds the news that may come before the answer that names their subscription.
const maxEarly = 100

// news implements listener: the end of a subscription is a hint, and so is what is said of a
// reorganisation.
func (c *connection) news(ctx context.Context, patience time.Duration) (News, error) {
	var m message
	if len(c.early) > 0 {
		m, c.early = c.early[0], c.early[1:]
	} else {
		var err error
		if m, err = c.next(ctx, patience); err != nil {
			return Nothing, err
		}
	}
	channel := c.channels[m.of()]
	switch {
	case m.Method == "": // an answer that nothing waits for
		return Nothing, nil
	case channel == nil || channel.Beat == nil:
		return Hint, nil
	case channel.Beat(m.Params.Result) == nil:
		return Beat, nil
	}
	return Nothing, nil
}

// next reads a message.
func (c *connection) next(ctx context.Context, patience time.Duration) (m message, err error) {
	ctx, cancel := context.WithTimeoutCause(ctx, patience, errSilent)
	defer cancel()
	text, err := httpx.ReadMessage(ctx, c.conn)
	if err != nil {
		return m, err
	}
	if err := httpx.Decode(text, &m); err != nil {
		return m, fmt.Errorf("message does not follow the protocol: %w", err)
	}
	return m, nil
}

// subscribe asks the node which network it serves, and subscribes.
func (c *connection) subscribe(ctx context.Context, o *Options) error {
	answer, err := c.call(ctx, 1, o.Identity, nil)
	if err != nil {
		return err
	}
	if err := o.Check(answer); err != nil {
		return err
	}
	for i := range o.Channels {
		channel := &o.Channels[i]
		answer, err := c.call(ctx, uint64(i)+2, channel.Method, channel.Params)
		if err != nil {
			return err
		}
		if _, known := c.channels[name(answer)]; known {
			return fmt.Errorf("%s: the node gave two subscriptions the same name", channel.Method)
		}
		c.channels[name(answer)] = channel
	}
	return nil
}

// call asks and waits for the answer; news that come before it are kept.
func (c *connection) call(ctx context.Context, id uint64, method string, params []any) (json.RawMessage, error) {
	if params == nil {
		params = []any{}
	}
	text, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": id, "method": method, "params": params})
	if err != nil {
		return nil, fmt.Errorf("%s: %w", method, err)
	}
	if err := c.conn.Write(ctx, websocket.MessageText, text); err != nil {
		return nil, fmt.Errorf("%s: connection lost", method)
	}
	for {
		m, err := c.next(ctx, opening)
		switch {
		case err != nil:
			return nil, fmt.Errorf("%s: %w", method, err)
		case m.Method != "":
			if len(c.early) == maxEarly {
				return nil, fmt.Errorf("%s: the node sends news and no answer", method)
			}
			c.early = append(c.early, m)
		case m.ID == nil || *m.ID != id:
			return nil, fmt.Errorf("%s: the node answered another call", method)
		case m.Error != nil:
			return nil, fmt.Errorf("%s: the node refused with error %d", method, m.Error.Code)
		case len(m.Result) == 0 || string(m.Result) == "null":
			return nil, fmt.Errorf("%s: the node's answer has no result", method)
		default:
			return m.Result, nil
		}
	}
}
