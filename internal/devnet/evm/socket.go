package evm

import (
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"strconv"
	"sync"

	"github.com/coder/websocket"
	"github.com/ethereum/go-ethereum/rpc"

	"github.com/swapper-go/swapper/internal/devnet/loopback"
)

// socket is a websocket connection: calls as over HTTP, and eth_subscribe.
type socket struct {
	*Server
	node *engineNode // when the connection was opened; with another one it ends
	conn *websocket.Conn
	ctx  context.Context
	end  context.CancelFunc

	subs map[string]*rpc.ClientSubscription
	last uint64 // id of a subscription
	says sync.WaitGroup

	sending sync.Mutex
}

func (s *Server) serveSocket(w http.ResponseWriter, r *http.Request, f Fault) {
	if f.NoSockets {
		http.Error(w, "no websockets here", http.StatusNotFound)
		return
	}
	conn, err := websocket.Accept(w, r, &websocket.AcceptOptions{InsecureSkipVerify: true}) // any page may use a local network
	if err != nil {
		return
	}
	defer conn.CloseNow()
	ctx, cancel := context.WithCancel(r.Context()) // which ends with the server
	c := &socket{Server: s, node: s.node.Load(), conn: conn, ctx: ctx, end: cancel, subs: map[string]*rpc.ClientSubscription{}}
	defer c.says.Wait()
	defer cancel()
	for {
		_, body, err := conn.Read(ctx)
		if err != nil || !c.handle(body, *s.fault.Load()) {
			return
		}
	}
}

// handle answers a message and reports whether the connection stays.
func (c *socket) handle(body []byte, f Fault) bool {
	var q loopback.Call
	if err := json.Unmarshal(body, &q); err != nil {
		return c.send(failed(nil, -32700, "parse error"))
	}
	switch {
	case f.Down || c.node != c.Server.node.Load():
		return false
	case q.Method == "eth_subscribe" && !slices.Contains(f.Refuse, q.Method):
		return c.subscribe(q)
	case q.Method == "eth_unsubscribe" && !slices.Contains(f.Refuse, q.Method):
		return c.send(c.unsubscribe(q))
	}
	return c.send(c.do(c.ctx, q, f))
}

func (c *socket) send(v any) bool {
	text, err := json.Marshal(v)
	if err != nil {
		return false
	}
	c.sending.Lock()
	defer c.sending.Unlock()
	return c.conn.Write(c.ctx, websocket.MessageText, text) == nil
}

// maxSubscriptions bounds those of a connection.
const maxSubscriptions = 1000

func (c *socket) subscribe(q loopback.Call) bool {
	if len(c.subs) == maxSubscriptions {
		return c.send(failed(q.ID, -32005, "too many subscriptions"))
	}
	var args []any
	if json.Unmarshal(q.Params, &args) != nil {
		return c.send(failed(q.ID, -32602, "invalid params: not a list"))
	}
	news := make(chan json.RawMessage, 1000)
	sub, err := c.node.client.EthSubscribe(c.ctx, news, args...)
	if err != nil {
		return c.send(loopback.Failed(q.ID, errorOf(err)))
	}
	c.last++
	id := "0x" + strconv.FormatUint(c.last, 16)
	c.subs[id] = sub
	if !c.send(loopback.Succeeded(q.ID, json.RawMessage(strconv.Quote(id)))) {
		sub.Unsubscribe()
		return false
	}
	c.says.Go(func() {
		defer sub.Unsubscribe()
		for {
			select {
			case <-c.ctx.Done():
				return
			case <-sub.Err():
				return
			case result := <-news:
				if !c.tell(id, result) {
					c.end()
					return
				}
			}
		}
	})
	return true
}

func (c *socket) unsubscribe(q loopback.Call) loopback.Reply {
	var ids []string
	if json.Unmarshal(q.Params, &ids) != nil || len(ids) != 1 || c.subs[ids[0]] == nil {
		return failed(q.ID, -32000, "subscription not found")
	}
	c.subs[ids[0]].Unsubscribe()
	delete(c.subs, ids[0])
	return loopback.Succeeded(q.ID, json.RawMessage("true"))
}

// tell sends one piece of news and reports whether the connection stays. A server that is
// behind says nothing.
func (c *socket) tell(id string, result json.RawMessage) bool {
	f := *c.fault.Load()
	if f.Rewrite != nil {
		result = f.Rewrite("eth_subscription", nil, result)
	}
	switch {
	case f.Down, c.node != c.Server.node.Load():
		return false
	case f.Silent, f.Behind > 0:
		return true
	}
	return c.send(map[string]any{"jsonrpc": "2.0", "method": "eth_subscription", "params": map[string]any{"subscription": id, "result": result}})
}
