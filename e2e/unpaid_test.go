package e2e

import (
	"testing"
	"time"

	"github.com/swapper-go/swapper"
	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/internal/devnet/lp"
	"github.com/swapper-go/swapper/internal/trial"
)

// An LP that says that it has paid, or that the user may have the tokens back, is
// believed when it proves it. Until then there is the time-out.
func TestLPsThatLieAboutThePayment(t *testing.T) {
	trial.OnlyFull(t)
	t.Parallel()
	liesAboutThePayment(t, options{})
}

func liesAboutThePayment(t *testing.T, o options) {
	o.slow = true
	w := start(t, o)
	requests := w.outgoing()
	byKey := o.on != starknetName // there an account says what its signature is
	lies := 0
	for _, test := range []struct {
		name  string
		typ   swapper.SwapType
		fault lp.Fault
		lied  bool // by what it sent alone: else it may be late, or a node may be wrong
	}{
		{"a payment that was not made", swapper.SwapToBTC, lp.Fault{NeverPay: true, FalsePayment: true}, false},
		{"a payment that was not made", swapper.SwapToBTCLN, lp.Fault{NeverPay: true, FalsePayment: true}, true},
		{"another preimage", swapper.SwapToBTCLN, lp.Fault{NeverPay: true, FalsePayment: true, Answer: lp.Lie("getRefundAuthorization", "data.secret", "00ff00ff00ff00ff00ff00ff00ff00ff00ff00ff00ff00ff00ff00ff00ff00ff")}, true},
		{"another payment's transaction", swapper.SwapToBTC, lp.Fault{NeverPay: true, FalsePayment: true, Answer: lp.Lie("getRefundAuthorization", "data.txId", w.transaction())}, true},
		{"a signature for another", swapper.SwapToBTC, lp.Fault{NotPayable: true, Auth: func(a *chains.Auth) { a.Timeout++ }}, byKey},
		{"a signature of somebody else", swapper.SwapToBTCLN, lp.Fault{NotPayable: true, StrangeAuth: true}, byKey},
		{"an unknown code", swapper.SwapToBTC, lp.Fault{NeverPay: true, Answer: lp.Lie("getRefundAuthorization", "code", 12345)}, false},
		{"never heard of it", swapper.SwapToBTCLN, lp.Fault{NeverPay: true, Answer: lp.Lie("getRefundAuthorization", "code", 20007)}, false},
		{"too late", swapper.SwapToBTC, lp.Fault{NeverPay: true, Answer: lp.Lie("getRefundAuthorization", "code", 20010)}, false},
	} {
		t.Run(string(test.typ)+" "+test.name, func(t *testing.T) {
			w := w.in(t)
			before := w.book()
			s := w.create(requests[test.typ]())
			w.net.LPs[0].Misbehave(test.fault)
			defer w.net.LPs[0].Misbehave(lp.Fault{})
			w.act(s.SwapID)
			w.advance(2 * time.Second) // what was seen meanwhile is asked again
			w.reached(s.SwapID, "COMMITED")
			paid := raw(s.Quote.InputAmount)
			w.only(w.since(before), map[string]int64{"user WBTC": -paid, "escrows WBTC": paid})
			if test.lied {
				lies++
			}
			w.punished(lies, test.lied)
			w.advance(8 * 24 * time.Hour)
			w.reached(s.SwapID, "REFUNDABLE")
			w.ended(s.SwapID, "REFUNDED")
			w.only(w.since(before), map[string]int64{})
		})
	}
}

// transaction is one that has nothing to do with any swap.
func (w *world) transaction() string {
	w.t.Helper()
	op, err := w.net.Bitcoin.Faucet(w.net.Taproot.Address, 50_000)
	if err != nil {
		w.t.Fatal(err)
	}
	return op.Hash.String()
}

// An LP that pays and does not claim loses, not the user; one that takes its
// payment back does not get the escrow.
func TestLPsThatPayAndDoNotClaim(t *testing.T) {
	trial.OnlyFull(t)
	t.Parallel()
	paidAndNotClaimed(t, options{})
}

