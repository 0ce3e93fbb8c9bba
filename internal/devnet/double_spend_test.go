package devnet

import (
	"testing"

	"github.com/swapper-go/swapper/internal/devnet/lp"
	lpwire "github.com/swapper-go/swapper/internal/lp"
)

// An LP that has double spent opens another vault, so that it can be tried again
// and can be honest again.
func TestNewVaultAfterDoubleSpend(t *testing.T) {
	t.Parallel()
	k := newKit(t, Options{})
	to := k.recipient().Address.Hex()
	for round := range 2 {
		k.lp().Misbehave(lp.Fault{DoubleSpend: true})
		q := must[lpwire.SPVQuote](t)(k.client.SPV(k.ctx, k.url, k.spv(to)))
		must[string](t)(k.client.PostSPV(k.ctx, k.url, k.chain.Info().ID, q.QuoteID, k.withdrawal(q, to)))
		k.ok(k.Mine(1))
		k.lp().Misbehave(lp.Fault{})
		var next lpwire.SPVQuote
		k.eventually("another vault", func() (found bool) {
			k.ok(k.Mine(1))
			var err error
			next, err = k.client.SPV(k.ctx, k.url, k.spv(to))
			return err == nil
		})
		if next.VaultID.Cmp(q.VaultID) == 0 || next.BTCUTXO == q.BTCUTXO {
			t.Errorf("round %d: the vault that was lost is offered", round)
		}
		if round == 1 {
			must[string](t)(k.client.PostSPV(k.ctx, k.url, k.chain.Info().ID, next.QuoteID, k.withdrawal(next, to)))
		}
	}
}
