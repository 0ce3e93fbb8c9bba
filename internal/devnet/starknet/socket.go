package starknet

import (
	"context"
	"encoding/json"
	"net/http"
	"reflect"
	"slices"
	"strconv"
	"sync"

	"github.com/coder/websocket"

	"github.com/swapper-go/swapper/internal/devnet/loopback"
	"github.com/swapper-go/swapper/internal/devnet/starknet/contracts"
	"github.com/swapper-go/swapper/internal/starknet/wire"
)

// socket is a websocket connection: calls as over HTTP, and subscriptions to blocks, events
// and the status of transactions, which versions from 0.8 on have.
type socket struct {
	*NodeServer
	version NodeVersion
	of      *contracts.Chain // whose news it tells; when the server tells another, it ends
	conn    *websocket.Conn
	ctx     context.Context

	mu   sync.Mutex // held while subscriptions change or look at the chain
	last uint64     // id of a subscription
	subs map[string]*subscription
	told *contracts.Block // the newest block of which was told
}

// subscription is what a client wants to hear of: blocks, events, or a transaction.
type subscription struct {
	method string                     // of its news
	filter *filter                    // of events
	tx     map[string]json.RawMessage // the transaction_hash
	status any                        // of it, as was told last
}

// maxSubscriptions bounds those of a connection.
const maxSubscriptions = 1000

func (s *NodeServer) serveSocket(w http.ResponseWriter, r *http.Request, f NodeFault, version NodeVersion) {
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
	c := &socket{NodeServer: s, version: version, of: s.chain(), conn: conn, ctx: ctx, subs: map[string]*subscription{}}
	c.of.Read(f.Behind, func(v *contracts.View) { c.told = v.Head() })
	var watching sync.WaitGroup
	defer watching.Wait()
	defer cancel()
	watching.Go(func() {
		defer cancel()
		c.watch()
	})
	for {
		_, body, err := conn.Read(ctx)
		if err != nil || !c.handle(body, *s.fault.Load()) {
			return
		}
	}
}

// handle answers a message and reports whether the connection stays.
func (c *socket) handle(body []byte, f NodeFault) bool {
	c.mu.Lock() // what a subscription has to say comes after the answer with its id
	defer c.mu.Unlock()
	var q call
	if json.Unmarshal(body, &q) != nil {
		return c.send(loopback.Failed(nil, &NodeError{Code: -32700, Message: "Parse error"}))
	}
	if f.Down {
		return false
	}
	if !slices.Contains(f.Refuse, q.Method) && c.version >= V8 {
		switch q.Method {
		case "starknet_subscribeNewHeads", "starknet_subscribeEvents":
			return c.send(c.subscribe(q))
		case "starknet_subscribeTransactionStatus":
			return c.send(c.subscribeStatus(q)) && c.tell()
		case "starknet_unsubscribe":
			return c.send(c.unsubscribe(q))
		}
	}
	return c.send(c.do(q, f, c.version))
}

func (c *socket) send(v any) bool {
	text, err := json.Marshal(v)
	return err == nil && c.conn.Write(c.ctx, websocket.MessageText, text) == nil
}

func (c *socket) subscribe(q call) reply {
	if len(c.subs) == maxSubscriptions {
		return loopback.Failed(q.ID, internalError)
	}
	s := &subscription{method: "starknet_subscriptionNewHeads"}
	if q.Method == "starknet_subscribeEvents" {
		params, err := named(q.Params, []string{"from_address", "keys", "block_id", "finality_status"})
		if err != nil {
			return loopback.Failed(q.ID, err)
		}
		s.method, s.filter = "starknet_subscriptionEvents", &filter{At: params["from_address"]}
		if err := s.filter.readAddresses(c.version); err != nil {
			return loopback.Failed(q.ID, err)
		}
		if keys, given := params["keys"]; given {
			if err := json.Unmarshal(keys, &s.filter.Keys); err != nil {
				return loopback.Failed(q.ID, wrongParams("keys: "+err.Error()))
			}
		}
	}
	return c.add(q, s)
}

