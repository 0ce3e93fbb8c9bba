package e2e

import (
	"encoding/hex"
	"math/big"
	"strings"
	"testing"
	"time"

	"github.com/swapper-go/swapper"
	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/internal/devnet"
	"github.com/swapper-go/swapper/internal/devnet/lightning"
	"github.com/swapper-go/swapper/internal/devnet/lp"
	"github.com/swapper-go/swapper/internal/trial"
)

// fromLightning is a swap from Lightning; hash is of the user's own, or "".
func (w *world) fromLightning(hash string) *swapper.CreateSwapOutput {
	w.t.Helper()
	return w.create(swapper.CreateSwapInput{SrcToken: "LIGHTNING-BTC", DstToken: w.token("WBTC"), Amount: big.NewInt(100_000), AmountType: swapper.ExactIn, DstAddress: w.address(),
		GasAmount: w.drop(), PaymentHash: hash})
}

// act does what is asked for once.
func (w *world) act(id string) {
	w.t.Helper()
	s, err := w.user.Look(w.t.Context(), id)
	if err == nil && s.CurrentAction == nil {
		w.t.Fatalf("asks for nothing in %s: %+v", s.State.Name, s.ActionError)
	}
	if err == nil {
		err = w.user.Do(w.within(30*time.Second), id, s.CurrentAction)
	}
	if err != nil {
		w.t.Fatal(err)
	}
}

// eventually waits until something is so.
func (w *world) eventually(what string, is func() bool) {
	w.t.Helper()
	for ctx := w.within(30 * time.Second); !is(); {
		select {
		case <-ctx.Done():
			w.t.Fatalf("%s: not in time; the LP says %v", what, w.net.LPs[0].Problems())
		case <-time.After(10 * time.Millisecond):
		}
	}
}

// timeOut lets all held payments go back to whoever made them.
func (w *world) timeOut() {
	w.t.Helper()
	w.mine(60) // more blocks than invoices of either version of LPs give
}

// Who pays and is not paid gets the payment back, and who is late to claim too.
func TestHeldPaymentsComeBack(t *testing.T) {
	trial.OnlyFull(t)
	t.Parallel()
	heldPaymentsComeBack(t, options{})
}

func heldPaymentsComeBack(t *testing.T, o options) {
	o.slow = true
	w := start(t, o)
	for _, test := range []struct {
		name       string
		fault      lp.Fault
		unrevealed bool // the user keeps the preimage
		end        string
	}{
		{"the LP never opens the escrow", lp.Fault{NeverOpen: true}, false, "QUOTE_EXPIRED"},
		{"the LP is gone once it is paid", lp.Fault{NeverOpen: true, Down: true}, false, "QUOTE_EXPIRED"},
		{"the user does not reveal the preimage", lp.Fault{}, true, "FAILED"},
		{"the user is late, and the LP gone", lp.Fault{}, true, "FAILED"},
	} {
		t.Run(test.name, func(t *testing.T) {
			w := w.in(t)
			hash := ""
			if test.unrevealed {
				_, h := lightning.Preimage(test.name)
				hash = hex.EncodeToString(h[:])
			}
			before := w.book()
			s := w.fromLightning(hash)
			w.net.LPs[0].Misbehave(test.fault)
			defer w.net.LPs[0].Misbehave(lp.Fault{})
			w.shown(w.status(s.SwapID), "PR_CREATED")
			w.act(s.SwapID)
			if test.unrevealed {
				asked := w.reached(s.SwapID, "CLAIM_COMMITED")
				if asked.RequiresSecretReveal == nil || !*asked.RequiresSecretReveal {
					t.Error("does not ask for the preimage")
				}
				got := raw(s.Quote.OutputAmount)
				w.only(w.since(before), map[string]int64{"LP WBTC": -got, "escrows WBTC": got, "user msat": -100_000_000})
				w.advance(61 * time.Second)
				late := w.status(s.SwapID)
				w.steps(late, "received", "awaiting_manual")
				if late.CurrentAction != nil || !*late.RequiresSecretReveal {
					t.Errorf("asks for %q", nameOf(late.CurrentAction))
				}
				last := 30 * time.Minute // of the 40 that the escrow lasts
				if w.version == devnet.Newer {
					last = 170 * time.Minute // of 180
				}
				w.advance(last)
				if strings.Contains(test.name, "gone") {
					w.net.LPs[0].Misbehave(lp.Fault{Down: true})
				}
				w.reached(s.SwapID, "EXPIRED")
				w.advance(30 * time.Minute)
			} else {
				w.advance(2 * time.Minute)
				held := w.watch(s.SwapID, is("QUOTE_SOFT_EXPIRED")) // the LP has not said that nothing was paid
				if held.IsFinished || held.IsExpired {
					t.Errorf("a payment under way is shown as over: finished %t, expired %t", held.IsFinished, held.IsExpired)
				}
				w.advance(3 * 24 * time.Hour)
			}
			w.ended(s.SwapID, test.end)
			w.timeOut()
			w.only(w.since(before), map[string]int64{})
		})
	}
}

func (w *world) status(id string) *swapper.GetSwapStatusOutput {
	w.t.Helper()
	s, err := w.user.Look(w.t.Context(), id)
	if err != nil {
		w.t.Fatal(err)
	}
	return s
}

// An escrow that differs in any way from what was agreed on is not claimed, the
// preimage stays a secret, and the status says what is wrong with it. The LP is asked for
// no more quotes, and each lie counts once.
func TestFalseEscrows(t *testing.T) {
	trial.OnlyFull(t)
	t.Parallel()
	falseEscrows(t, options{})
}

