package solana

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/swapper-go/swapper/internal/devnet/loopback"
	"github.com/swapper-go/swapper/internal/devnet/solana/bank"
	"github.com/swapper-go/swapper/internal/solana/wire"
)

// subscriptions are what can be subscribed to.
var subscriptions = map[string]func(*request) (*subscription, *NodeError){
	"accountSubscribe": (*request).accountSubscribe, "programSubscribe": (*request).programSubscribe, "signatureSubscribe": (*request).signatureSubscribe,
	"logsSubscribe": (*request).logsSubscribe, "slotSubscribe": (*request).slotSubscribe, "rootSubscribe": (*request).rootSubscribe,
}

// subscribe carries out a call that begins or ends a subscription; ok is false for
// other calls.
func (c *socket) subscribe(q call, f NodeFault) (r reply, ok bool) {
	if slices.Contains(f.Refuse, q.Method) {
		return r, false
	}
	params := &request{NodeServer: c.NodeServer, fault: f}
	_ = json.Unmarshal(q.Params, &params.params) // without parameters the method complains
	if begin, ok := subscriptions[q.Method]; ok {
		s, err := begin(params)
		if err != nil {
			return loopback.Failed(q.ID, err), true
		}
		c.last++
		s.id, s.method = c.last, strings.TrimSuffix(q.Method, "Subscribe")+"Notification"
		c.subs[s.id] = s
		// A subscription tells of changes only, except that a transaction which was executed before is told of too.
		if q.Method != "signatureSubscribe" {
			c.bank().Read(s.level, f.Behind, func(v *bank.View) { s.news(v) })
		}
		return result(q.ID, s.id), true
	}
	kind, ends := strings.CutSuffix(q.Method, "Unsubscribe")
	if _, known := subscriptions[kind+"Subscribe"]; !ends || !known {
		return r, false
	}
	var id uint64
	if err := params.param(0, &id); err != nil {
		return loopback.Failed(q.ID, err), true
	}
	if c.subs[id] == nil {
		return loopback.Failed(q.ID, &NodeError{Code: -32602, Message: "Invalid subscription id."}), true
	}
	delete(c.subs, id)
	return result(q.ID, true), true
}

func result(id json.RawMessage, value any) reply {
	text, err := json.Marshal(value)
	if err != nil {
		return loopback.Failed(id, &NodeError{Code: -32603, Message: "Internal error"})
	}
	return loopback.Succeeded(id, text)
}

// begin reads the options of a subscription.
func (q *request) begin(at int) (c config, level bank.Commitment, err *NodeError) {
	if c, err = q.config(at); err == nil {
		level, err = commitment(c.Commitment)
	}
	return c, level, err
}

func (q *request) signatureSubscribe() (*subscription, *NodeError) {
	id, err := q.id(0)
	if err != nil {
		return nil, err
	}
	c, level, err := q.begin(1)
	if err != nil {
		return nil, err
	}
	received := false
	return &subscription{level: level, news: func(v *bank.View) (out []any, done bool) {
		tx := v.Tx(id)
		if tx == nil {
			return nil, false
		}
		if c.EnableReceivedNotification && !received {
			received = true
			out = append(out, in(v, "receivedSignature"))
		}
		return append(out, in(v, map[string]any{"err": errorOf(tx.Err)})), true
	}}, nil
}

// blocks calls f with every block that has come since the last call.
func blocks(f func(v *bank.View, b *bank.Block) []any) func(*bank.View) ([]any, bool) {
	var after uint64
	first := true
	return func(v *bank.View) (out []any, done bool) {
		head := v.Head().Slot
		if !first && head > after {
			for _, s := range v.Blocks(after+1, head) {
				out = append(out, f(v, v.Block(s))...)
			}
		}
		after, first = max(after, head), false
		return out, false
	}
}

