package engine

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/internal/lp"
	"github.com/swapper-go/swapper/internal/swap"
	"github.com/swapper-go/swapper/storage"
)

// After its expiry a quote that nobody has paid for is over for the caller, of every
// type, once an answer says so: it is finished, expired, asks for nothing and is not
// pending; and it returns when something was under way after all. While those are away who
// can tell it goes on as expired softly, for a day at most.
func TestUnpaidQuoteIsOverAtItsExpiry(t *testing.T) {
	start := time.Unix(1_700_000_000, 0)
	for _, c := range waysOut() {
		t.Run(c.flow.Type.String(), func(t *testing.T) {
			w := &liar{now: start, truth: &truth{}}
			g := toyEngine(t, new(storage.Memory), w, &toyExecutor{}, c.flow)
			g.Now = func() time.Time { return w.now }
			r := unused(c.record(0, start))
			add(t, g, r)
			pending := func() (n int) {
				for r, err := range g.List(t.Context(), "CITREA", "0x1", true, nil, 0) {
					if err != nil || r.ID != "a" {
						t.Fatal(err)
					}
					n++
				}
				return n
			}
			w.now = start.Add(10*time.Minute - time.Millisecond)
			if v := g.StoredView(r); v.Row.Finished || v.Row.Expired || pending() != 1 {
				t.Errorf("before its expiry: %+v, %d pending", v.Row, pending())
			}
			w.now = start.Add(10 * time.Minute)
			here := c.flow.Type == swap.SPVFromBTC // who pays hands it in here
			if v := g.StoredView(r); v.Row.Finished != here || v.Row.Expired != here || v.Row.Failed || v.Action != nil || v.Steps[0].Status != "soft_expired" || pending() == 1 == here {
				t.Errorf("at its expiry: %+v, %+v, %d pending", v, v.Steps, pending())
			}
			w.now, w.away = start.Add(10*time.Minute+time.Second), true
			res := advance(t, g, "a", nil)
			if v := g.View(res); v.Row.Finished != here || v.Row.Expired != here || v.Action != nil || pending() == 1 == here {
				t.Errorf("nothing heard: %+v, %+v, %d pending", v, v.Steps, pending())
			}
			day := *res
			day.At = start.Add(24*time.Hour + 10*time.Minute)
			if v := g.View(&day); !v.Row.Finished || !v.Row.Expired || v.Action != nil {
				t.Errorf("nothing heard for a day: %+v", v.Row)
			}
			w.now, w.away = start.Add(11*time.Minute), false
			switch c.flow.Type {
			case swap.FromBTCLN, swap.FromBTCLNAuto:
				w.truth = &truth{lp: &lp.Status{Code: lp.CodeExpired}}
			case swap.TrustedFromBTCLN:
				w.truth = &truth{lp: &lp.Status{Code: lp.CodeGasUnpaid}}
			}
			res = advance(t, g, "a", nil)
			if v := g.View(res); !v.Row.Finished || !v.Row.Expired || v.Action != nil || pending() != 0 {
				t.Errorf("after a look: %+v, %d pending", v.Row, pending())
			}
			if row, _ := c.flow.State(res.Record.State); !row.Watched || res.Record.Settled && c.flow.Type != swap.SPVFromBTC {
				t.Errorf("nobody looks at %s", row.Name)
			}
			if c.flow.Type == swap.SPVFromBTC {
				return // nobody pays without handing a transaction in
			}
			w.now = start.Add(20 * time.Minute)
			paid := c.truths[1]
			paid.escrow = chains.EscrowFact{State: chains.EscrowOpen}
			if c.flow.Type == swap.TrustedFromBTC {
				paid.received = []*bitcoin.Tx{c.truths[0].received[0]}
			}
			w.truth = &paid
			switch c.flow.Type {
			case swap.FromBTCLNAuto:
				w.delivers = res.Record.Escrow.Expected
			case swap.FromBTCLN:
				w.delivers = res.Record.Escrow.Expected
				paid.escrow, paid.lp = chains.EscrowFact{}, held()
			}
			res = advance(t, g, "a", swap.Look{})
			if v := g.View(res); v.Row.Expired || v.Row.Finished || pending() != 1 {
				t.Errorf("paid after all: %+v, %d pending", v.Row, pending())
			}
		})
	}
}

// unused makes a record of the middle of a swap one of its beginning.
func unused(r *swap.Record) *swap.Record {
	r.Seen, r.Tried, r.PayoutTx = swap.Seen{}, nil, ""
	switch r.Type {
	case swap.FromBTCLN, swap.FromBTCLNAuto:
		r.Escrow.Expected, r.Escrow.Real = r.Escrow.Real, nil
	case swap.SPVFromBTC:
		r.Bitcoin = &swap.BitcoinPart{Confirmations: 3}
	}
	return r
}

// held is what an LP says that holds a Lightning payment, and lets the user open the
// escrow.
func held() *lp.Status {
	return &lp.Status{Code: lp.CodeDone, Escrow: json.RawMessage(`{}`), Auth: &chains.Auth{Timeout: 1 << 40}}
}
