package solana

import (
	"context"
	"iter"
	"time"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/internal/settle"
	"github.com/swapper-go/swapper/internal/solana/read"
	"github.com/swapper-go/swapper/internal/solana/wire"
	"github.com/swapper-go/swapper/internal/subscribe"
)

// eventPoll is how often new transactions of the programs are asked for (protocol:
// chain-solana.md §18).
const eventPoll = 5 * time.Second

// Hints polls every five seconds, or by what a subscription tells: one round trip, and those of [read.Ledger.Poll]
// where something happened.
func (c *chain) Hints(ctx context.Context, from chains.Cursor, deliver func([]chains.Hint, chains.Cursor) error) error {
	at, err := read.ParseCursor(from)
	if err != nil {
		return err
	}
	return subscribe.Poll(ctx, c.subscribed, c.eventPoll, at, func(at read.Cursor, hand func([]read.News, read.Cursor) error) error {
		return c.ledger.Poll(ctx, c.readers, at, 1, hand)
	}, func(news []read.News, next chains.Cursor) error { return deliver(hints(news), next) },
		func(err error) { c.env.Log.Warn("reading program events failed", "err", err) })
}

// hints says where news point; they are never trusted further.
func hints(news []read.News) []chains.Hint {
	all := make([]chains.Hint, 0, len(news))
	for _, n := range news {
		hash := n.EscrowHash()
		h := chains.Hint{Version: n.Version, EscrowHash: hash[:], TxID: n.Tx}
		switch {
		case n.Kind != wire.Initialized:
		case n.Opened != nil:
			h.ClaimHash = n.Opened.ClaimHash().Bytes()
		case n.Escrow == chains.HTLC: // which has neither nonce nor confirmations
			h.ClaimHash = wire.ClaimHash{PaymentHash: n.Hash}.Bytes()
		}
		all = append(all, h)
	}
	return all
}

// History takes those round trips of [read.Ledger.History], and the first time one
// for the blocks in which something happened.
func (c *chain) History(ctx context.Context, signer string, from uint64) iter.Seq2[chains.Past, error] {
	who, err := address("signer", signer)
	if err != nil {
		return settle.NoHistory(err)
	}
	return func(yield func(chains.Past, error) bool) {
		for p, err := range c.ledger.History(ctx, c.readers, who, from) {
			if err == nil {
				err = c.complete(ctx, c.ledger, unnamed(&p.Fact))
			}
			if !yield(p, err) || err != nil {
				return
			}
		}
	}
}

// unnamed are the blocks of a fact of which only the height is known.
func unnamed(f *chains.EscrowFact) (all []*chains.Block) {
	for _, b := range []*chains.Block{&f.Opened, &f.Finished} {
		if b.Height != 0 && b.Hash == "" {
			all = append(all, b)
		}
	}
	return all
}
