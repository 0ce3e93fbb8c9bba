package e2e

import (
	"math/big"
	"testing"
	"time"

	"github.com/swapper-go/swapper"
)

// incoming are the requests of the types that pay out on the chain, in WBTC.
func (w *world) incoming() map[swapper.SwapType]func() swapper.CreateSwapInput {
	in := func(source string) func() swapper.CreateSwapInput {
		return func() swapper.CreateSwapInput {
			return swapper.CreateSwapInput{SrcToken: source, DstToken: "CITREA-WBTC", Amount: big.NewInt(100_000), AmountType: swapper.ExactIn, DstAddress: w.address()}
		}
	}
	return map[swapper.SwapType]func() swapper.CreateSwapInput{
		swapper.SwapFromBTCLNAuto:   in("LIGHTNING-BTC"),
		swapper.SwapSPVVaultFromBTC: in("BITCOIN-BTC"),
	}
}

// expire waits for a swap that nobody paid for to end, and looks that nothing of
// it is left.
func (w *world) expire(id string) {
	t := w.t
	t.Helper()
	// A payment that hangs may reach an LP long after its invoice has expired.
	if err := w.net.Advance(30 * 24 * time.Hour); err != nil {
		t.Fatal(err)
	}
	end := w.finish(id)
	if !end.IsExpired || end.IsSuccess || end.IsFailed || end.CurrentAction != nil {
		t.Fatalf("ended as %s: %+v", end.State.Name, end)
	}
	for name, list := range map[string]func() ([]swapper.ListSwapOutput, error){
		"swaps": func() ([]swapper.ListSwapOutput, error) {
			return w.client.ListSwaps(t.Context(), swapper.ListSwapsInput{Signer: w.address()})
		},
		"pending swaps": func() ([]swapper.ListSwapOutput, error) {
			return w.client.ListPendingSwaps(t.Context(), swapper.ListPendingSwapsInput{Signer: w.address()})
		},
	} {
		swaps, err := list()
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range swaps {
			if s.SwapID == id {
				t.Errorf("is among the %s", name)
			}
		}
	}
}

func TestUnpaidQuotesExpire(t *testing.T) {
	t.Parallel()
	w := start(t, options{})
	wbtc := w.net.EVM.Contracts().Token
	for _, requests := range []map[swapper.SwapType]func() swapper.CreateSwapInput{w.outgoing(), w.incoming()} {
		for typ, request := range requests {
			t.Run(string(typ), func(t *testing.T) {
				w := w.in(t)
				before := w.balance(wbtc)
				w.expire(w.create(request()).SwapID)
				if got := w.balance(wbtc); got.Cmp(before) != 0 {
					t.Errorf("has %v, had %v", got, before)
				}
			})
		}
	}
}

// A quote whose LP has gone can expire all the same.
func TestQuoteOfAnLPThatIsGone(t *testing.T) {
	t.Parallel()
	w := start(t, options{})
	s := w.create(w.outgoing()[swapper.SwapToBTC]())
	if err := w.net.LPs[0].Close(); err != nil {
		t.Fatal(err)
	}
	w.expire(s.SwapID)
}
