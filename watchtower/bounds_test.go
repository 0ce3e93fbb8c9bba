package watchtower

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"math/big"
	"testing"
	"time"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/internal/trial"
	"github.com/swapper-go/swapper/tokens"
)

// What strangers open is watched up to a number, a time and its expiry, if it can pay; those whose claims earn
// most are kept.
func TestWhatIsWatchedIsBounded(t *testing.T) {
	now := time.Unix(1_700_000_000, 0)
	c := &claimer{config: Config{Now: func() time.Time { return now }}, log: slog.New(slog.DiscardHandler), self: "self",
		info: chains.Info{Native: tokens.Token{Address: "native"}}}
	of := &payments{}
	var opened []chains.AwaitedPayment
	add := func(name string, bounty int64, change func(*chains.AwaitedPayment)) {
		p := chains.AwaitedPayment{Opened: chains.Block{Time: now.Unix()},
			Escrow: chains.Escrow{Token: "native", DepositToken: "native", ClaimerBounty: big.NewInt(bounty), Expiry: now.Add(time.Hour).Unix(), Data: json.RawMessage(name)}}
		change(&p)
		opened = append(opened, p, p) // a node may say it twice
	}
	same := func(*chains.AwaitedPayment) {}
	c.costs = map[chains.Cost]*big.Int{c.proof(chains.Escrow{Token: "native"}).Cost: big.NewInt(100)}
	weigh := func() {
		t.Helper()
		of.add(opened, nil)
		opened = nil
		trial.Do(t, c.weigh(t.Context(), nil, of))
	}
	add("nothing", 0, same)
	add("an unknown token", 1000, func(p *chains.AwaitedPayment) { p.Escrow.Token = "other" })
	add("pay of unknown worth", 1000, func(p *chains.AwaitedPayment) { p.Escrow.DepositToken = "other" })
	add("expired", 1000, func(p *chains.AwaitedPayment) { p.Escrow.Expiry = now.Unix() - 1 })
	add("old", 1000, func(p *chains.AwaitedPayment) { p.Opened.Time = now.Add(-awaitedLife).Unix() - 1 })
	add("too little at the moment", 99, same)
	add("enough", 100, same)
	weigh()
	if len(of.all) != 2 || of.all[0].pays || !of.all[1].pays || string(of.all[1].Escrow.Data) != "enough" {
		t.Fatalf("%d are watched", len(of.all))
	}
	for n := range int64(maxAwaited) {
		add(fmt.Sprint(n), 200+n%7, same)
	}
	weigh()
	if len(of.all) != maxAwaited {
		t.Errorf("%d are watched", len(of.all))
	}
	for _, a := range of.all {
		if a.pay.Int64() < 200 {
			t.Errorf("the one with a bounty of %s stays", a.pay)
		}
	}
	now = now.Add(2 * time.Hour)
	if weigh(); len(of.all) != 0 {
		t.Errorf("%d are watched after their expiry", len(of.all))
	}
}

// Blocks that Bitcoin has replaced, or that are too deep, are forgotten, with the payments in what was replaced.
func TestBlocksAreForgotten(t *testing.T) {
	b := blocks{read: map[bitcoin.Hash]*block{}, tip: 500}
	add := func(n byte, height uint32) *block {
		one := &block{hash: bitcoin.Hash{n}, height: height}
		b.read[one.hash] = one
		return one
	}
	best := []*block{add(1, 500), add(2, 499)}
	replaced, below, deep := add(3, 499), add(4, 498), add(5, 500-maxBlocks)
	there, gone := &awaited{found: &found{block: best[1].hash, height: 499}, searched: true}, &awaited{found: &found{block: replaced.hash, height: 499}, searched: true}
	b.forget(best, []*awaited{there, gone})
	if b.read[replaced.hash] != nil || b.read[deep.hash] != nil || b.read[below.hash] == nil || len(b.read) != 3 {
		t.Errorf("left: %v", b.read)
	}
	if there.found == nil || !there.searched || gone.found != nil || gone.searched {
		t.Errorf("%+v, %+v", there, gone)
	}
}
