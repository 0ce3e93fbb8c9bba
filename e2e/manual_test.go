package e2e

import (
	"encoding/hex"
	"math/big"
	"testing"
	"time"

	"github.com/swapper-go/swapper"
	"github.com/swapper-go/swapper/internal/devnet/lightning"
	"github.com/swapper-go/swapper/internal/devnet/watchtower"
	"github.com/swapper-go/swapper/internal/trial"
)

// gained reports by how much WBTC the user is richer than before.
func (w *world) gained(before *big.Int) *big.Int {
	w.t.Helper()
	return new(big.Int).Sub(w.wbtc(), before)
}

// manually reports whether the user is to settle, which nobody else does.
func manually(s *swapper.GetSwapStatusOutput) bool {
	return nameOf(s.CurrentAction) == "Settle manually"
}

// Without a watchtower the user settles alone, once somebody else had the time to.
func TestSettledManually(t *testing.T) {
	t.Parallel()
	settledManually(t, options{})
}

func settledManually(t *testing.T, o options) {
	w := start(t, o)
	w.tower.Behave(watchtower.Behaviour{NoEscrows: true, NoVaults: true, NoProofs: true})
	for typ, request := range w.incoming() {
		if typ == swapper.SwapFromBTCLN {
			continue // which nobody else settles
		}
		t.Run(string(typ), func(t *testing.T) {
			w := w.in(t)
			before := w.wbtc()
			s := w.create(request())
			w.until(s.SwapID, func(s *swapper.GetSwapStatusOutput) bool {
				return nameOf(s.CurrentAction) == "Automatic settlement"
			})
			trial.Do(t, w.net.Advance(2*time.Minute))
			w.until(s.SwapID, manually)
			end := w.finish(s.SwapID)
			if !end.IsSuccess {
				t.Fatalf("ended as %s", end.State.Name)
			}
			// Who settles for a vault earns what was set aside for a watchtower.
			if got := w.gained(before); got.Cmp(s.Quote.OutputAmount.RawAmount) < 0 {
				t.Fatalf("received %v, agreed on %v", got, s.Quote.OutputAmount.RawAmount)
			}
		})
	}
}

// The user settles as well what somebody else receives, with an account of his own.
func TestSettledForAnother(t *testing.T) {
	t.Parallel()
	w := start(t, options{})
	w.tower.Behave(watchtower.Behaviour{NoEscrows: true, NoVaults: true, NoProofs: true})
	payee := trial.Must(w.net.EVM.NewAccount())(t)
	in := w.incoming()[swapper.SwapSPVVaultFromBTC]()
	in.DstAddress = payee.Address.Hex()
	s := w.create(in)
	w.until(s.SwapID, func(s *swapper.GetSwapStatusOutput) bool { return nameOf(s.CurrentAction) == "Automatic settlement" })
	trial.Do(t, w.net.Advance(2*time.Minute))
	asked := w.until(s.SwapID, manually).CurrentAction.(*swapper.SignSmartChainTransaction)
	if asked.RequiredSigner != w.address() {
		t.Errorf("%s is to sign, want the user, %s", asked.RequiredSigner, w.address())
	}
	if end := w.finish(s.SwapID); !end.IsSuccess {
		t.Fatalf("ended as %s", end.State.Name)
	}
	if got := trial.Must(w.net.EVM.Balance(t.Context(), w.net.EVM.Contracts().Token, payee.Address))(t); got.Cmp(s.Quote.OutputAmount.RawAmount) != 0 {
		t.Errorf("the payee has %v, agreed on %v", got, s.Quote.OutputAmount.RawAmount)
	}
}

// A swap for a payment hash of the user's own settles once its preimage is given.
func TestOwnPaymentHash(t *testing.T) {
	t.Parallel()
	ownPaymentHash(t, options{})
}

func ownPaymentHash(t *testing.T, o options) {
	w := start(t, o)
	preimage, hash := lightning.Preimage("the user's own")
	in := w.incoming()[swapper.SwapFromBTCLNAuto]()
	in.PaymentHash = hex.EncodeToString(hash[:])
	before := w.wbtc()
	s := w.create(in)
	asked := w.until(s.SwapID, func(s *swapper.GetSwapStatusOutput) bool {
		return s.RequiresSecretReveal != nil && *s.RequiresSecretReveal
	})
	if asked.IsFinished || w.gained(before).Sign() != 0 {
		t.Fatalf("%s without the preimage", asked.State.Name)
	}
	w.user.Secret = func(string) swapper.Secret { return swapper.Secret(hex.EncodeToString(preimage[:])) }
	if end := w.finish(s.SwapID); !end.IsSuccess {
		t.Fatalf("ended as %s", end.State.Name)
	}
	if got := w.gained(before); got.Cmp(s.Quote.OutputAmount.RawAmount) != 0 {
		t.Fatalf("received %v, agreed on %v", got, s.Quote.OutputAmount.RawAmount)
	}
}