func paidAndNotClaimed(t *testing.T, o options) {
	o.slow = true
	w := start(t, o)
	for _, test := range []struct {
		name string
		typ  swapper.SwapType
		run  func(w *world, out int64, to func() int64) map[string]int64 // what the LP has lost for good
	}{
		{"gone after the payment", swapper.SwapToBTC, func(w *world, out int64, to func() int64) map[string]int64 {
			w.net.LPs[0].Misbehave(lp.Fault{NeverClaim: true, Down: true})
			w.mine(6)
			if got := to(); got != out {
				w.t.Errorf("received %d of %d", got, out)
			}
			return map[string]int64{"LP sats": 0}
		}},
		{"gone after the payment", swapper.SwapToBTCLN, func(w *world, out int64, to func() int64) map[string]int64 {
			w.net.LPs[0].Misbehave(lp.Fault{NeverClaim: true, Down: true})
			return map[string]int64{"LP msat": 0, "recipient msat": out * 1000}
		}},
		{"takes its payment back", swapper.SwapToBTC, func(w *world, out int64, to func() int64) map[string]int64 {
			hot := w.net.LPs[0].Wallet()
			for _, waiting := range w.net.Bitcoin.Waiting() {
				var coins []bitcoin.OutPoint
				for _, in := range waiting.TxIn {
					coins = append(coins, in.PreviousOutPoint)
				}
				back, err := hot.Spend(50, coins)
				if err == nil {
					_, err = w.net.Bitcoin.Send(back)
				}
				if err != nil {
					w.t.Fatal(err)
				}
			}
			w.mine(1)
			if got := to(); got != 0 {
				w.t.Errorf("received %d", got)
			}
			return map[string]int64{"LP sats": 0}
		}},
	} {
		t.Run(string(test.typ)+" "+test.name, func(t *testing.T) {
			w := w.in(t)
			before := w.book()
			to := trial.Must(w.net.Bitcoin.NewWallet(bitcoin.P2WPKH))(t)
			in := w.outgoing()[test.typ]()
			if test.typ == swapper.SwapToBTC {
				in.DstAddress = to.Address.String()
			}
			s := w.create(in)
			w.net.LPs[0].Misbehave(lp.Fault{NeverClaim: true})
			defer w.net.LPs[0].Misbehave(lp.Fault{})
			w.act(s.SwapID)
			w.reached(s.SwapID, "SOFT_CLAIMED")
			lost := test.run(w, raw(s.Quote.OutputAmount), to.Balance)
			w.advance(8 * 24 * time.Hour)
			w.reached(s.SwapID, "REFUNDABLE")
			w.ended(s.SwapID, "REFUNDED")
			changed := w.since(before)
			for name, by := range lost {
				if by == 0 { // whatever it is, it is the LP's
					by = changed[name]
				}
				if by != changed[name] {
					t.Errorf("%s changed by %d, want %d", name, changed[name], by)
				}
				delete(changed, name)
			}
			w.only(changed, map[string]int64{})
		})
	}
}

// A refund and a claim at the same time: whoever is first has it, and the other
// is told.
func TestClaimedWhileRefunding(t *testing.T) {
	t.Parallel()
	claimedWhileRefunding(t, options{})
}

func claimedWhileRefunding(t *testing.T, o options) {
	o.slow = true
	w := start(t, o)
	before := w.book()
	s := w.create(w.outgoing()[swapper.SwapToBTCLN]())
	w.net.LPs[0].Misbehave(lp.Fault{NeverClaim: true})
	w.act(s.SwapID)
	w.reached(s.SwapID, "SOFT_CLAIMED")
	w.advance(8 * 24 * time.Hour)
	late := w.reached(s.SwapID, "REFUNDABLE")
	signed, err := w.user.Sign(asksFor[*swapper.SignSmartChainTransaction](late))
	if err != nil {
		t.Fatal(err)
	}
	w.net.LPs[0].Misbehave(lp.Fault{})
	paid := raw(s.Quote.InputAmount)
	w.eventually("claimed", func() bool { return w.since(before)["LP WBTC"] == paid })
	_, err = w.client.SubmitTransaction(w.within(20*time.Second), swapper.SubmitTransactionInput{SwapID: s.SwapID, SignedTxs: signed})
	t.Logf("the refund: %v", err)
	w.ended(s.SwapID, "CLAIMED")
	w.only(w.since(before), map[string]int64{"user WBTC": -paid, "LP WBTC": paid, "recipient msat": 50_000_000, "LP msat": -50_000_000})
}
