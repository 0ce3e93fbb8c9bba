package evm

import (
	"context"
	"time"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/crypto"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/internal/bigs"
	"github.com/swapper-go/swapper/internal/evm/evmrpc"
	"github.com/swapper-go/swapper/internal/evm/evmwire"
	"github.com/swapper-go/swapper/internal/lru"
)

// sendTimeout is how long to wait for a sent transaction (protocol: chain-evm.md §1.5).
const sendTimeout = 180 * time.Second

// nonces is what this process knows of the nonces of accounts beyond what nodes
// say (protocol: chain-evm.md §7.2, §13.15). Nothing is reserved: a nonce that is
// kept for a transaction that never gets signed would block all later ones.
// Everything is bounded; what is forgotten costs a question more.
type nonces struct {
	sent  *lru.Cache[string, sentNonce]              // by sender
	used  *lru.Cache[nonceKey, common.Hash]          // what the transaction with a nonce does
	fees  *lru.Cache[nonceKey, *evmwire.Transaction] // the transaction itself, for what it offers
	given *lru.Cache[givenKey, uint64]               // handed out for a call of a swap
	ready *lru.Cache[nonceKey, struct{}]             // no nonce was missing before it
	gaps  *lru.Cache[string, time.Time]              // by transaction id: since when one before it is missing
}

// sentNonce is what follows the last transaction that was sent for an account
// through this process.
type sentNonce struct {
	next uint64
	at   time.Time
}

type nonceKey struct {
	sender string
	nonce  uint64
}

type givenKey struct {
	sender, swap string
	call         common.Hash
}

func newNonces() *nonces {
	const accounts, entries = 4096, 16384
	return &nonces{sent: lru.New[string, sentNonce](accounts), used: lru.New[nonceKey, common.Hash](entries),
		fees:  lru.New[nonceKey, *evmwire.Transaction](entries),
		given: lru.New[givenKey, uint64](entries), ready: lru.New[nonceKey, struct{}](entries), gaps: lru.New[string, time.Time](accounts)}
}

// deed names what a call does: its destination and the part of its data that
// says which method is called for which escrow. A proof behind it does not count.
func deed(to common.Address, data []byte) common.Hash {
	const escrowCall = 4 + 13*32
	return crypto.Keccak256Hash(to[:], data[:min(len(data), escrowCall)])
}

// firstNonce returns the nonce of the first of the calls that a swap asks for. It is
// the next free one, unless the swap was given one before which is not mined: then
// it is that one again, so that signing twice replaces the pending transaction
// instead of adding another. Numbers that were sent for something else are not used
// again. pending and mined are the node's counts.
func (c *chain) firstNonce(sender, swap string, calls []evmwire.Call, pending, mined uint64) uint64 {
	first := c.nextNonce(sender, pending)
	if len(calls) > 0 && swap != "" {
		before, ok := c.nonces.given.Get(givenKey{sender, swap, deed(calls[0].To, calls[0].Data)})
		if ok && before >= mined && before < first && c.freeFor(sender, calls, before) {
			first = before
		}
		for i, call := range calls {
			c.nonces.given.Add(givenKey{sender, swap, deed(call.To, call.Data)}, first+uint64(i))
		}
	}
	c.nonces.ready.Add(nonceKey{sender, first}, struct{}{})
	return first
}

// freeFor reports whether nothing else was sent with the nonces from first on.
func (c *chain) freeFor(sender string, calls []evmwire.Call, first uint64) bool {
	for i, call := range calls {
		what, known := c.nonces.used.Get(nonceKey{sender, first + uint64(i)})
		if known && what != deed(call.To, call.Data) {
			return false
		}
	}
	return true
}

// nextNonce is the pending nonce that a node names, or a higher one that follows
// what was sent lately. What was sent long ago and is not known was dropped.
func (c *chain) nextNonce(sender string, pending uint64) uint64 {
	if last, ok := c.nonces.sent.Get(sender); ok && c.env.Now().Sub(last.at) < sendTimeout {
		return max(pending, last.next)
	}
	return pending
}

// noteSent remembers the nonce, for nodes that have not heard of the transaction.
func (c *chain) noteSent(tx chains.Signed) {
	now := c.env.Now()
	if p, err := evmwire.ParseTransaction(hexutil.Encode(tx.Raw)); err == nil && p.To != nil {
		c.nonces.used.Add(nonceKey{tx.From, tx.Nonce}, deed(*p.To, p.Data))
		c.nonces.fees.Add(nonceKey{tx.From, tx.Nonce}, &evmwire.Transaction{Nonce: p.Nonce, FeeCap: bigs.OrZero(p.FeeCap), TipCap: bigs.OrZero(p.TipCap)})
	}
	if last, ok := c.nonces.sent.Get(tx.From); ok && last.next > tx.Nonce+1 && now.Sub(last.at) < sendTimeout {
		return
	}
	c.nonces.sent.Add(tx.From, sentNonce{tx.Nonce + 1, now})
}

// checkNonce refuses a transaction whose nonce is ahead of the account's: it
// would wait for transactions that do not exist, and its swap with it. Those
// others may be on their way to the node, so it is refused for good only after a
// while. The node is asked unless it is known that nothing is missing.
func (c *chain) checkNonce(ctx context.Context, tx chains.Signed) error {
	at := nonceKey{tx.From, tx.Nonce}
	if _, ok := c.nonces.ready.Get(at); ok {
		return nil
	}
	if _, ok := c.nonces.used.Get(at); ok || c.nextNonce(tx.From, 0) >= tx.Nonce {
		return nil
	}
	var pending hexutil.Uint64
	if err := evmrpc.AskAll(ctx, c.node, []evmrpc.Request{{Method: "eth_getTransactionCount", Params: []any{tx.From, "pending"}, Result: &pending}}); err != nil {
		return err
	}
	if tx.Nonce <= uint64(pending) {
		c.nonces.ready.Add(at, struct{}{})
		return nil
	}
	now := c.env.Now()
	since, ok := c.nonces.gaps.Get(tx.ID)
	if !ok {
		since = now
		c.nonces.gaps.Add(tx.ID, since)
	}
	code := fault.Upstream
	if now.Sub(since) >= sendTimeout {
		code = fault.InvalidState
	}
	return fault.New(code, "the transaction has nonce %d, but the account's transactions from nonce %d on are missing", tx.Nonce, uint64(pending))
}
