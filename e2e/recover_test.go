package e2e

import (
	"encoding/hex"
	"encoding/json"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/swapper-go/swapper"
	"github.com/swapper-go/swapper/internal/devnet/lp"
	"github.com/swapper-go/swapper/swap"
)

// A provider that was not there when the store was rebuilt is found by its address
// later: a refund that it authorizes need not wait for the escrow's time.
func TestLostStoreAndProviderAway(t *testing.T) {
	t.Parallel()
	for _, typ := range []swapper.SwapType{swapper.SwapToBTC, swapper.SwapToBTCLN} {
		t.Run(string(typ), func(t *testing.T) {
			t.Parallel()
			w := start(t, options{})
			wbtc := w.net.EVM.Contracts().Token
			before := w.balance(wbtc)
			w.net.LPs[0].Misbehave(lp.Fault{NeverPay: true})
			s := w.create(w.outgoing()[typ]())
			w.until(s.SwapID, is("COMMITED"))
			w.close()
			if err := os.Remove(w.path); err != nil {
				t.Fatal(err)
			}
			w.net.LPs[0].Misbehave(lp.Fault{NeverPay: true, Down: true})
			w.open()
			found, err := w.client.Recover(w.within(30*time.Second), w.address())
			if err != nil {
				t.Fatal(err)
			}
			if len(found) != 1 || found[0].SwapType != typ || found[0].IsFinished {
				t.Fatalf("found %+v", found)
			}
			id := found[0].SwapID
			w.until(id, is("COMMITED"))
			w.net.LPs[0].Misbehave(lp.Fault{NotPayable: true})
			if _, err := w.client.GetSupportedTokens(t.Context(), swapper.GetSupportedTokensInput{Side: swapper.SideInput}); err != nil {
				t.Fatal(err) // providers are loaded again when somebody wants one
			}
			if end := w.finish(id); end.State.Name != "REFUNDED" {
				t.Fatalf("ended as %s", end.State.Name)
			}
			if got := w.gained(before); got.Sign() != 0 {
				t.Fatalf("%v are missing", got)
			}
		})
	}
}

// Whoever loses the store gets the money back by what the chain remembers.
func TestLostStore(t *testing.T) {
	t.Parallel()
	w := start(t, options{})
	wbtc := w.net.EVM.Contracts().Token
	before := w.balance(wbtc)
	w.net.LPs[0].Misbehave(lp.Fault{NeverPay: true})
	s := w.create(w.outgoing()[swapper.SwapToBTC]())
	w.until(s.SwapID, func(s *swapper.GetSwapStatusOutput) bool { return s.State.Name == "COMMITED" })
	if w.gained(before).Sign() >= 0 {
		t.Fatal("nothing is locked")
	}

	w.close()
	if err := os.Remove(w.path); err != nil {
		t.Fatal(err)
	}
	w.open()
	found, err := w.client.Recover(w.within(30*time.Second), w.address())
	if err != nil {
		t.Fatal(err)
	}
	if len(found) != 1 || found[0].SwapType != swapper.SwapToBTC || found[0].IsFinished {
		t.Fatalf("found %+v", found)
	}
	e, err := w.store.Get(t.Context(), found[0].SwapID)
	if err != nil {
		t.Fatal(err)
	}
	var r swap.Record
	if err := json.Unmarshal(e.Body, &r); err != nil {
		t.Fatal(err)
	}
	// The chain shows the escrow to all, and an id lets its holder act on the swap.
	if public := hex.EncodeToString(r.Escrow.Real.Hash[:16]); strings.Contains(found[0].SwapID, public) {
		t.Errorf("id %s can be computed", found[0].SwapID)
	}
	if err := w.net.Advance(8 * 24 * time.Hour); err != nil {
		t.Fatal(err)
	}
	if end := w.finish(found[0].SwapID); end.State.Name != "REFUNDED" {
		t.Fatalf("ended as %s", end.State.Name)
	}
	if got := w.gained(before); got.Sign() != 0 {
		t.Fatalf("%v are missing", got)
	}
}
