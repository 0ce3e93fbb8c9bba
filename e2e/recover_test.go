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
	"github.com/swapper-go/swapper/internal/engine"
	"github.com/swapper-go/swapper/internal/swap"
	"github.com/swapper-go/swapper/internal/trial"
	"github.com/swapper-go/swapper/storage"
	"github.com/swapper-go/swapper/storage/bolt"
)

// A provider that was not there when the store was rebuilt is found by its address
// later: a refund that it authorizes need not wait for the escrow's time.
func TestLostStoreAndProviderAway(t *testing.T) {
	trial.OnlyFull(t)
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
			trial.Do(t, os.Remove(w.path))
			w.net.LPs[0].Misbehave(lp.Fault{NeverPay: true, Down: true})
			w.open()
			found := trial.Must(w.client.Recover(w.within(30*time.Second), w.address()))(t)
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
	trial.Do(t, os.Remove(w.path))
	w.open()
	found := trial.Must(w.client.Recover(w.within(30*time.Second), w.address()))(t)
	if len(found) != 1 || found[0].SwapType != swapper.SwapToBTC || found[0].IsFinished {
		t.Fatalf("found %+v", found)
	}
	e := trial.Must(w.store.Get(t.Context(), found[0].SwapID))(t)
	var r swap.Record
	trial.Do(t, json.Unmarshal(e.Body, &r))
	// The chain shows the escrow to all, and an id lets its holder act on the swap.
	if public := hex.EncodeToString(r.Escrow.Real.Hash[:16]); strings.Contains(found[0].SwapID, public) {
		t.Errorf("id %s can be computed", found[0].SwapID)
	}
	trial.Do(t, w.net.Advance(8*24*time.Hour))
	if end := w.finish(found[0].SwapID); end.State.Name != "REFUNDED" {
		t.Fatalf("ended as %s", end.State.Name)
	}
	if got := w.gained(before); got.Sign() != 0 {
		t.Fatalf("%v are missing", got)
	}
}

// A swap that is stored as ended although its escrow is open, because a node once said so, is
// corrected by what the chain remembers, or what another service has stored, and its money
// comes back.
func TestAFalseEndIsCorrected(t *testing.T) {
	trial.OnlyFull(t)
	t.Parallel()
	for name, correct := range map[string]func(w *world, id string, theirs []byte){
		"recovered": func(w *world, id string, _ []byte) {
			found, err := w.client.Recover(w.within(30*time.Second), w.address())
			if err != nil {
				w.t.Fatal(err)
			}
			if len(found) != 1 || found[0].SwapID != id || found[0].IsFinished {
				w.t.Fatalf("found %+v", found)
			}
			if found, err = w.client.Recover(w.within(30*time.Second), w.address()); err != nil || len(found) != 0 {
				w.t.Errorf("once more: %+v, %v", found, err)
			}
		},
		"imported": func(w *world, _ string, theirs []byte) {
			if sum, _ := w.imported(false, theirs); sum != (outcomes{present: 1}) {
				w.t.Errorf("%+v", sum)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := start(t, options{})
			before := w.balance(w.net.EVM.Contracts().Token)
			w.net.LPs[0].Misbehave(lp.Fault{NeverPay: true})
			s := w.create(w.outgoing()[swapper.SwapToBTC]())
			w.until(s.SwapID, is("COMMITED"))
			theirs := w.theirs(s.SwapID)
			w.close()
			w.falsify(s.SwapID, func(r *swap.Record) {
				r.State, r.Ended, r.Settled, r.Escrow.ClaimTx = swap.OutClaimed, swap.At(w.net.Clock.Now().Add(-time.Hour)), true, "0xlie"
			})
			w.open()
			if got := w.status(s.SwapID); got.State.Name != "CLAIMED" || !got.IsSuccess {
				t.Fatalf("stored as %s", got.State.Name)
			}
			correct(w, s.SwapID, theirs)
			if got := w.status(s.SwapID); got.State.Name != "COMMITED" {
				t.Fatalf("still %s", got.State.Name)
			}
			trial.Do(t, w.net.Advance(8*24*time.Hour))
			if end := w.finish(s.SwapID); end.State.Name != "REFUNDED" {
				t.Fatalf("ended as %s", end.State.Name)
			}
			if got := w.gained(before); got.Sign() != 0 {
				t.Fatalf("%v are missing", got)
			}
		})
	}
}

// falsify changes a stored swap while no client is open.
func (w *world) falsify(id string, change func(*swap.Record)) {
	w.t.Helper()
	store, err := bolt.Open(w.t.Context(), w.path, bolt.Options{})
	if err != nil {
		w.t.Fatal(err)
	}
	defer store.Close()
	e, err := store.Get(w.t.Context(), id)
	if err != nil {
		w.t.Fatal(err)
	}
	r, err := swap.Decode(e.ID, e.Version, e.Body)
	if err != nil {
		w.t.Fatal(err)
	}
	next := r.Clone()
	change(next)
	for _, f := range swap.Flows() {
		if f.Type != r.Type {
			continue
		}
		if err := engine.Write(f, w.net.Clock.Now(), r, next, nil, func(e storage.Entry) error { return store.Update(w.t.Context(), e) }); err != nil {
			w.t.Fatal(err)
		}
	}
}
