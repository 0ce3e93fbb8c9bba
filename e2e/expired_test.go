package e2e

import (
	"maps"
	"math/big"
	"testing"
	"time"

	"github.com/swapper-go/swapper"
	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/internal/devnet/evm"
	"github.com/swapper-go/swapper/internal/devnet/lp"
	"github.com/swapper-go/swapper/internal/trial"
)

// incoming are the requests of the types that pay out on the chain, in WBTC.
func (w *world) incoming() map[swapper.SwapType]func() swapper.CreateSwapInput {
	in := func(source string) func() swapper.CreateSwapInput {
		return func() swapper.CreateSwapInput {
			return swapper.CreateSwapInput{SrcToken: source, DstToken: w.token("WBTC"), Amount: big.NewInt(100_000), AmountType: swapper.ExactIn, DstAddress: w.address()}
		}
	}
	all := map[swapper.SwapType]func() swapper.CreateSwapInput{}
	for source, typ := range w.incomingTypes() {
		all[typ] = in(source + "-BTC")
	}
	return all
}

// expire waits for a swap that nobody paid for to end, and looks that nothing of
// it is left.
func (w *world) expire(id string) {
	t := w.t
	t.Helper()
	// A payment that hangs may reach an LP long after its invoice has expired.
	trial.Do(t, w.net.Advance(30*24*time.Hour))
	w.ended(id, "QUOTE_EXPIRED")
}

func TestUnpaidQuotesExpire(t *testing.T) {
	t.Parallel()
	unpaidQuotesExpire(t, options{})
}

func unpaidQuotesExpire(t *testing.T, o options) {
	w := start(t, o)
	requests := w.outgoing()
	maps.Copy(requests, w.incoming())
	for typ, request := range requests {
		t.Run(string(typ), func(t *testing.T) {
			w := w.in(t)
			before := w.book()
			w.expire(w.create(request()).SwapID)
			w.only(w.since(before), map[string]int64{})
		})
	}
}

// gone reports whether nothing is known of a swap any more.
func (w *world) gone(id string) bool {
	_, err := w.client.GetSwapStatus(w.t.Context(), swapper.GetSwapStatusInput{SwapID: id})
	return fault.CodeOf(err) == fault.NotFound
}

// A day after its end an unused quote is deleted, once the chain was heard to know
// nothing of it. What may hold money is kept, for whoever asks for it.
func TestPurge(t *testing.T) {
	trial.OnlyFull(t)
	t.Parallel()
	w := start(t, options{slow: true})
	requests := w.outgoing()
	maps.Copy(requests, w.incoming())
	var unused []string
	for _, typ := range []swapper.SwapType{swapper.SwapToBTC, swapper.SwapToBTCLN, swapper.SwapFromBTCLNAuto, swapper.SwapSPVVaultFromBTC} {
		unused = append(unused, w.create(requests[typ]()).SwapID)
	}
	// One that an LP was given, and one that was opened and refunded.
	w.net.LPs[0].Misbehave(lp.Fault{Withhold: true, NeverPay: true})
	posted := w.create(requests[swapper.SwapSPVVaultFromBTC]()).SwapID
	w.act(posted)
	w.reached(posted, "POSTED")
	opened := w.create(requests[swapper.SwapToBTC]()).SwapID
	w.act(opened)
	w.reached(opened, "COMMITED")
	w.advance(30 * 24 * time.Hour)
	for _, id := range unused {
		w.ended(id, "QUOTE_EXPIRED")
	}
	w.ended(opened, "REFUNDED")
	w.user.Bitcoin = w.net.Wallet
	w.takeBack(w.allCoins())
	w.mine(1)
	w.ended(posted, "QUOTE_EXPIRED")

	w.advance(23 * time.Hour)
	for _, id := range unused {
		if w.gone(id) {
			t.Error("deleted within a day")
		}
	}
	w.net.EVM.Server().Misbehave(evm.Fault{Down: true})
	w.net.Clock.Add(24 * time.Hour)
	time.Sleep(500 * time.Millisecond) // the purge begins within a tenth of a second
	for _, id := range unused[:3] {
		if w.gone(id) {
			t.Error("deleted while the chain is silent")
		}
	}
	w.net.EVM.Server().Misbehave(evm.Fault{})
	for _, id := range unused {
		// Passes that began while the chain was silent end first.
		for ctx := w.within(2 * time.Minute); !w.gone(id); {
			select {
			case <-ctx.Done():
				t.Fatal("not deleted")
			case <-time.After(100 * time.Millisecond):
				w.net.Clock.Add(10 * time.Second)
			}
		}
	}
	if w.gone(posted) || w.gone(opened) {
		t.Error("a swap that was used is deleted")
	}
}

// A quote whose LP has gone can expire all the same.
func TestQuoteOfAnLPThatIsGone(t *testing.T) {
	t.Parallel()
	quoteOfAnLPThatIsGone(t, options{})
}

func quoteOfAnLPThatIsGone(t *testing.T, o options) {
	w := start(t, o)
	s := w.create(w.outgoing()[swapper.SwapToBTC]())
	trial.Do(t, w.net.LPs[0].Close())
	w.expire(s.SwapID)
}
