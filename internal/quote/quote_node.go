package quote

import (
	"context"
	"encoding/hex"
	"errors"
	"strings"

	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/internal/async"
	"github.com/swapper-go/swapper/internal/lightning"
	"github.com/swapper-go/swapper/internal/lp"
	"github.com/swapper-go/swapper/internal/lp/verify"
)

// node finds out what the graph says of an LP's Lightning node: of the one that the
// LP names while it still computes its quote, which saves time, else of the
// invoice's payee. The second result is asked once the invoice is there (protocol:
// lp-protocol.md §6.8).
func (o *order) node(ctx context.Context) (lp.Early, func(invoice string) verify.NodeFact) {
	if o.Policy.AnyNode || o.Graph == nil {
		return lp.Early{}, func(string) verify.NodeFact {
			return verify.NodeFact{Err: fault.New(fault.Unsupported, "no Lightning graph is configured")}
		}
	}
	ask := func(ctx context.Context, key string) (*bitcoin.NodeLiquidity, error) {
		n, err := o.Graph.NodeLiquidity(ctx, key)
		if errors.Is(err, bitcoin.ErrNotFound) {
			return nil, nil
		}
		return n, err
	}
	var named string
	var found *async.Future[*bitcoin.NodeLiquidity]
	early := lp.Early{NodeKey: func(key string) { // of every attempt, one after the other
		key = strings.ToLower(key)
		if b, err := hex.DecodeString(key); err != nil || len(b) != 33 || key == named {
			return
		}
		named, found = key, async.Start(ctx, func(ctx context.Context) (*bitcoin.NodeLiquidity, error) { return ask(ctx, key) })
	}}
	return early, func(invoice string) verify.NodeFact {
		inv, err := lightning.Decode(invoice)
		if err != nil {
			return verify.NodeFact{Err: lp.Lie("", "the invoice: %w", err)}
		}
		payee := hex.EncodeToString(inv.Payee[:])
		switch {
		case found == nil:
			n, err := ask(ctx, payee)
			return verify.NodeFact{Node: n, Err: err}
		case named != payee:
			return verify.NodeFact{Node: &bitcoin.NodeLiquidity{PublicKey: named}} // refused, whatever that node can do
		}
		n, err := found.Wait(ctx)
		return verify.NodeFact{Node: n, Err: err}
	}
}
