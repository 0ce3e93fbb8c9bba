package solana

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"sync"

	"github.com/coder/websocket"

	"github.com/swapper-go/swapper/internal/devnet/loopback"
	"github.com/swapper-go/swapper/internal/devnet/solana/bank"
)

// socket is a websocket connection: calls as over HTTP, and subscriptions.
type socket struct {
	*NodeServer
	conn *websocket.Conn
	ctx  context.Context

	mu   sync.Mutex // held while subscriptions change or look at the ledger
	last uint64     // id of a subscription
	subs map[uint64]*subscription
}

// subscription is what a client wants to hear of.
type subscription struct {
	id     uint64
	method string // of its notifications
	level  bank.Commitment
	// news returns what to say since the last call, oldest first; done ends the
	// subscription. A fault's Behind applies to what the view knows.
	news func(v *bank.View) (results []any, done bool)
}

func (s *NodeServer) serveSocket(w http.ResponseWriter, r *http.Request, f NodeFault) {
	if f.NoSockets {
		http.Error(w, "no websockets here", http.StatusNotFound)
		return
	}
	conn, err := websocket.Accept(w, r, &websocket.AcceptOptions{InsecureSkipVerify: true}) // any page may use a local network
	if err != nil {
		return
	}
	defer conn.CloseNow()
	if !s.enter() {
		return
	}
	defer s.open.Done()
	ctx, cancel := context.WithCancel(s.ctx)
	defer cancel()
	c := &socket{NodeServer: s, conn: conn, ctx: ctx, subs: map[uint64]*subscription{}}
	var watching sync.WaitGroup
	watching.Go(func() {
		c.watch()
		cancel()
	})
	for {
		_, body, err := conn.Read(ctx)
		if err != nil {
			break
		}
		f := *s.fault.Load()
		if f.Down || !c.handle(body, f) {
			break
		}
	}
	cancel()
	watching.Wait()
}

// enter counts a websocket, unless the server is being closed.
func (s *NodeServer) enter() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.closed {
		s.open.Add(1)
	}
	return !s.closed
}

// handle answers a message and reports whether the connection stays.
func (c *socket) handle(body []byte, f NodeFault) bool {
	calls, batch, err := loopback.ParseCalls(body)
	if err != nil {
		return c.send(loopback.Failed(nil, &NodeError{Code: -32700, Message: "Parse error"})) == nil
	}
	var replies []reply
	c.mu.Lock() // what a subscription has to say comes after the answer with its id
	defer c.mu.Unlock()
	for _, q := range calls {
		if q.ID == nil {
			continue // a sign of life of web3.js
		}
		if answer, ok := c.subscribe(q, f); ok {
			replies = append(replies, answer)
		} else {
			replies = append(replies, c.do(q, f))
		}
	}
	switch {
	case len(replies) == 0:
		return true
	case batch:
		err = c.send(replies)
	default:
		err = c.send(replies[0])
	}
	c.look()
	return err == nil
}

func (c *socket) send(v any) error {
	var text bytes.Buffer
	if err := json.NewEncoder(&text).Encode(v); err != nil {
		return err
	}
	return c.conn.Write(c.ctx, websocket.MessageText, bytes.TrimSpace(text.Bytes()))
}

// watch looks for news whenever the chain has changed.
func (c *socket) watch() {
	for {
		moved := c.bank().Moved()
		c.mu.Lock()
		err := c.look()
		c.mu.Unlock()
		if err != nil {
			return
		}
		select {
		case <-moved:
		case <-c.ctx.Done():
			return
		}
	}
}

type notification struct {
	Version string `json:"jsonrpc"`
	Method  string `json:"method"`
	Params  struct {
		Result       json.RawMessage `json:"result"`
		Subscription uint64          `json:"subscription"`
	} `json:"params"`
}

var errDown = errors.New("the server is down")

// look says what the subscriptions have to say.
func (c *socket) look() error {
	f := *c.fault.Load()
	switch {
	case f.Down:
		return errDown
	case f.Silent:
		return nil
	}
	ids := make([]uint64, 0, len(c.subs))
	for id := range c.subs {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	for _, id := range ids {
		s := c.subs[id]
		var texts []json.RawMessage
		var done bool
		var wrong error
		c.bank().Read(s.level, f.Behind, func(v *bank.View) {
			var results []any
			results, done = s.news(v)
			for _, result := range results {
				text, err := json.Marshal(result)
				if err != nil {
					wrong = err
					return
				}
				texts = append(texts, text)
			}
		})
		if wrong != nil {
			return wrong
		}
		for _, text := range texts {
			n := notification{Version: "2.0", Method: s.method}
			n.Params.Result, n.Params.Subscription = text, id
			if err := c.send(n); err != nil {
				return err
			}
		}
		if done {
			delete(c.subs, id)
		}
	}
	return nil
}