func (q *request) logsSubscribe() (*subscription, *NodeError) {
	var text string
	var of struct{ Mentions []string }
	if err := q.param(0, &of); err != nil {
		if q.param(0, &text) != nil || text != "all" && text != "allWithVotes" {
			return nil, wrongParams("expected `all`, `allWithVotes` or an object with `mentions`")
		}
	}
	var mentions *wire.Key
	if text == "" {
		if len(of.Mentions) != 1 {
			return nil, &NodeError{Code: -32602, Message: "Invalid Request: Only 1 address supported"}
		}
		k, err := parseKey(of.Mentions[0])
		if err != nil {
			return nil, err
		}
		mentions = &k
	}
	_, level, err := q.begin(1)
	if err != nil {
		return nil, err
	}
	return &subscription{level: level, news: blocks(func(v *bank.View, b *bank.Block) (out []any) {
		for _, tx := range b.Txs {
			if mentions == nil || slices.Contains(tx.Message.AccountKeys, *mentions) {
				out = append(out, at(b, map[string]any{"signature": tx.ID.String(), "err": errorOf(tx.Err), "logs": tx.Logs}))
			}
		}
		return out
	})}, nil
}

// at puts a value into the context of its block.
func at(b *bank.Block, value any) any {
	return map[string]any{"context": map[string]any{"slot": b.Slot}, "value": value}
}

func (q *request) slotSubscribe() (*subscription, *NodeError) {
	return &subscription{level: bank.Processed, news: blocks(func(v *bank.View, b *bank.Block) []any {
		return []any{map[string]uint64{"parent": b.ParentSlot, "root": v.Root(b).Slot, "slot": b.Slot}}
	})}, nil
}

func (q *request) rootSubscribe() (*subscription, *NodeError) {
	return &subscription{level: bank.Finalized, news: blocks(func(_ *bank.View, b *bank.Block) []any { return []any{b.Slot} })}, nil
}

// tell returns the accounts that have changed since the last call.
type tell map[wire.Key]string

// changed reports whether an account is another one than at the last call.
func (t tell) changed(k wire.Key, a bank.Account) bool {
	now := string(a.Data) + "\x00" + a.Owner.String() + "\x00" + decimal(a.Lamports, 0)
	was, known := t[k]
	t[k] = now
	return !known && a.Lamports > 0 || known && was != now
}

func (q *request) accountSubscribe() (*subscription, *NodeError) {
	k, err := q.key(0)
	if err != nil {
		return nil, err
	}
	c, level, err := q.begin(1)
	if err != nil {
		return nil, err
	}
	seen := tell{}
	return &subscription{level: level, news: func(v *bank.View) (out []any, done bool) {
		a, _ := v.Account(k)
		if !seen.changed(k, a) {
			return nil, false
		}
		encoded, err := encodeAccount(v, k, a, c)
		if err != nil {
			return nil, true
		}
		return []any{in(v, encoded)}, false
	}}, nil
}

func (q *request) programSubscribe() (*subscription, *NodeError) {
	program, err := q.key(0)
	if err != nil {
		return nil, err
	}
	c, level, err := q.begin(1)
	if err != nil {
		return nil, err
	}
	var tests []func([]byte) bool
	for _, f := range c.Filters {
		test, err := f.test()
		if err != nil {
			return nil, err
		}
		tests = append(tests, test)
	}
	seen, first := tell{}, true
	return &subscription{level: level, news: func(v *bank.View) (out []any, done bool) {
		for _, k := range v.Owned(program) {
			a, _ := v.Account(k)
			if changed := seen.changed(k, a); !changed || first || slices.ContainsFunc(tests, func(test func([]byte) bool) bool { return !test(a.Data) }) {
				continue
			}
			encoded, err := encodeAccount(v, k, a, c)
			if err != nil {
				return nil, true
			}
			out = append(out, in(v, map[string]any{"pubkey": k.String(), "account": encoded}))
		}
		first = false
		return out, false
	}}, nil
}
