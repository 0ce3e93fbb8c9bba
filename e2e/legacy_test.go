package e2e

import (
	"encoding/hex"
	"math/big"
	"strings"
	"testing"
	"time"

	"github.com/btcsuite/btcd/wire"

	"github.com/swapper-go/swapper"
	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/internal/devnet/lightning"
	"github.com/swapper-go/swapper/internal/devnet/lp"
	"github.com/swapper-go/swapper/internal/devnet/watchtower"
	solwire "github.com/swapper-go/swapper/internal/solana/wire"
	"github.com/swapper-go/swapper/internal/trial"
)

// legacy is a swap of a type that pays out on Solana.
func (w *world) legacy(source string) *swapper.CreateSwapOutput {
	w.t.Helper()
	s := w.create(w.incoming()[w.incomingTypes()[source]]())
	w.shown(w.status(s.SwapID), "PR_CREATED")
	return s
}

// opened is a swap from Bitcoin whose escrow the user has opened.
func (w *world) opened() *swapper.CreateSwapOutput {
	w.t.Helper()
	s := w.legacy("BITCOIN")
	w.act(s.SwapID)
	w.reached(s.SwapID, "CLAIM_COMMITED")
	return s
}

// settledFromBitcoin is what a swap from Bitcoin that settled has changed: the bitcoin
// is at an address that the LP alone knows.
func (w *world) settledFromBitcoin(s *swapper.CreateSwapOutput, before book) {
	w.t.Helper()
	w.ended(s.SwapID, "CLAIM_CLAIMED")
	changed, out := w.since(before), raw(s.Quote.OutputAmount)
	if paid := -changed["user sats"]; paid < raw(s.Quote.InputAmount) || paid > raw(s.Quote.InputAmount)+10_000 {
		w.t.Errorf("the user paid %d sats, agreed on %s", paid, s.Quote.InputAmount.RawAmount)
	}
	delete(changed, "user sats")
	w.only(changed, map[string]int64{"user WBTC": out, "LP WBTC": -out})
}

func TestLegacyFromBitcoin(t *testing.T) {
	trial.OnlyFull(t)
	onSolana(t, func(t *testing.T, o options) {
		o.slow = true
		w := start(t, o)
		t.Run("by hand", func(t *testing.T) {
			w := w.in(t)
			w.tower.Behave(watchtower.Behaviour{NoProofs: true})
			defer w.tower.Behave(watchtower.Behaviour{})
			before := w.book()
			s := w.opened()
			out := raw(s.Quote.OutputAmount)
			if reward := s.Quote.Fees.NetworkOutput; reward == nil || raw(*reward) <= 0 {
				w.t.Errorf("the quote shows a reward of %v for the claim", reward)
			}
			w.only(w.since(before), map[string]int64{"LP WBTC": -out, "escrows WBTC": out})
			w.act(s.SwapID)
			w.mine(2)
			w.reached(s.SwapID, "BTC_TX_CONFIRMED")
			w.advance(2 * time.Minute)
			w.watch(s.SwapID, manually)
			w.settledFromBitcoin(s, before)
		})
		t.Run("the LP is gone once it is opened", func(t *testing.T) {
			w := w.in(t)
			before := w.book()
			s := w.opened()
			w.net.LPs[0].Misbehave(lp.Fault{Down: true})
			defer w.net.LPs[0].Misbehave(lp.Fault{})
			w.act(s.SwapID)
			w.mine(2)
			w.settledFromBitcoin(s, before)
		})
		t.Run("nobody pays", func(t *testing.T) {
			w := w.in(t)
			before := w.book()
			s := w.opened()
			w.advance(4 * time.Hour)
			w.reached(s.SwapID, "EXPIRED")
			w.advance(3 * time.Hour)
			w.ended(s.SwapID, "FAILED")
			w.only(w.since(before), map[string]int64{})
		})
		t.Run("the payment is double-spent", func(t *testing.T) {
			w := w.in(t)
			before := w.book()
			s := w.opened()
			w.act(s.SwapID)
			w.watch(s.SwapID, func(s *swapper.GetSwapStatusOutput) bool { return s.Steps[1].Status == "received" })
			for _, waiting := range w.net.Bitcoin.Waiting() {
				var coins []bitcoin.OutPoint
				for _, in := range waiting.TxIn {
					coins = append(coins, in.PreviousOutPoint)
				}
				if !w.net.Bitcoin.Evict(waiting.TxHash()) {
					t.Fatal("the payment cannot be forgotten")
				}
				back, err := w.net.Wallet.Spend(50, coins)
				if err == nil {
					_, err = w.net.Bitcoin.Send(back)
				}
				if err != nil {
					t.Fatal(err)
				}
			}
			w.mine(1)
			if s := w.status(s.SwapID); s.State.Name == "BTC_TX_CONFIRMED" || s.IsFinished {
				t.Errorf("is %s without a payment", s.State.Name)
			}
			w.advance(7 * time.Hour)
			w.ended(s.SwapID, "FAILED")
			changed := w.since(before)
			delete(changed, "user sats") // the fee of taking it back
			w.only(changed, map[string]int64{})
		})
		t.Run("the payment is in a block that is undone", func(t *testing.T) {
			w := w.in(t)
			w.tower.Behave(watchtower.Behaviour{NoProofs: true})
			defer w.tower.Behave(watchtower.Behaviour{})
			before := w.book()
			s := w.opened()
			w.act(s.SwapID)
			w.mine(2)
			w.reached(s.SwapID, "BTC_TX_CONFIRMED")
			trial.Do(t, w.net.Bitcoin.Reorg(2))
			w.watch(s.SwapID, is("CLAIM_COMMITED"))
			w.tower.Behave(watchtower.Behaviour{})
			w.mine(3)
			w.settledFromBitcoin(s, before)
		})
		t.Run("paid elsewhere, by another wallet", func(t *testing.T) {
			w := w.in(t)
			before := w.book()
			s := w.opened()
			asked := w.look(s.SwapID)
			pay := asksFor[*swapper.SendToAddress](asked)
			if pay == nil {
				t.Fatalf("asks for %q without a wallet", nameOf(asked.CurrentAction))
			}
			to := trial.Must(bitcoin.ParseAddress(pay.Txs[0].Address, bitcoin.Regtest))(t)
			if _, err := w.net.Wallet.Pay(5, wire.NewTxOut(raw(pay.Txs[0].Amount), to.Script())); err != nil {
				t.Fatal(err)
			}
			w.mine(2)
			w.watch(s.SwapID, is("CLAIM_CLAIMED")) // a wallet would be asked to pay until the payment is seen
			w.settledFromBitcoin(s, before)
		})
	})
}

