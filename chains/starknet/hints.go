package starknet

import (
	"context"
	"iter"
	"time"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/internal/settle"
	"github.com/swapper-go/swapper/internal/starknet/read"
	"github.com/swapper-go/swapper/internal/starknet/wire"
	"github.com/swapper-go/swapper/internal/subscribe"
)

// eventPoll is how often new events of the contracts are asked for (protocol:
// chain-starknet.md §13.1).
const eventPoll = 5 * time.Second

// Hints polls every five seconds, or by what a subscription tells, with those round trips of [read.Ledger.Poll].
func (c *chain) Hints(ctx context.Context, from chains.Cursor, deliver func([]chains.Hint, chains.Cursor) error) error {
	at, err := read.ParseCursor(from)
	if err != nil {
		return err
	}
	return subscribe.Poll(ctx, c.subscribed, c.eventPoll, at, func(at read.Cursor, hand func([]read.News, read.Cursor) error) error {
		return c.ledger.Poll(ctx, c.readers, at, hand)
	}, func(news []read.News, next chains.Cursor) error { return deliver(hints(news), next) },
		func(err error) { c.env.Log.Warn("reading contract events failed", "err", err) })
}

// hints says where news point; they are never trusted further.
func hints(news []read.News) []chains.Hint {
	all := make([]chains.Hint, 0, len(news))
	for _, n := range news {
		h := chains.Hint{Version: n.Version, TxID: n.Tx}
		escrow := func(e wire.EscrowEvent) {
			b := e.EscrowHash.Bytes()
			h.EscrowHash = b[:]
		}
		switch e := n.Event.(type) {
		case wire.InitializeEvent:
			escrow(e.EscrowEvent)
			b := e.ClaimData.Bytes()
			h.ClaimHash = b[:]
		case wire.ClaimEvent:
			escrow(e.EscrowEvent)
		case wire.RefundEvent:
			escrow(e.EscrowEvent)
		case wire.VaultFrontEvent:
			h.BitcoinTx = e.BitcoinTx
		case wire.VaultClaimEvent:
			h.BitcoinTx = e.BitcoinTx
		case wire.VaultCloseEvent:
			h.BitcoinTx = e.BitcoinTx
		default:
			continue
		}
		all = append(all, h)
	}
	return all
}

// History takes those round trips of [read.Ledger.History].
func (c *chain) History(ctx context.Context, signer string, from uint64) iter.Seq2[chains.Past, error] {
	who, err := account("signer", signer)
	if err != nil {
		return settle.NoHistory(err)
	}
	return c.ledger.History(ctx, c.readers, who, from)
}
