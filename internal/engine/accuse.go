package engine

import (
	"context"

	"github.com/swapper-go/swapper/internal/lp"
	"github.com/swapper-go/swapper/internal/swap"
	"github.com/swapper-go/swapper/storage"
)

// accuse has the LP of a swap punished for the lie that was just stored with it. Only
// one writer can have stored it, so that one process does this once. If the process is
// killed in between, only the evidence remains. If another swap has the same payment
// hash, the LP may have meant that one, and is not punished.
func (g *Engine) accuse(ctx context.Context, r *swap.Record) {
	if g.punish == nil || r.LP.URL == "" {
		return
	}
	shared := len(r.Shared) > 0
	for _, q := range r.SameHash() {
		other, err := g.Rival(ctx, r.ID, q)
		if err != nil {
			g.log.Warn("a liquidity provider's lie has no consequence, because the store did not answer", "swap", storage.Label(r.ID), "lp", r.LP.URL, "lie", r.Lie.Reason, "err", err)
			return
		}
		shared = shared || other
	}
	if shared {
		g.log.Warn("a liquidity provider's lie has no consequence, because another swap has the same payment hash", "swap", storage.Label(r.ID), "lp", r.LP.URL, "lie", r.Lie.Reason)
		return
	}
	service, token := lp.Service(r.Type), r.Terms.Output.Token
	if service.ToBitcoin() {
		token = r.Terms.Input.Token
	}
	g.punish(r.LP.URL, lp.Pair{Service: service, Chain: r.Chain, Token: token.Address}, r.Lie.Error(r.LP.URL))
}
