package e2e

import (
	"testing"
	"time"

	"github.com/swapper-go/swapper"
	"github.com/swapper-go/swapper/internal/devnet/starknet"
	"github.com/swapper-go/swapper/internal/trial"
)

// One of two nodes of Starknet that misbehaves, whichever is named first, stops no swap
// and loses no money. One that takes transactions and loses them is not the only one
// that has them.
func TestStarknetNodesThatMisbehave(t *testing.T) {
	trial.OnlyFull(t)
	onStarknet(t, func(t *testing.T, o options) {
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
		second := trial.Must(w.net.Starknet.Serve(""))(t)
		for name, fault := range map[string]starknet.NodeFault{
			"loses transactions":               {LoseTransaction: true},
			"loses answers":                    {LoseAnswer: true},
			"is down":                          {Down: true},
			"fails at reading":                 {Fail: []string{"starknet_call", "starknet_getEvents"}},
			"shows nothing in progress":        {NoOpenBlock: true},
			"tries nothing and traces nothing": {Refuse: []string{"starknet_simulateTransactions", "starknet_estimateFee"}, NoTraces: true},
			"takes one question at a time":     {MaxBatch: 1},
			"is behind":                        {Behind: 3},
		} {
			for place, list := range map[string][]string{
				"second": {w.net.Starknet.URL(), second.URL()},
				"first":  {second.URL(), w.net.Starknet.URL()},
			} {
				if fault.Behind > 0 && place == "first" {
					continue // it knows the account's old nonce, so that nothing it hands out is taken until it knows better
				}
				t.Run("the "+place+" "+name, func(t *testing.T) {
					w := w.in(t)
					second.Misbehave(fault)
					urls = list
					if fault.Behind > 0 { // an end needs both nodes' word, and this one comes to it as blocks are found
						defer w.net.Starknet.Pace(time.Second)()
					}
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
