// Package relay plans which Bitcoin headers a smart chain's light client has to be
// brought: on top of its tip, or as a fork with more work.
package relay

import (
	"context"
	"math/big"

	"github.com/swapper-go/swapper/chains/bitcoin"
)

// Relay is what the synchroniser asks of a Bitcoin light client that lives on a
// smart chain. Implementations are safe for concurrent use.
type Relay interface {
	// Tip returns the best header that the relay has, or ErrNotFound if the relay
	// was never initialised.
	Tip(ctx context.Context) (Header, error)
	// LatestKnown returns the highest header of the relay's main chain that is
	// also in Bitcoin's, or ErrNotFound if they share none.
	LatestKnown(ctx context.Context) (Header, error)
}

// Header is a header that a relay has stored.
type Header struct {
	Header bitcoin.Header
	Work   *big.Int // of the chain up to and with it, in the relay's own measure
}

// Rules are what differs between the relays of the smart chains
// (protocol: bitcoin.md §16).
type Rules struct {
	Main      int                        // headers per transaction onto the relay's main chain
	Fork      int                        // headers per transaction onto a fork that lasts over several
	ShortFork int                        // headers of a fork that must win within its transaction; 0 if there is no such operation
	Work      func(bits uint32) *big.Int // what a header adds to the work: [pow.Work] or [pow.Difficulty]

	// LongerWins says that of two chains with the same work the relay prefers the
	// longer one: that of a local network does, whose blocks are too easy to count
	// in units of [pow.Difficulty].
	LongerWins bool
}

// beats reports whether the relay gives up its tip for a fork that ends with h.
func (r Rules) beats(h, tip Header) bool {
	if c := h.Work.Cmp(tip.Work); c != 0 || !r.LongerWins {
		return c > 0
	}
	return h.Header.Height > tip.Header.Height
}

// Op is an operation that adds headers to a relay.
type Op uint8

const (
	SaveMain      Op = 1 + iota // on top of the relay's tip
	SaveShortFork               // on top of any header of its main chain; must outweigh the tip at once
	SaveNewFork                 // on top of any header of its main chain; starts a fork
	SaveFork                    // on top of the fork that SaveNewFork started
)

// String returns main, short fork, new fork or fork.
func (o Op) String() string {
	switch o {
	case SaveMain:
		return "main"
	case SaveShortFork:
		return "short fork"
	case SaveNewFork:
		return "new fork"
	case SaveFork:
		return "fork"
	}
	return "unknown"
}

// Batch is one transaction to a relay.
type Batch struct {
	Op      Op
	Base    Header           // stored before, by the relay or by the batch before: what Headers are built on
	Headers []bitcoin.Header // ascending, linked to Base and each other
	Wins    bool             // a fork becomes the relay's main chain with this batch
}

// top returns the header that is the batch's last, with its work.
func (b Batch) top(rules Rules) Header {
	if len(b.Headers) == 0 {
		return b.Base
	}
	work := new(big.Int).Set(b.Base.Work)
	for _, h := range b.Headers {
		work.Add(work, rules.Work(h.Bits))
	}
	return Header{Header: b.Headers[len(b.Headers)-1], Work: work}
}

// plan brings a relay up to date: batches to be sent in their order, each
// confirmed before or in the same block as the next.
type plan struct {
	Batches []Batch
	Base    Header // the header that the first batch is built on
	Top     Header // the relay's tip after the last one; Base if there is nothing to do
}
