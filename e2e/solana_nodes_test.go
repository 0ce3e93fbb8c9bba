package e2e

import (
	"testing"

	"github.com/swapper-go/swapper"
	"github.com/swapper-go/swapper/internal/devnet/solana"
	"github.com/swapper-go/swapper/internal/trial"
)

// One of two nodes of Solana that misbehaves, whichever is named first, stops no swap and
// loses no money. One that takes transactions and loses them is not the only one that has
// them.
func TestSolanaNodesThatMisbehave(t *testing.T) {
	trial.OnlyFull(t)
	onSolana(t, func(t *testing.T, o options) {
		var w *world
		var urls []string
		o.config = func(c *swapper.Config) {
			if urls == nil {
				return
			}
			c.Chains = w.chains(urls...)
		}
		w = start(t, o)
		w.close() // each subtest opens it with other nodes
		second := trial.Must(w.net.Solana.Serve(""))(t)
		for name, fault := range map[string]solana.NodeFault{
			"loses transactions": {LoseTransaction: true},
			"loses answers":      {LoseAnswer: true},
			"is down":            {Down: true},
			"fails at reading":   {Fail: []string{"getMultipleAccounts", "getAccountInfo", "getSignaturesForAddress"}},
		} {
			for place, list := range map[string][]string{
				"second": {w.net.Solana.URL(), second.URL()},
				"first":  {second.URL(), w.net.Solana.URL()},
			} {
				t.Run("the "+place+" "+name, func(t *testing.T) {
					w := w.in(t)
					second.Misbehave(fault)
					urls = list
					w.open()
					defer w.close()
					before := w.book()
					s := w.create(w.outgoing()[swapper.SwapToBTCLN]())
					w.act(s.SwapID)
					w.ended(s.SwapID, "CLAIMED")
					paid := raw(s.Quote.InputAmount)
					w.only(w.since(before), map[string]int64{"user WBTC": -paid, "LP WBTC": paid, "LP msat": -50_000_000, "recipient msat": 50_000_000})
				})
			}
		}
	})
}
