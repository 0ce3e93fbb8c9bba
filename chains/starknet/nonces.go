package starknet

import (
	"context"
	"crypto/sha256"
	"time"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/internal/lru"
	"github.com/swapper-go/swapper/internal/starknet/wire"
)

// sendTimeout is how long to wait for a sent transaction (protocol: chain-starknet.md
// §12.2).
const sendTimeout = wire.ActionTimeout * time.Second

// nonces is what this process knows of the nonces of accounts beyond what nodes say:
// what waits in their pools is in none of their states (protocol: chain-starknet.md
// §10.2). Nothing is reserved: a nonce that is kept for a transaction that never gets
// signed would block all later ones. Everything is bounded; what is forgotten costs a
// question more.
type nonces struct {
	sent  *lru.Cache[wire.Felt, sentNonce]        // by sender
	used  *lru.Cache[nonceKey, deed]              // what the transaction with a nonce does
	fees  *lru.Cache[nonceKey, *wire.Transaction] // the transaction itself, for what it offers
	given *lru.Cache[givenKey, uint64]            // handed out for a transaction of a swap
	ready *lru.Cache[nonceKey, struct{}]          // no nonce was missing before it
	gaps  *lru.Cache[string, time.Time]           // by transaction id: since when one before it is missing
}

// sentNonce is what follows the last transaction that was sent for an account through
// this process.
type sentNonce struct {
	next uint64
	at   time.Time
}

type nonceKey struct {
	sender wire.Felt
	nonce  uint64
}

type givenKey struct {
	sender wire.Felt
	swap   string
	what   deed
}

func newNonces() *nonces {
	const accounts, entries = 4096, 16384
	return &nonces{sent: lru.New[wire.Felt, sentNonce](accounts), used: lru.New[nonceKey, deed](entries), fees: lru.New[nonceKey, *wire.Transaction](entries),
		given: lru.New[givenKey, uint64](entries), ready: lru.New[nonceKey, struct{}](entries), gaps: lru.New[string, time.Time](accounts)}
}

// deed names what a transaction does: the entry point of its last call, and the part
// of its calldata that says for which escrow. A proof behind it does not count, nor do
// approvals before it. The zero deed is a deployment.
type deed [sha256.Size]byte

func deedOf(calls []wire.Call) deed {
	if len(calls) == 0 {
		return deed{}
	}
	const escrowFelts = 16
	last := calls[len(calls)-1]
	selector := last.Selector
	if last.Entry != "" {
		selector = wire.Selector(last.Entry)
	}
	h := sha256.New()
	for _, f := range append([]wire.Felt{last.To, selector}, last.Calldata[:min(len(last.Calldata), escrowFelts)]...) {
		b := f.Bytes()
		h.Write(b[:])
	}
	return deed(h.Sum(nil))
}

// firstNonce returns the nonce of the first of the transactions that a swap asks for.
// It is the next free one, unless the swap was given one before which is not used: then
// it is that one again, so that signing twice replaces the pending transaction instead
// of adding another. Numbers that were sent for something else are not used again.
// pending is the node's count: what is in the block that is being made cannot be
// replaced any more.
func (c *chain) firstNonce(sender wire.Felt, swap string, txs []deed, pending uint64) uint64 {
	first := c.nextNonce(sender, pending)
	if len(txs) > 0 && swap != "" {
		before, ok := c.nonces.given.Get(givenKey{sender, swap, txs[0]})
		if ok && before >= pending && before < first && c.freeFor(sender, txs, before) {
			first = before
		}
	}
	return first
}

// give remembers the nonces that were handed out.
func (c *chain) give(sender wire.Felt, swap string, txs []deed, first uint64) {
	if swap != "" {
		for i, what := range txs {
			c.nonces.given.Add(givenKey{sender, swap, what}, first+uint64(i))
		}
	}
	c.nonces.ready.Add(nonceKey{sender, first}, struct{}{})
}

// freeFor reports whether nothing else was sent with the nonces from first on.
func (c *chain) freeFor(sender wire.Felt, txs []deed, first uint64) bool {
	for i, want := range txs {
		if what, known := c.nonces.used.Get(nonceKey{sender, first + uint64(i)}); known && what != want {
			return false
		}
	}
	return true
}

// nextNonce is the pending nonce that a node names, or a higher one that follows what
// was sent lately. What was sent long ago and is not known was dropped.
func (c *chain) nextNonce(sender wire.Felt, pending uint64) uint64 {
	if last, ok := c.nonces.sent.Get(sender); ok && c.env.Now().Sub(last.at) < sendTimeout {
		return max(pending, last.next)
	}
	return pending
}

// noteSent remembers the nonce, for nodes that have not heard of the transaction.
func (c *chain) noteSent(tx *wire.Transaction) {
	now := c.env.Now()
	key := nonceKey{tx.Sender, tx.Nonce}
	if calls, err := wire.ParseExecuteCalldata(tx.Calldata); err == nil || tx.Type == wire.DeployAccount {
		c.nonces.used.Add(key, deedOf(calls))
	}
	c.nonces.fees.Add(key, &wire.Transaction{Details: wire.Details{Nonce: tx.Nonce, Bounds: tx.Bounds, Tip: tx.Tip}})
	if last, ok := c.nonces.sent.Get(tx.Sender); ok && last.next > tx.Nonce+1 && now.Sub(last.at) < sendTimeout {
		return
	}
	c.nonces.sent.Add(tx.Sender, sentNonce{tx.Nonce + 1, now})
}

// checkNonce refuses a transaction whose nonce is ahead of the account's: it would wait
// for transactions that do not exist, and its swap with it. Those others may be on their
// way to the node, so it is refused for good only after a while. The node is asked
// unless it is known that nothing is missing.
func (c *chain) checkNonce(ctx context.Context, id string, tx *wire.Transaction) error {
	key := nonceKey{tx.Sender, tx.Nonce}
	if _, ok := c.nonces.ready.Get(key); ok {
		return nil
	}
	if _, ok := c.nonces.used.Get(key); ok || c.nextNonce(tx.Sender, 0) >= tx.Nonce {
		return nil
	}
	at, err := c.ledger.Account(ctx, tx.Sender)
	if err != nil {
		return err
	}
	pending := uint64(at.Next)
	if tx.Nonce <= pending {
		c.nonces.ready.Add(key, struct{}{})
		return nil
	}
	now := c.env.Now()
	since, ok := c.nonces.gaps.Get(id)
	if !ok {
		since = now
		c.nonces.gaps.Add(id, since)
	}
	code := fault.Upstream
	if now.Sub(since) >= sendTimeout {
		code = fault.InvalidState
	}
	return fault.New(code, "the transaction has nonce %d, but the account's transactions from nonce %d on are missing", tx.Nonce, pending)
}

// claims reports whether a plan claims an escrow, which is possible for a time only.
func claims(plan chains.Plan) bool {
	for _, s := range plan.Steps {
		if s.Kind == chains.StepClaimSecret || s.Kind == chains.StepClaimBitcoin {
			return true
		}
	}
	return false
}
