package e2e

import (
	"maps"
	"sync"
	"testing"
	"time"

	"github.com/swapper-go/swapper"
	"github.com/swapper-go/swapper/fault"
	devbitcoin "github.com/swapper-go/swapper/internal/devnet/bitcoin"
	"github.com/swapper-go/swapper/internal/devnet/evm"
	"github.com/swapper-go/swapper/internal/devnet/lp"
	"github.com/swapper-go/swapper/internal/devnet/watchtower"
	"github.com/swapper-go/swapper/internal/trial"
)

// outages are the ways in which one side is not there.
var outages = []struct {
	name string
	on   func(*world)
	evm  bool
	btc  bool
}{
	{"the chain's node is down", func(w *world) { w.net.EVM.Server().Misbehave(evm.Fault{Down: true}) }, true, false},
	{"the chain's node hangs", func(w *world) { w.net.EVM.Server().Misbehave(evm.Fault{Delay: time.Hour}) }, true, false},
	{"the Bitcoin backend is down", func(w *world) { w.net.Bitcoin.Server().Misbehave(devbitcoin.Fault{Down: true}) }, false, true},
	{"the Bitcoin backend hangs", func(w *world) { w.net.Bitcoin.Server().Misbehave(devbitcoin.Fault{Delay: time.Hour}) }, false, true},
	{"the LP hangs", func(w *world) { w.net.LPs[0].Misbehave(lp.Fault{Stall: time.Hour, NeverPay: true, NeverClaim: true}) }, false, false},
	{"all is down", func(w *world) {
		w.net.EVM.Server().Misbehave(evm.Fault{Down: true})
		w.net.Bitcoin.Server().Misbehave(devbitcoin.Fault{Down: true})
		w.net.LPs[0].Misbehave(lp.Fault{Down: true, NeverPay: true, NeverClaim: true})
	}, true, true},
}

// Whoever does not answer hides neither the state nor the steps of a swap; what
// cannot be built says why, and comes back with whoever was away.
func TestOutagesHideNothing(t *testing.T) {
	trial.OnlyFull(t)
	t.Parallel()
	w := start(t, options{slow: true})
	w.tower.Behave(watchtower.Behaviour{NoEscrows: true, NoVaults: true})
	w.well()
	requests := w.outgoing()
	maps.Copy(requests, w.incoming())
	type moment struct {
		name, state string
		typ         swapper.SwapType
		reach       func(id string)
		later       time.Duration // after it is reached
		evm, btc    bool          // needed to build the action
		end         string

		brief  bool
		id     string
		before *swapper.GetSwapStatusOutput
	}
	// In an order in which none spoils another one.
	moments := []*moment{
		{name: "to be refunded", state: "REFUNDABLE", typ: swapper.SwapToBTC, evm: true, end: "REFUNDED", later: 8 * 24 * time.Hour, reach: func(id string) { w.act(id); w.reached(id, "COMMITED") }},
		{name: "to be claimed by hand", state: "CLAIM_COMMITED", typ: swapper.SwapFromBTCLNAuto, evm: true, end: "CLAIM_CLAIMED", reach: func(id string) { w.act(id); w.reached(id, "CLAIM_COMMITED") }},
		{name: "to be settled by hand", state: "BTC_TX_CONFIRMED", typ: swapper.SwapSPVVaultFromBTC, evm: true, btc: true, end: "CLAIMED", later: 2 * time.Minute, reach: func(id string) {
			w.act(id)
			w.reached(id, "BROADCASTED")
			w.mine(2)
			w.reached(id, "BTC_TX_CONFIRMED")
		}},
		{name: "to be opened", state: "CREATED", typ: swapper.SwapToBTC, evm: true},
		{name: "open", state: "COMMITED", typ: swapper.SwapToBTCLN, reach: func(id string) { w.act(id); w.reached(id, "COMMITED") }},
		{name: "to be paid", state: "PR_CREATED", typ: swapper.SwapFromBTCLNAuto, brief: true},
		{name: "waiting for blocks", state: "BROADCASTED", typ: swapper.SwapSPVVaultFromBTC, reach: func(id string) { w.act(id); w.reached(id, "BROADCASTED"); w.mine(1) }},
		{name: "to be signed", state: "CREATED", typ: swapper.SwapSPVVaultFromBTC, btc: true},
	}
	for _, m := range moments {
		m.id = w.create(requests[m.typ]()).SwapID
		if m.reach != nil {
			m.reach(m.id)
		}
		if m.later > 0 {
			w.advance(m.later)
		}
	}
	w.advance(2 * time.Second)
	for _, m := range moments {
		m.before = w.status(m.id)
		if m.before.State.Name != m.state || m.before.ActionError != nil || m.before.CurrentAction == nil {
			t.Fatalf("%s: %s, %+v", m.name, m.before.State.Name, m.before.ActionError)
		}
	}
	for _, o := range outages {
		t.Run(o.name, func(t *testing.T) {
			w := w.in(t)
			for _, m := range moments {
				if m.brief { // its quote would expire before the last outage is over
					m.id = w.create(requests[m.typ]()).SwapID
					m.before = w.status(m.id)
				}
			}
			w.net.Clock.Add(2 * time.Second) // what was learnt before is stale
			o.on(w)
			var all sync.WaitGroup
			answers := make([]*swapper.GetSwapStatusOutput, len(moments))
			for i, m := range moments {
				all.Go(func() {
					var err error
					if answers[i], err = w.user.Look(w.t.Context(), m.id); err != nil {
						t.Errorf("%s: %v", m.name, err)
					}
				})
			}
			all.Wait()
			w.well()
			for i, m := range moments {
				got := answers[i]
				if got == nil {
					continue
				}
				if got.State != m.before.State {
					t.Errorf("%s: is %s", m.name, got.State.Name)
				}
				var want []string
				for _, step := range m.before.Steps {
					want = append(want, step.Status)
				}
				w.steps(got, want...)
				action := nameOf(m.before.CurrentAction)
				if blocked := m.evm && o.evm || m.btc && o.btc; blocked {
					switch action {
					case "Settle manually":
						action = "Automatic settlement" // it is to be done, and cannot be now
					case "Refund":
						action = "Awaiting LP payout"
					default:
						action = ""
					}
					if got.ActionError == nil || got.ActionError.Code != fault.Upstream {
						t.Errorf("%s: the action is missing because of %+v", m.name, got.ActionError)
					}
				} else if got.ActionError != nil {
					t.Errorf("%s: %+v", m.name, got.ActionError)
				}
				if nameOf(got.CurrentAction) != action {
					t.Errorf("%s: asks for %q, want %q", m.name, nameOf(got.CurrentAction), action)
				}
			}
			began := time.Now()
			defer func() { t.Logf("all is as before after %v", time.Since(began)) }()
			for _, m := range moments {
				w.watch(m.id, func(s *swapper.GetSwapStatusOutput) bool {
					return s.ActionError == nil && nameOf(s.CurrentAction) == nameOf(m.before.CurrentAction)
				})
			}
		})
	}
	for _, m := range moments {
		if m.end != "" {
			w.ended(m.id, m.end)
		}
	}
}

// well ends all outages.
func (w *world) well() {
	w.net.EVM.Server().Misbehave(evm.Fault{})
	w.net.Bitcoin.Server().Misbehave(devbitcoin.Fault{})
	w.net.LPs[0].Misbehave(lp.Fault{NeverPay: true, NeverClaim: true})
}
