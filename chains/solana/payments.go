package solana

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/internal/solana/read"
	"github.com/swapper-go/swapper/internal/solana/rpc"
	"github.com/swapper-go/swapper/internal/solana/wire"
)

var _ chains.PaymentList = (*contract)(nil)

// errEnough ends a poll that has read enoughParts of the new transactions.
var errEnough = errors.New("enough is read")

const enoughParts = 5

// AwaitedPayments begins with the thousand newest transactions of the program. It takes one round trip if nothing
// happened, and those of [read.Ledger.Poll] for up to a thousand transactions.
func (k *contract) AwaitedPayments(ctx context.Context, from chains.Cursor) (opened []chains.AwaitedPayment, ended [][]byte, next chains.Cursor, err error) {
	at, err := read.ParseCursor(from)
	if err != nil {
		return nil, nil, from, err
	}
	next = from
	parts := 0
	err = k.chain.ledger.Poll(ctx, []*read.Reader{k.reader}, at, rpc.SignaturesPerCall, func(news []read.News, to read.Cursor) (err error) {
		if next, err = json.Marshal(to); err != nil {
			return err
		}
		for _, n := range news {
			hash := n.EscrowHash()
			if n.Kind != wire.Initialized {
				ended = append(ended, hash[:])
				continue
			}
			if p, ok := k.awaited(n); ok {
				opened = append(opened, p)
			}
		}
		if parts++; parts < enoughParts {
			return nil
		}
		return errEnough
	})
	if errors.Is(err, errEnough) {
		err = nil
	}
	if err != nil {
		return nil, nil, from, err
	}
	return opened, ended, next, nil
}

// awaited reads an opening; not that of a hash lock, or of an escrow that does not say which output it waits for.
func (k *contract) awaited(n read.News) (chains.AwaitedPayment, bool) {
	d := n.Opened
	if n.Escrow != chains.Onchain && n.Escrow != chains.OnchainNonced || d == nil || d.Kind != n.Escrow || d.TxoHint() == nil {
		return chains.AwaitedPayment{}, false
	}
	err := k.Programs.Check(d)
	var e chains.Escrow
	if err == nil {
		e, err = d.Escrow()
	}
	if err != nil {
		hash := n.EscrowHash()
		k.chain.env.Log.Info("an opened escrow is unreadable", "tx", n.Tx, "escrow", hex.EncodeToString(hash[:]), "err", err)
		return chains.AwaitedPayment{}, false
	}
	return chains.AwaitedPayment{Escrow: e, Output: *d.TxoHint(), Nonce: d.Nonce, Confirmations: d.Confirmations, Opened: n.Block}, true
}
