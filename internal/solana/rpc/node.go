package rpc

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/swapper-go/swapper/internal/jsonrpc"
	"github.com/swapper-go/swapper/internal/solana/wire"
)

type (
	// Node is what reading the chain needs of a connection.
	Node = jsonrpc.Node
	// Request is one question.
	Request = jsonrpc.Request
	// Nodes are the nodes at several URLs.
	Nodes = jsonrpc.Nodes
)

// AskAll puts questions whose answers are all needed.
func AskAll(ctx context.Context, node Node, requests []Request) error {
	return jsonrpc.AskAll(ctx, node, requests)
}

// behindSlots is how far a node may be behind the newest slot that was heard of before
// others are asked, about a minute.
const behindSlots = 150

// Dial connects to nothing yet. genesis refuses the genesis hash of another network;
// it is asked for along with the first request to each node.
func Dial(genesis func(hash string) error, urls []string, transport http.RoundTripper, now func() time.Time) (*Nodes, error) {
	heard := &newest{now: now}
	return jsonrpc.Dial(jsonrpc.Dialect{
		Identity: "getGenesisHash",
		Check:    func(answer json.RawMessage) error { return checkGenesis(genesis, answer) },
		Judge:    judge,
		Head:     heard.read,
		Light:    light,
		Unit:     "slot",
	}, urls, transport, now)
}

// checkGenesis judges the genesis hash that a node names.
func checkGenesis(genesis func(hash string) error, answer json.RawMessage) error {
	var hash string
	if json.Unmarshal(answer, &hash) != nil || hash == "" {
		return errors.New("did not return its genesis hash")
	}
	if err := genesis(hash); err != nil {
		return &jsonrpc.ForeignError{Says: err.Error()}
	}
	return nil
}

// light names the calls that a node answers from what it has at hand.
func light(r Request) bool {
	return slices.Contains([]string{"getGenesisHash", "getMultipleAccounts", "getSlot", "getLatestBlockhash", "isBlockhashValid", "getSignatureStatuses", "getTransaction"}, r.Method)
}

// newest is the newest slot that a node has told of.
type newest struct {
	now  func() time.Time
	mu   sync.Mutex
	slot uint64
	at   time.Time
}

// read finds the slot that an answer was read at. Finalized states are old on purpose.
func (n *newest) read(r Request, _ json.RawMessage, result any) (slot uint64, late, ok bool) {
	if !isRecent(r.Params) {
		return 0, false, false
	}
	now := n.now()
	switch got := result.(type) {
	case *uint64:
		if r.Method != "getSlot" {
			return 0, false, false
		}
		slot = *got
	case *LatestBlockhash:
		slot = got.Slot
	case *Accounts:
		slot, late = got.Slot, got.isOld(now)
	default:
		return 0, false, false
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if age := now.Sub(n.at); slot > n.slot || age > forgetSlot || age < 0 {
		n.slot, n.at = slot, now
	}
	return slot, late || slot+behindSlots < n.slot, true
}

// old is how long ago the ledger's clock may have been, for a state that is not old.
const old = 2 * time.Minute

// isOld reports whether the accounts are those of an old state, as far as the ledger's
// clock is the first of them.
func (a *Accounts) isOld(now time.Time) bool {
	if a.clock == nil {
		return false
	}
	c, err := wire.DecodeClock(a.clock.Owner, a.clock.Data)
	return err == nil && time.Unix(c.Unix, 0).Before(now.Add(-old))
}

// forgetSlot is after how long the newest slot that was heard of does not make others
// late any more: one that lies by naming a slot of the far future must not do so for ever.
const forgetSlot = 2 * time.Minute

// isRecent reports whether a question is about a state that is not finalized.
func isRecent(params []any) bool {
	if len(params) == 0 {
		return false
	}
	o, ok := params[len(params)-1].(options)
	return ok && (o["commitment"] == Processed.String() || o["commitment"] == Confirmed.String())
}
