package devnet

import (
	"testing"

	"github.com/swapper-go/swapper/internal/devnet/lp"
	lpwire "github.com/swapper-go/swapper/internal/lp"
	"github.com/swapper-go/swapper/internal/trial"
)

// An LP that has double spent opens another vault, so that it can be tried again
// and can be honest again.
func TestNewVaultAfterDoubleSpend(t *testing.T) {
	t.Parallel()
	k := newKit(t, Options{})
	to := k.recipient().Address.Hex()
	for round := range 2 {
		k.lp().Misbehave(lp.Fault{DoubleSpend: true})
		q := trial.Must(k.client.SPV(k.ctx, k.url, k.spv(to)))(t)
		trial.Must(k.client.PostSPV(k.ctx, k.url, k.chain.Info().ID, q.QuoteID, k.withdrawal(q, to)))(t)
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
			trial.Must(k.client.PostSPV(k.ctx, k.url, k.chain.Info().ID, next.QuoteID, k.withdrawal(next, to)))(t)
		}
	}
}
