package metrics

import (
	"context"
	"errors"
	"math/big"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/tokens"
	"github.com/swapper-go/swapper/watchtower"
)

// tower says how its claims stand.
type tower []watchtower.Report

func (t tower) Reports(context.Context) ([]watchtower.Report, error) {
	if t == nil {
		return nil, errors.New("the store is away")
	}
	return t, nil
}

func someClaims() tower {
	coin := tokens.Token{Chain: "CITREA", Ticker: "CBTC", Decimals: 18, Address: "0x0"}
	wbtc := tokens.Token{Chain: "CITREA", Ticker: "WBTC", Decimals: 8, Address: "0x1"}
	return tower{
		{Info: chains.Info{Native: coin, Tokens: []tokens.Token{coin, wbtc}}, Balance: big.NewInt(2e18), Waiting: 5, Refused: 3, Late: 90 * time.Second,
			Book: watchtower.Book{Chain: "CITREA", Spent: big.NewInt(5e17), Earned: map[string]*big.Int{"0x1": big.NewInt(150), "0x2": big.NewInt(1)}, Claims: 7, Lost: 2, Left: 1}},
		{Book: watchtower.Book{Chain: "SOLANA", Spent: new(big.Int)}}, // whose nodes do not say the balance
	}
}

// What claims cost and earn, and what waits, is seen by chain.
func TestWatchtower(t *testing.T) {
	m := New(Options{Registry: prometheus.NewRegistry()})
	m.Watchtower(someClaims())
	text := scrape(t, m)
	for _, line := range []string{
		`swapper_watchtower_claims_total{chain="CITREA",outcome="claimed"} 7`, `swapper_watchtower_claims_total{chain="CITREA",outcome="lost"} 2`, `swapper_watchtower_claims_total{chain="CITREA",outcome="left"} 1`,
		`swapper_watchtower_spent_total{chain="CITREA"} 0.5`, `swapper_watchtower_earned_total{chain="CITREA",token="WBTC"} 1.5e-06`, `swapper_watchtower_balance{chain="CITREA"} 2`,
		`swapper_watchtower_waiting{chain="CITREA"} 5`, `swapper_watchtower_refused{chain="CITREA"} 3`, `swapper_watchtower_late_seconds{chain="CITREA"} 90`, `swapper_watchtower_waiting{chain="SOLANA"} 0`,
	} {
		if !strings.Contains(text, line+"\n") {
			t.Errorf("lacks %s in %s", line, text)
		}
	}
	for _, line := range []string{`swapper_watchtower_balance{chain="SOLANA"}`, `token="0x2"`} {
		if strings.Contains(text, line) {
			t.Errorf("has %s, which is not known", line)
		}
	}
	silent := New(Options{Registry: prometheus.NewRegistry()})
	silent.Watchtower(tower(nil))
	if text := scrape(t, silent); strings.Contains(text, "swapper_watchtower") {
		t.Errorf("says of a watchtower that does not answer %s", text)
	}
}
