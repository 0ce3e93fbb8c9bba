package e2e

import (
	"math/big"
	"strings"
	"testing"
	"time"

	"github.com/swapper-go/swapper"
	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/internal/devnet/lp"
	"github.com/swapper-go/swapper/internal/trial"
)

// withdrawal creates a swap through a vault, without doing anything for it.
func (w *world) withdrawal(token string) *swapper.CreateSwapOutput {
	w.t.Helper()
	return w.create(swapper.CreateSwapInput{SrcToken: "BITCOIN-BTC", DstToken: w.token(token), Amount: big.NewInt(200_000), AmountType: swapper.ExactIn, DstAddress: w.address()})
}

// post signs the transaction of a vault swap and hands it in.
func (w *world) post(id string, patience time.Duration) error {
	w.t.Helper()
	s, err := w.user.Look(w.t.Context(), id)
	if err != nil {
		w.t.Fatal(err)
	}
	return w.user.Do(w.within(patience), id, s.CurrentAction)
}

// inputs returns what a posted transaction spends of the user's.
func (w *world) inputs(id string) []bitcoin.OutPoint {
	w.t.Helper()
	s, err := w.user.Look(w.t.Context(), id)
	if err != nil {
		w.t.Fatal(err)
	}
	for _, tx := range w.net.Bitcoin.Waiting() {
		if tx.TxHash().String() != s.Steps[0].InitTxID {
			continue
		}
		var all []bitcoin.OutPoint
		for _, in := range tx.TxIn[1:] {
			all = append(all, in.PreviousOutPoint)
		}
		return all
	}
	w.t.Fatalf("%s does not wait", s.Steps[0].InitTxID)
	return nil
}

// takeBack spends coins of the user's to the user again, for more than any
// withdrawal pays.
func (w *world) takeBack(coins []bitcoin.OutPoint) {
	w.t.Helper()
	tx, err := w.user.Bitcoin.Spend(50, coins)
	if err != nil {
		w.t.Fatal(err)
	}
	if _, err := w.net.Bitcoin.Send(tx); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) advance(d time.Duration) {
	w.t.Helper()
	if err := w.net.Advance(d); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) mine(n int) {
	w.t.Helper()
	if err := w.net.Mine(n); err != nil {
		w.t.Fatal(err)
	}
}

// Whatever becomes of a signed transaction that an LP was given, the user has
// either the tokens or the bitcoin.
func TestPostedTransactionsGoAstray(t *testing.T) {
	trial.OnlyFull(t)
	t.Parallel()
	postedTransactionsGoAstray(t, options{})
}