// subscribeStatus subscribes to a transaction, which need not have been sent yet.
func (c *socket) subscribeStatus(q call) reply {
	if len(c.subs) == maxSubscriptions {
		return loopback.Failed(q.ID, internalError)
	}
	params, err := named(q.Params, []string{"transaction_hash"})
	if err == nil {
		_, err = (&request{params: params}).felt("transaction_hash")
	}
	if err != nil {
		return loopback.Failed(q.ID, err)
	}
	return c.add(q, &subscription{method: "starknet_subscriptionTransactionStatus", tx: params})
}

// add adds a subscription and answers with its id.
func (c *socket) add(q call, s *subscription) reply {
	c.last++
	id := strconv.FormatUint(c.last, 10)
	c.subs[id] = s
	return loopback.Succeeded(q.ID, json.RawMessage(strconv.Quote(id)))
}

// invalidSubscription is the specification's error for an unknown subscription.
var invalidSubscription = &NodeError{Code: 66, Message: "Invalid subscription id"}

func (c *socket) unsubscribe(q call) reply {
	params, err := named(q.Params, []string{"subscription_id"})
	if err != nil {
		return loopback.Failed(q.ID, err)
	}
	var id string
	if json.Unmarshal(params["subscription_id"], &id) != nil || c.subs[id] == nil {
		return loopback.Failed(q.ID, invalidSubscription)
	}
	delete(c.subs, id)
	return loopback.Succeeded(q.ID, json.RawMessage("true"))
}

// watch tells of news whenever the chain has changed.
func (c *socket) watch() {
	for {
		moved := c.of.Moved()
		if !c.look() {
			return
		}
		select {
		case <-moved:
		case <-c.ctx.Done():
			return
		}
	}
}

// look tells of the blocks since the last call, and first of a branch that replaced some that
// were told of. It reports whether the connection stays.
func (c *socket) look() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.tell()
}

// tell is look while the subscriptions are held.
func (c *socket) tell() bool {
	f := *c.fault.Load()
	switch {
	case f.Down, c.of != c.chain():
		return false
	case f.Silent:
		return true
	}
	var out []any
	c.of.Read(f.Behind, func(v *contracts.View) {
		q := &request{NodeServer: c.NodeServer, fault: f, version: c.version, view: v}
		first := c.told.Number + 1
		if b := v.Block(c.told.Number); b == nil || b.Hash != c.told.Hash {
			first = min(c.told.Number, v.Head().Number)
			gone := map[string]any{"starting_block_hash": wire.Hex(c.told.Hash), "starting_block_number": c.told.Number,
				"ending_block_hash": wire.Hex(c.told.Hash), "ending_block_number": c.told.Number}
			for id := range c.subs {
				out = append(out, news("starknet_subscriptionReorg", id, gone))
			}
		}
		for n := first; n <= v.Head().Number; n++ {
			for id, s := range c.subs {
				out = append(out, s.news(q, id, v.Block(n))...)
			}
		}
		c.told = v.Head()
		for id, s := range c.subs {
			out = append(out, s.moved(q, id)...)
		}
	})
	for _, one := range out {
		if !c.send(one) {
			return false
		}
	}
	return true
}

// news is what a subscription hears of a block.
func (s *subscription) news(q *request, id string, b *contracts.Block) (out []any) {
	switch {
	case s.tx != nil:
		return nil
	case s.filter == nil:
		return []any{news(s.method, id, q.header(b))}
	}
	for e := range q.view.Events(b.Number, b.Number) {
		if s.filter.takes(e.Event) {
			out = append(out, news(s.method, id, q.emitted(e)))
		}
	}
	return out
}

// moved is what a subscription to a transaction hears if its status is another one than before.
func (s *subscription) moved(q *request, id string) []any {
	if s.tx == nil {
		return nil
	}
	of := *q
	of.params = s.tx
	status, err := of.getTransactionStatus()
	if err != nil || reflect.DeepEqual(status, s.status) { // it is not known yet
		return nil
	}
	s.status = status
	return []any{news(s.method, id, map[string]any{"transaction_hash": s.tx["transaction_hash"], "status": status})}
}

func news(method, id string, result any) any {
	return map[string]any{"jsonrpc": "2.0", "method": method, "params": map[string]any{"subscription_id": id, "result": result}}
}
