package bitcoin

import (
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/coder/websocket"

	"github.com/swapper-go/swapper/chains/bitcoin"
)

// socket is a WebSocket connection as mempool.space has it, of which it knows the action
// "want" for blocks and the action "ping".
type socket struct {
	*Server
	conn *websocket.Conn
	ctx  context.Context
	told []bitcoin.Hash // the best chain's last blocks, the newest first, as far as they were told
}

// floodEvery is how often a server that floods tells of a block.
const floodEvery = 10 * time.Millisecond

func (s *Server) serveSocket(w http.ResponseWriter, r *http.Request) {
	if f := s.fault.Load(); f.NoSockets || f.Plain {
		reply(w, nil, errNoSuchRoute)
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
	c := &socket{Server: s, conn: conn, ctx: ctx}
	var watching sync.WaitGroup
	defer watching.Wait()
	defer cancel()
	for wanted := false; ; {
		_, text, err := conn.Read(ctx)
		if err != nil {
			return
		}
		var m struct {
			Action string
			Data   []string
		}
		if s.fault.Load().Down || json.Unmarshal(text, &m) != nil {
			return
		}
		switch {
		case m.Action == "ping" && !s.fault.Load().Silent:
			err = c.send(map[string]any{"pong": true})
		case m.Action == "want" && slices.Contains(m.Data, "blocks") && !wanted:
			wanted = true
			blocks := c.best()
			c.told = ids(blocks)
			if !s.fault.Load().Silent {
				err = c.send(map[string]any{"blocks": blocks})
			}
			watching.Go(func() {
				defer cancel()
				c.watch()
			})
		}
		if err != nil {
			return
		}
	}
}

// enter counts a connection, unless the server is being closed.
func (s *Server) enter() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.closed {
		s.open.Add(1)
	}
	return !s.closed
}

func (c *socket) send(v any) error {
	text, err := json.Marshal(v)
	if err != nil {
		return err
	}
	return c.conn.Write(c.ctx, websocket.MessageText, text)
}

// best are the last blocks of the best chain, the newest first.
func (c *socket) best() []blockJSON {
	c.net.mu.RLock()
	defer c.net.mu.RUnlock()
	f := *c.fault.Load()
	tip := c.net.ledger.tip().height
	v := call{view: view{c.net, tip - min(tip, f.Behind)}, fault: f}
	var list []blockJSON
	for h := int64(v.limit); h >= 0 && len(list) < 8; h-- {
		j := v.blockJSON(c.net.ledger.best[h])
		if f.WrongNetwork {
			j.ID = bitcoin.Mainnet.Params().GenesisHash
		}
		list = append(list, j)
	}
	return list
}

func ids(blocks []blockJSON) []bitcoin.Hash {
	all := make([]bitcoin.Hash, 0, len(blocks))
	for _, b := range blocks {
		if id, err := bitcoin.ParseHash(b.ID); err == nil {
			all = append(all, id)
		}
	}
	return all
}

// watch tells of new blocks until the connection ends or the server is down.
func (c *socket) watch() {
	for {
		c.net.mu.RLock()
		moved := c.net.moved
		c.net.mu.RUnlock()
		c.mu.Lock()
		f, behaves := c.fault.Load(), c.behaves
		c.mu.Unlock()
		var flood <-chan time.Time
		if f.Flood {
			flood = time.After(floodEvery)
		}
		if f.Down || f.Flood && c.send(map[string]any{"block": c.best()[0]}) != nil {
			return
		}
		if !f.Silent && !f.Mute {
			blocks := c.best()
			for i, b := range slices.Backward(blocks) {
				if !slices.Contains(c.told, ids(blocks[i:])[0]) && c.send(map[string]any{"block": b}) != nil {
					return
				}
			}
			c.told = ids(blocks)
		}
		select {
		case <-moved:
		case <-behaves:
		case <-flood:
		case <-c.ctx.Done():
			return
		}
	}
}
