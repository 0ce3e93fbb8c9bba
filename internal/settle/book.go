package settle

import (
	"time"

	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/internal/bounds"
)

// SendTimeout is how long to wait for a sent transaction (protocol: chain-evm.md §1.5,
// chain-starknet.md §12.2).
const SendTimeout = 180 * time.Second

// Deed names what a transaction does, so that two that do the same are recognised.
type Deed [32]byte

// NonceBook is the part of [SentTxs] about nonces, safe for concurrent use. Everything in it is bounded:
// what is forgotten costs a question more. Senders are addresses in canonical form.
type NonceBook struct {
	sent  *bounds.Cache[string, sentNonce]
	used  *bounds.Cache[place, Deed]       // what the transaction with a nonce does
	given *bounds.Cache[givenKey, uint64]  // handed out for a transaction of a swap
	ready *bounds.Cache[place, struct{}]   // no nonce was missing before it
	gaps  *bounds.Cache[string, time.Time] // by transaction id: since when one before it is missing
}

// sentNonce is what follows the last transaction that was sent for an account through
// this process.
type sentNonce struct {
	next uint64
	at   time.Time
}

type place struct {
	sender string
	nonce  uint64
}

type givenKey struct {
	sender, swap string
	what         Deed
}

// newNonceBook returns an empty book.
func newNonceBook() *NonceBook {
	const accounts, entries = 4096, 16384
	return &NonceBook{sent: bounds.NewCache[string, sentNonce](accounts), used: bounds.NewCache[place, Deed](entries), given: bounds.NewCache[givenKey, uint64](entries),
		ready: bounds.NewCache[place, struct{}](entries), gaps: bounds.NewCache[string, time.Time](accounts)}
}

// SentTxs are what was sent for accounts: their nonces, and what the transactions with them offer.
type SentTxs[T any] struct {
	*NonceBook
	txs *bounds.Cache[place, T]
}

// NewSentTxs returns none.
func NewSentTxs[T any]() *SentTxs[T] {
	return &SentTxs[T]{newNonceBook(), bounds.NewCache[place, T](16384)}
}

// Offer returns the transaction that was sent last with a nonce.
func (s *SentTxs[T]) Offer(sender string, nonce uint64) (T, bool) {
	return s.txs.Get(place{sender, nonce})
}

// NoteOffer remembers a transaction that was sent, for what it offers.
func (s *SentTxs[T]) NoteOffer(sender string, nonce uint64, tx T) {
	s.txs.Add(place{sender, nonce}, tx)
}

// First returns the nonce of the first of the transactions that a swap asks for. It is
// the next free one, unless the swap was given one before that can still be used: then it
// is that one again, so that signing twice replaces the pending transaction instead of
// adding another. Numbers that were sent for something else are not used again. lowest is
// the first nonce that a transaction can still have, pending the node's next free one.
func (b *NonceBook) First(sender, swap string, deeds []Deed, lowest, pending uint64, now time.Time) uint64 {
	first := b.Next(sender, pending, now)
	if len(deeds) > 0 && swap != "" {
		before, ok := b.given.Get(givenKey{sender, swap, deeds[0]})
		if ok && before >= lowest && before < first && b.freeFor(sender, deeds, before) {
			first = before
		}
	}
	return first
}

// Give remembers what was handed out, from the nonce first on.
func (b *NonceBook) Give(sender, swap string, deeds []Deed, first uint64) {
	if swap != "" {
		for i, what := range deeds {
			b.given.Add(givenKey{sender, swap, what}, first+uint64(i))
		}
	}
	b.Reached(sender, first)
}

// freeFor reports whether nothing else was sent with the nonces from first on.
func (b *NonceBook) freeFor(sender string, deeds []Deed, first uint64) bool {
	for i, want := range deeds {
		if what, known := b.used.Get(place{sender, first + uint64(i)}); known && what != want {
			return false
		}
	}
	return true
}

// Next is the pending nonce that a node names, or a higher one that follows what was sent
// lately. What was sent long ago and is not known was dropped.
func (b *NonceBook) Next(sender string, pending uint64, now time.Time) uint64 {
	if last, ok := b.sent.Get(sender); ok && now.Sub(last.at) < SendTimeout {
		return max(pending, last.next)
	}
	return pending
}

// Sent remembers a nonce, for nodes that have not heard of the transaction. what is nil
// if no swap can ask for it.
func (b *NonceBook) Sent(sender string, nonce uint64, what *Deed, now time.Time) {
	if what != nil {
		b.used.Add(place{sender, nonce}, *what)
	}
	if last, ok := b.sent.Get(sender); ok && last.next > nonce+1 && now.Sub(last.at) < SendTimeout {
		return
	}
	b.sent.Add(sender, sentNonce{nonce + 1, now})
}

// Follows reports whether it is known that no transaction is missing before a nonce.
func (b *NonceBook) Follows(sender string, nonce uint64, now time.Time) bool {
	at := place{sender, nonce}
	if _, ok := b.ready.Get(at); ok {
		return true
	}
	_, ok := b.used.Get(at)
	return ok || b.Next(sender, 0, now) >= nonce
}

// Reached says that no transaction is missing before a nonce.
func (b *NonceBook) Reached(sender string, nonce uint64) {
	b.ready.Add(place{sender, nonce}, struct{}{})
}

// Gap is the error of a transaction whose nonce is ahead of the account's, pending being
// the next: it would wait for transactions that do not exist, and its swap with it. Those
// others may be on their way to the node, so it is refused for good only after a while.
func (b *NonceBook) Gap(id string, nonce, pending uint64, now time.Time) error {
	since, ok := b.gaps.Get(id)
	if !ok {
		since = now
		b.gaps.Add(id, since)
	}
	code := fault.Upstream
	if now.Sub(since) >= SendTimeout {
		code = fault.InvalidState
	}
	return fault.New(code, "the transaction has nonce %d, but the account's transactions from nonce %d on are missing", nonce, pending)
}
