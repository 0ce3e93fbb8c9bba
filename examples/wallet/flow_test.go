package main

import (
	"strings"
	"sync"
	"testing"
)

// onlyBitcoin lets one swap at a time pay with the user's bitcoin: two would choose the same coins.
var onlyBitcoin sync.Mutex

// Each direction is swapped with the keyboard alone, from the form to the result.
func TestEveryDirection(t *testing.T) {
	t.Parallel()
	chromium(t)
	for _, chain := range []string{"CITREA", "SOLANA", "STARKNET"} {
		t.Run(chain, func(t *testing.T) {
			t.Parallel()
			for _, d := range []struct{ from, to, field, amount string }{
				{"LIGHTNING-BTC", chain + "-WBTC", "pay", "0.0005"},
				{chain + "-WBTC", "LIGHTNING-BTC", "receive", "0.0003"},
				{"BITCOIN-BTC", chain + "-WBTC", "pay", "0.002"},
				{chain + "-USDC", "BITCOIN-BTC", "receive", "0.002"},
			} {
				t.Run(d.from+" to "+d.to, func(t *testing.T) {
					if d.from == "BITCOIN-BTC" {
						onlyBitcoin.Lock()
						defer onlyBitcoin.Unlock()
					}
					p := browse(t, everyChain(t).url)
					p.ask(d.from, d.to, d.field, d.amount)
					if at := get[string](p, `document.activeElement.id`); at != "headline" {
						t.Errorf("the focus is at %q, not at the quote's title", at)
					}
					if fee := p.text("s-fee"); !strings.Contains(fee, " %)") || strings.HasPrefix(fee, "0 ") {
						t.Errorf("the fees are shown as %q", fee)
					}
					if got := p.finish(); got != "received" {
						t.Errorf("ended as %q: %s", got, p.text("lead"))
					}
					if title := p.text("headline"); !strings.HasSuffix(title, " received") {
						t.Errorf("the title is %q", title)
					}
				})
			}
		})
	}
}