func falseEscrows(t *testing.T, o options) {
	o.slow = true
	w := start(t, o)
	before := w.book()
	swaps := map[string]*swapper.CreateSwapOutput{} // agreed on before the LP is known to lie
	var ids []string
	for field := range w.lies() {
		swaps[field] = w.fromLightning("")
		ids = append(ids, swaps[field].SwapID)
	}
	for field, lie := range w.lies() {
		t.Run(field, func(t *testing.T) {
			w := w.in(t)
			s := swaps[field]
			w.net.LPs[0].Misbehave(lp.Fault{Escrow: lie})
			defer w.net.LPs[0].Misbehave(lp.Fault{})
			w.act(s.SwapID)
			told := w.watch(s.SwapID, func(s *swapper.GetSwapStatusOutput) bool { return s.ActionError != nil })
			if told.State.Name != "PR_CREATED" || told.ActionError.Code != fault.Upstream || told.CurrentAction != nil {
				t.Errorf("%s, %+v, %+v", told.State.Name, told.ActionError, told.CurrentAction)
			}
			t.Log(told.ActionError.Error)
			if !strings.Contains(strings.ToLower(told.ActionError.Error), strings.ToLower(field)) {
				t.Errorf("%q does not name %s", told.ActionError.Error, field)
			}
		})
	}
	for _, id := range ids { // seen again, nothing counts twice
		w.watch(id, func(s *swapper.GetSwapStatusOutput) bool { return s.ActionError != nil })
	}
	w.punished(len(ids), true)
	w.advance(2 * time.Hour)
	w.advance(3 * 24 * time.Hour)
	for _, id := range ids {
		w.ended(id, "QUOTE_EXPIRED")
	}
	w.timeOut()
	for _, c := range w.tower.Claims() {
		t.Errorf("claimed %+v", c)
	}
	changed := w.since(before)
	if changed["user msat"] != 0 || changed["LP msat"] != 0 || changed["user WBTC"] != 0 {
		t.Errorf("changed: %v", sorted(changed))
	}
}

// punished demands that the LP has been left alone for so many lies, and is now.
func (w *world) punished(lies int, now bool) {
	w.t.Helper()
	var told []swapper.ProviderStats
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		s, err := w.client.Stats(w.t.Context())
		if err != nil {
			w.t.Fatal(err)
		}
		if told = s.Providers; told[0].Strikes >= lies {
			break
		}
	}
	if told[0].Strikes != lies || told[0].Excluded.After(w.net.Clock.Now()) != now {
		w.t.Errorf("the LP counts %d lies and is excluded until %v, want %d lies", told[0].Strikes, told[0].Excluded, lies)
	}
}

// What a service that should pay does wrong is said, and costs nothing.
func TestWithdrawServicesThatDoNotPay(t *testing.T) {
	trial.OnlyFull(t)
	t.Parallel()
	o, services := serving(options{slow: true})
	w := start(t, o)
	for _, test := range []struct {
		name  string
		fault lightning.LNURLFault
		code  fault.Code // of settleWithLnurl; "": it succeeds
		end   string
	}{
		{"refuses", lightning.LNURLFault{Refuse: "no money"}, fault.Upstream, "QUOTE_EXPIRED"},
		{"agrees and does not pay", lightning.LNURLFault{NeverPay: true}, fault.Timeout, "QUOTE_EXPIRED"},
		{"pays and loses its answer", lightning.LNURLFault{LoseAnswer: true}, "", "CLAIM_CLAIMED"},
		{"pays and is unclear", lightning.LNURLFault{Unclear: true}, "", "CLAIM_CLAIMED"},
	} {
		t.Run(test.name, func(t *testing.T) {
			w := w.in(t)
			links, err := services.paying.AddWithdraw(lightning.Withdraw{Name: "link", MinMsat: 1000, MaxMsat: 500_000_000})
			if err != nil {
				t.Fatal(err)
			}
			before := w.book()
			s := w.create(swapper.CreateSwapInput{SrcToken: "LIGHTNING-BTC", DstToken: w.token("WBTC"), Amount: big.NewInt(100_000), AmountType: swapper.ExactIn, SrcAddress: links.LNURL, DstAddress: w.address()})
			services.paying.Misbehave(test.fault)
			defer services.paying.Misbehave(lightning.LNURLFault{})
			patience := time.Minute
			if test.code == fault.Timeout {
				patience = 5 * time.Second
			}
			_, err = w.client.SettleWithLnurl(w.within(patience), swapper.SettleWithLnurlInput{SwapID: s.SwapID})
			if test.code != "" && fault.CodeOf(err) != test.code || test.code == "" && err != nil {
				t.Errorf("got %v, want %s", err, test.code)
			}
			want := map[string]int64{}
			if test.code != "" {
				w.advance(3 * 24 * time.Hour)
				w.reached(s.SwapID, test.end)
			} else {
				w.ended(s.SwapID, test.end)
				w.eventually("settled", func() bool { return w.since(before)["LP msat"] != 0 })
				got := raw(s.Quote.OutputAmount)
				want = map[string]int64{"user msat": -100_000_000, "LP msat": 100_000_000, "LP WBTC": -got, "user WBTC": got}
			}
			if n := len(services.paying.Paid()); n > 3 {
				t.Errorf("handed over %d times", n)
			}
			w.only(w.since(before), want)
		})
	}
}