func TestLegacyFromLightning(t *testing.T) {
	trial.OnlyFull(t)
	t.Parallel()
	w := start(t, options{on: solwire.V1, slow: true})
	t.Run("claimed with one's own preimage", func(t *testing.T) {
		w := w.in(t)
		preimage, hash := lightning.Preimage(t.Name())
		in := w.incoming()[swapper.SwapFromBTCLN]()
		in.PaymentHash = hex.EncodeToString(hash[:])
		before := w.book()
		s := w.create(in)
		w.act(s.SwapID)
		asked := w.watch(s.SwapID, func(s *swapper.GetSwapStatusOutput) bool {
			return s.RequiresSecretReveal != nil && *s.RequiresSecretReveal
		})
		if asked.State.Name != "PR_PAID" || nameOf(asked.CurrentAction) != "Initiate swap" { // alone, without the claim
			t.Errorf("%s asks for %q", asked.State.Name, nameOf(asked.CurrentAction))
		}
		w.user.Secret = func(string) swapper.Secret { return swapper.Secret(hex.EncodeToString(preimage[:])) }
		defer func() { w.user.Secret = nil }()
		w.ended(s.SwapID, "CLAIM_CLAIMED")
		w.eventually("settled", func() bool { return w.since(before)["LP msat"] != 0 })
		out := raw(s.Quote.OutputAmount)
		w.only(w.since(before), map[string]int64{"user msat": -100_000_000, "LP msat": 100_000_000, "LP WBTC": -out, "user WBTC": out})
	})
	t.Run("the LP never lets it be opened", func(t *testing.T) {
		w := w.in(t)
		before := w.book()
		s := w.legacy("LIGHTNING")
		w.net.LPs[0].Misbehave(lp.Fault{NeverOpen: true})
		defer w.net.LPs[0].Misbehave(lp.Fault{})
		w.act(s.SwapID)
		w.advance(2 * time.Minute)
		w.reached(s.SwapID, "QUOTE_SOFT_EXPIRED")
		w.advance(3 * 24 * time.Hour)
		w.ended(s.SwapID, "QUOTE_EXPIRED")
		w.timeOut()
		w.only(w.since(before), map[string]int64{})
	})
	t.Run("the user does not open it", func(t *testing.T) {
		w := w.in(t)
		before := w.book()
		s := w.legacy("LIGHTNING")
		w.act(s.SwapID)
		w.reached(s.SwapID, "PR_PAID")
		w.advance(15 * time.Minute)
		w.until(s.SwapID, is("QUOTE_EXPIRED"))
		w.eventually("given back", func() bool { return len(w.since(before)) == 0 })
	})
	for field, lie := range map[string]lp.EscrowLie{
		"amount":          {Terms: func(s *chains.Spec) { s.Amount = new(big.Int).Sub(s.Amount, big.NewInt(1)) }},
		"token":           {Terms: func(s *chains.Spec) { s.Token = tokenOf("USDC").String() }},
		"securityDeposit": {Terms: func(s *chains.Spec) { s.SecurityDeposit = new(big.Int).Add(s.SecurityDeposit, big.NewInt(1)) }},
		"claimerBounty":   {Terms: func(s *chains.Spec) { s.ClaimerBounty = big.NewInt(1) }},
		"expiry":          {Terms: func(s *chains.Spec) { s.Expiry -= 2400 - 610 }}, // ten minutes are needed for the claim alone
		"paymentHash":     {Terms: func(s *chains.Spec) { s.Condition.PaymentHash[0] ^= 1 }},
		"offerer":         {Terms: func(s *chains.Spec) { s.Offerer = w.net.Solana.Watchtower.Address.String() }},
		"programId":       {Solana: func(d *solwire.SwapData) { d.ProgramID = w.net.Solana.Programs()[1].Swap }},
	} {
		t.Run("a false escrow: "+field, func(t *testing.T) {
			w := w.in(t)
			before := w.book()
			s := w.legacy("LIGHTNING")
			w.net.LPs[0].Misbehave(lp.Fault{Escrow: lie})
			w.act(s.SwapID)
			told := w.watch(s.SwapID, func(s *swapper.GetSwapStatusOutput) bool { return s.ActionError != nil })
			w.net.LPs[0].Misbehave(lp.Fault{})
			if told.State.Name != "PR_CREATED" || told.CurrentAction != nil || !strings.Contains(strings.ToLower(told.ActionError.Error), strings.ToLower(field)) {
				t.Errorf("%s, asks for %q: %+v", told.State.Name, nameOf(told.CurrentAction), told.ActionError)
			}
			w.advance(3 * 24 * time.Hour)
			w.ended(s.SwapID, "QUOTE_EXPIRED")
			w.timeOut()
			w.only(w.since(before), map[string]int64{})
		})
	}
}