func postedTransactionsGoAstray(t *testing.T, o options) {
	o.slow = true
	w := start(t, o)
	const patience = 20 * time.Second
	for _, test := range []struct {
		name  string
		fault lp.Fault // from the moment on at which the transaction is handed in
		token string
		run   func(w *world, id string)
		end   string
	}{
		{"the LP loses its answer", lp.Fault{LosePost: true}, "WBTC", func(w *world, id string) {
			if err := w.post(id, patience); err != nil {
				w.t.Error(err)
			}
			w.reached(id, "BROADCASTED")
			w.mine(2)
		}, "CLAIMED"},
		{"the LP says no and sends it all the same", lp.Fault{RefusePost: true}, "WBTC", func(w *world, id string) {
			if err := w.post(id, patience); err == nil {
				w.t.Log("seen before the refusal") // either is right
			}
			w.reached(id, "BROADCASTED")
			w.mine(2)
		}, "CLAIMED"},
		{"the LP does not know whether it was sent", lp.Fault{UnknownPost: true}, "WBTC", func(w *world, id string) {
			if err := w.post(id, 3*time.Second); err != nil {
				w.t.Errorf("got %v", err)
			}
			if s := w.reached(id, "SIGNED"); s.IsFinished || s.IsFailed {
				w.t.Errorf("over, while the LP has the transaction: %+v", s)
			}
			w.net.LPs[0].Misbehave(lp.Fault{}) // it is broadcast now
			w.reached(id, "BROADCASTED")
			w.mine(2)
		}, "CLAIMED"},
		{"the LP says that it is being sent", lp.Fault{BusyPost: true}, "WBTC", func(w *world, id string) {
			if err := w.post(id, 3*time.Second); err != nil {
				w.t.Errorf("got %v", err)
			}
			w.reached(id, "SIGNED")
			w.net.LPs[0].Misbehave(lp.Fault{})
			w.reached(id, "BROADCASTED")
			w.mine(2)
		}, "CLAIMED"},
		{"the LP is gone for a while", lp.Fault{On: "postQuote", Down: true}, "WBTC", func(w *world, id string) {
			if err := w.post(id, 3*time.Second); err != nil {
				w.t.Errorf("got %v", err)
			}
			w.reached(id, "SIGNED")
			w.net.LPs[0].Misbehave(lp.Fault{})
			w.reached(id, "BROADCASTED")
			w.mine(2)
		}, "CLAIMED"},
		{"the LP refuses one, and takes the next", lp.Fault{DenyPost: 20514}, "WBTC", func(w *world, id string) {
			if err := w.post(id, patience); fault.CodeOf(err) != fault.Upstream {
				w.t.Errorf("got %v", err)
			}
			s := w.reached(id, "CREATED")
			if fund := asksFor[*swapper.SignPSBT](s); s.IsFinished || s.IsFailed || fund == nil || !strings.Contains(fund.Description, "not taken") {
				w.t.Errorf("it is not to be signed again: %+v", s)
			}
			w.net.LPs[0].Misbehave(lp.Fault{})
			if err := w.post(id, patience); err != nil {
				w.t.Error(err)
			}
			w.reached(id, "BROADCASTED")
			w.mine(2)
		}, "CLAIMED"},
		{"the LP is gone after it has sent it", lp.Fault{}, "WBTC", func(w *world, id string) {
			if err := w.post(id, patience); err != nil {
				w.t.Error(err)
			}
			w.reached(id, "BROADCASTED")
			w.net.LPs[0].Misbehave(lp.Fault{Down: true, NeverClaim: true})
			w.mine(2)
		}, "CLAIMED"},
	} {
		t.Run(test.name, func(t *testing.T) {
			w := w.in(t)
			before := w.book()
			s := w.withdrawal(test.token)
			w.net.LPs[0].Misbehave(test.fault)
			defer w.net.LPs[0].Misbehave(lp.Fault{})
			test.run(w, s.SwapID)
			w.ended(s.SwapID, test.end)
			changed := w.since(before)
			paid, got := raw(s.Quote.InputAmount), raw(s.Quote.OutputAmount)
			fee := -changed["user sats"] - paid
			if fee <= 0 || fee > 20_000 {
				t.Errorf("%d sats for the transaction", fee)
			}
			w.only(changed, map[string]int64{"user sats": -paid - fee, "LP sats": paid, "user WBTC": got, "tower WBTC": changed["tower WBTC"], "vaults WBTC": -got - changed["tower WBTC"]})
		})
	}
	for _, test := range []struct {
		name  string
		fault lp.Fault
		token string
		run   func(w *world, id string)
		end   string
		cheat bool
	}{
		{"the LP keeps it back", lp.Fault{Withhold: true}, "WBTC", func(w *world, id string) {
			if err := w.post(id, patience); err != nil {
				w.t.Error(err)
			}
			w.reached(id, "POSTED")
			w.advance(time.Hour)
			w.reached(id, "QUOTE_SOFT_EXPIRED")
			w.advance(20 * 24 * time.Hour) // the LP may still have it, so it is not over
			w.reached(id, "QUOTE_SOFT_EXPIRED")
			w.takeBack(w.allCoins())
			w.mine(1)
		}, "QUOTE_EXPIRED", false},
		{"the LP is gone for good", lp.Fault{On: "postQuote", Down: true}, "WBTC", func(w *world, id string) {
			if err := w.post(id, 3*time.Second); err != nil {
				w.t.Errorf("got %v", err)
			}
			w.reached(id, "SIGNED")
			w.advance(time.Hour)
			w.reached(id, "QUOTE_SOFT_EXPIRED")
			w.takeBack(w.allCoins())
			w.mine(1)
		}, "QUOTE_EXPIRED", false},
		{"the LP says no", lp.Fault{On: "postQuote", Answer: lp.Lie("postQuote", "code", 20505)}, "WBTC", func(w *world, id string) {
			w.net.LPs[0].Misbehave(lp.Fault{Withhold: true, Answer: lp.Lie("postQuote", "code", 20505)})
			if err := w.post(id, patience); fault.CodeOf(err) != fault.InvalidState {
				w.t.Errorf("got %v", err)
			}
			w.reached(id, "DECLINED")
			w.takeBack(w.allCoins())
			w.mine(1)
			w.until(id, is("QUOTE_EXPIRED"))
		}, "QUOTE_EXPIRED", false},
		{"the user takes the payment back", lp.Fault{}, "WBTC", func(w *world, id string) {
			if err := w.post(id, patience); err != nil {
				w.t.Error(err)
			}
			w.reached(id, "BROADCASTED")
			w.takeBack(w.inputs(id))
			w.reached(id, "BROADCASTED") // nothing is decided while the other one waits
			w.mine(1)
		}, "FAILED", false},
		{"the LP spends the vault's output before it sends", lp.Fault{DoubleSpend: true}, w.native(), func(w *world, id string) {
			if err := w.post(id, patience); err != nil {
				w.t.Error(err)
			}
			w.reached(id, "POSTED")
			w.mine(1)
		}, "QUOTE_EXPIRED", false},
		{"the LP takes the vault's output back", lp.Fault{}, "WBTC", func(w *world, id string) { // the last of its token
			if err := w.post(id, patience); err != nil {
				w.t.Error(err)
			}
			w.reached(id, "BROADCASTED")
			if err := w.net.LPs[0].SpendVaults(w.tokenAt("WBTC")); err != nil {
				w.t.Fatal(err)
			}
			w.mine(1)
		}, "FAILED", true},
	} {
		t.Run(test.name, func(t *testing.T) {
			w := w.in(t)
			before := w.book()
			s := w.withdrawal(test.token)
			w.net.LPs[0].Misbehave(test.fault)
			defer w.net.LPs[0].Misbehave(lp.Fault{})
			test.run(w, s.SwapID)
			w.ended(s.SwapID, test.end)
			changed := w.since(before)
			// Who takes something back pays for that transaction, and nothing else.
			if fee := -changed["user sats"]; fee < 0 || fee > 30_000 {
				t.Errorf("the user paid %d sats", fee)
			}
			delete(changed, "user sats")
			if test.fault.DoubleSpend || test.cheat {
				delete(changed, "LP sats")
			}
			w.only(changed, map[string]int64{})
		})
	}
}

// allCoins are what the user's wallet has.
func (w *world) allCoins() []bitcoin.OutPoint {
	var all []bitcoin.OutPoint
	for _, c := range w.user.Bitcoin.Coins() {
		all = append(all, c.OutPoint)
	}
	return all
}
