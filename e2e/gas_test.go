package e2e

import (
	"errors"
	"math/big"
	"strings"
	"testing"
	"time"

	"github.com/btcsuite/btcd/wire"

	"github.com/swapper-go/swapper"
	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/chains/bitcoin/mempoolspace"
	"github.com/swapper-go/swapper/fault"
	devbitcoin "github.com/swapper-go/swapper/internal/devnet/bitcoin"
	"github.com/swapper-go/swapper/internal/devnet/lightning"
	"github.com/swapper-go/swapper/internal/devnet/lp"
	"github.com/swapper-go/swapper/internal/trial"
)

// coins is what an address has of the chain's own coin.
func (w *world) coins(of string) *big.Int {
	w.t.Helper()
	return w.holds(of, w.native())
}

func (w *world) gasInput(src, to string) swapper.CreateGasSwapInput {
	return swapper.CreateGasSwapInput{SrcToken: src, ChainID: w.chain(), Amount: w.gasWorth(), DstAddress: to, LP: w.net.LPURLs()[0]}
}

func (w *world) gas(in swapper.CreateGasSwapInput) *swapper.CreateSwapOutput {
	w.t.Helper()
	s, err := w.client.CreateGasSwap(w.within(30*time.Second), in)
	if err != nil {
		w.t.Fatalf("gas: %v", err)
	}
	if s.Quote.OutputAmount.RawAmount.Cmp(in.Amount) != 0 || s.Quote.OutputAddress != in.DstAddress || s.Quote.InputAmount.RawAmount.Sign() <= 0 {
		w.t.Fatalf("quoted %+v", s.Quote)
	}
	return s
}

// look asks for the status of a swap as a wallet that cannot sign.
func (w *world) look(id string) *swapper.GetSwapStatusOutput {
	w.t.Helper()
	s, err := w.client.GetSwapStatus(w.within(30*time.Second), swapper.GetSwapStatusInput{SwapID: id})
	if err != nil {
		w.t.Fatal(err)
	}
	return s
}

// watch looks until done, and does nothing.
func (w *world) watch(id string, done func(*swapper.GetSwapStatusOutput) bool) *swapper.GetSwapStatusOutput {
	w.t.Helper()
	ctx := w.within(60 * time.Second)
	for {
		s := w.look(id)
		if done(s) {
			return s
		}
		select {
		case <-ctx.Done():
			w.t.Fatalf("waited in vain: %+v, %+v", s.State, s.ActionError)
		case <-time.After(50 * time.Millisecond):
		}
	}
}

func finished(s *swapper.GetSwapStatusOutput) bool { return s.IsFinished }

// address is what a gas swap asks to be paid to.
func payTo(t testing.TB, s *swapper.GetSwapStatusOutput) (bitcoin.Address, int64) {
	t.Helper()
	pay := asksFor[*swapper.SendToAddress](s)
	if pay == nil {
		t.Fatalf("asked to do %+v", s.CurrentAction)
	}
	tx := pay.Txs[0]
	a := trial.Must(bitcoin.ParseAddress(tx.Address, bitcoin.Regtest))(t)
	if want := "bitcoin:" + tx.Address + "?amount=" + tx.Amount.Amount; tx.Type != "BITCOIN_ADDRESS" || tx.Hyperlink != want {
		t.Fatalf("asked to pay to %+v", tx)
	}
	return a, tx.Amount.RawAmount.Int64()
}

func (w *world) pay(to bitcoin.Address, sats int64) *wire.MsgTx {
	w.t.Helper()
	tx, err := w.net.Wallet.Pay(5, wire.NewTxOut(sats, to.Script()))
	if err != nil {
		w.t.Fatal(err)
	}
	return tx
}

// at returns what an address on Bitcoin holds, in sats.
func (w *world) at(a bitcoin.Address) (sats int64) {
	w.t.Helper()
	b, err := mempoolspace.New(mempoolspace.Options{Network: bitcoin.Regtest, URLs: []string{w.net.Bitcoin.URL()}, TipAge: -1})
	if err != nil {
		w.t.Fatal(err)
	}
	list, err := b.AddressUTXOs(w.t.Context(), a)
	if err != nil {
		w.t.Fatal(err)
	}
	for _, u := range list {
		sats += u.Value
	}
	return sats
}

// listed reports in which lists of its recipient a swap is.
func (w *world) listed(id, of string) (all, gas bool) {
	w.t.Helper()
	in := swapper.ListSwapsInput{Signer: of}
	has := func(list []swapper.ListSwapOutput, err error) bool {
		if err != nil {
			w.t.Fatal(err)
		}
		for _, s := range list {
			if s.SwapID == id {
				return true
			}
		}
		return false
	}
	return has(w.client.ListSwaps(w.t.Context(), in)), has(w.client.ListGasSwaps(w.t.Context(), in))
}

func TestGasForLightning(t *testing.T) {
	t.Parallel()
	gasForLightning(t, options{})
}

func gasForLightning(t *testing.T, o options) {
	w := start(t, o)
	to := w.newcomer()
	payer := w.net.Payer.BalanceSats()
	s := w.gas(w.gasInput("LIGHTNING-BTC", to))
	if all, gas := w.listed(s.SwapID, to); !all || !gas || s.SwapType != swapper.SwapTrustedFromLN {
		t.Errorf("%s is listed: %v, %v", s.SwapType, all, gas)
	}
	if end := w.finish(s.SwapID); !end.IsSuccess {
		t.Fatalf("ended as %s", end.State.Name)
	}
	if got, paid := w.coins(to), payer-w.net.Payer.BalanceSats(); got.Cmp(w.gasWorth()) != 0 || paid != s.Quote.InputAmount.RawAmount.Int64() {
		t.Errorf("received %v for %d sats, agreed were %+v", got, paid, s.Quote)
	}
}

// Gas is bought from any wallet, or from one that signs.
func TestGasForBitcoin(t *testing.T) {
	t.Parallel()
	gasForBitcoin(t, options{})
}

func gasForBitcoin(t *testing.T, o options) {
	w := start(t, o)
	for _, signs := range []bool{false, true} {
		t.Run(map[bool]string{false: "to the address", true: "signed"}[signs], func(t *testing.T) {
			w := w.in(t)
			to, wallet := w.newcomer(), w.net.Wallet.Balance()
			s := w.gas(w.gasInput("BITCOIN-BTC", to))
			if all, gas := w.listed(s.SwapID, to); all || !gas || s.SwapType != swapper.SwapTrustedFromBTC {
				t.Errorf("%s is listed: %v, %v", s.SwapType, all, gas)
			}
			address, sats := payTo(t, w.look(s.SwapID))
			if sats != s.Quote.InputAmount.RawAmount.Int64() {
				t.Fatalf("asked for %d sats, agreed were %v", sats, s.Quote.InputAmount)
			}
			var end *swapper.GetSwapStatusOutput
			if signs {
				end = w.finish(s.SwapID)
			} else {
				w.pay(address, sats)
				end = w.watch(s.SwapID, finished)
			}
			if !end.IsSuccess || end.Steps[1].SettleTxID == "" {
				t.Fatalf("ended as %s: %+v", end.State.Name, end.Steps)
			}
			fees := wallet - w.net.Wallet.Balance() - sats
			if got := w.coins(to); got.Cmp(w.gasWorth()) != 0 || w.at(address) != sats || fees <= 0 || fees > 10_000 {
				t.Errorf("received %v; the LP has %d of %d sats; fees of %d", got, w.at(address), sats, fees)
			}
		})
	}
}

// What was signed is kept over a crash, is taken again, and nothing else is taken.
func TestGasSubmission(t *testing.T) {
	trial.OnlyFull(t)
	w := start(t, options{slow: true})
	first, second := w.newcomer(), w.newcomer()
	a, b := w.gas(w.gasInput("BITCOIN-BTC", first)), w.gas(w.gasInput("BITCOIN-BTC", second))
	sign := func(id string) []string {
		s := trial.Must(w.user.Look(t.Context(), id))(t)
		fund := asksFor[*swapper.SignPSBT](s)
		if fund == nil {
			t.Fatalf("asked to do %+v", s.CurrentAction)
		}
		return trial.Must(w.user.SignPSBT(fund))(t)
	}
	submit := func(id string, signed []string) ([]string, error) {
		out, err := w.client.SubmitTransaction(w.within(30*time.Second), swapper.SubmitTransactionInput{SwapID: id, SignedTxs: signed})
		if err != nil {
			return nil, err
		}
		return out.TxHashes, nil
	}
	signed := sign(a.SwapID)
	if _, err := submit(b.SwapID, signed); fault.CodeOf(err) != fault.InvalidInput {
		t.Fatalf("the payment of another swap: %v", err)
	}
	ids := trial.Must(submit(a.SwapID, signed))(t)
	w.close()
	w.open()
	again, err := submit(a.SwapID, signed)
	if err != nil || len(again) != 1 || again[0] != ids[0] {
		t.Fatalf("handed in again: %v, %v; first %v", again, err, ids)
	}
	if s := w.look(a.SwapID); asksFor[*swapper.Wait](s) == nil || s.Steps[0].InitTxID != ids[0] {
		t.Errorf("asked to pay again: %+v", s)
	}
	trial.Do(t, w.net.Mine(1))
	if end := w.watch(a.SwapID, finished); !end.IsSuccess || w.coins(first).Cmp(w.gasWorth()) != 0 {
		t.Errorf("ended as %s", end.State.Name)
	}
}

func TestGasExpiresUnpaid(t *testing.T) {
	trial.OnlyFull(t)
	w := start(t, options{})
	for _, src := range []string{"LIGHTNING-BTC", "BITCOIN-BTC"} {
		t.Run(src, func(t *testing.T) {
			w := w.in(t)
			to := w.newcomer()
			s := w.gas(w.gasInput(src, to))
			trial.Do(t, w.net.Advance(4*time.Hour))
			over := w.look(s.SwapID)
			if !over.IsFinished || !over.IsExpired || over.CurrentAction != nil {
				t.Errorf("over as %+v", over)
			}
			end := w.watch(s.SwapID, func(s *swapper.GetSwapStatusOutput) bool { return s.State.Name == "EXPIRED" })
			if !end.IsFinished || !end.IsExpired || end.IsFailed || end.CurrentAction != nil || end.Steps[0].Status != string("expired") || end.Steps[1].Status != string("inactive") {
				t.Errorf("ended as %+v", end)
			}
			if all, gas := w.listed(s.SwapID, to); all || gas {
				t.Error("an expired quote is listed")
			}
		})
	}
}

// An LP that is gone with the payment is waited for, over a restart too, and an
// LP that comes back settles.
func TestGasLPGoneAfterPayment(t *testing.T) {
	trial.OnlyFull(t)
	for _, src := range []string{"LIGHTNING-BTC", "BITCOIN-BTC"} {
		t.Run(src, func(t *testing.T) {
			w := start(t, options{slow: src == "LIGHTNING-BTC"}) // blocks would end the payment
			to := w.newcomer()
			s := w.gas(w.gasInput(src, to))
			asked := w.look(s.SwapID)
			defer w.net.LPs[0].Misbehave(lp.Fault{})
			w.net.LPs[0].Misbehave(lp.Fault{Down: true, NeverPay: true})
			if src == "LIGHTNING-BTC" {
				trial.Do(t, w.net.Payer.Start(asksFor[*swapper.SendToAddress](asked).Txs[0].Address, lightning.Limits{}))
			} else {
				w.pay(payTo(t, asked))
				w.watch(s.SwapID, func(s *swapper.GetSwapStatusOutput) bool { return s.Steps[0].Status == string("confirmed") })
			}
			w.close()
			w.open()
			if again := w.look(s.SwapID); again.IsFinished || w.coins(to).Sign() != 0 {
				t.Fatalf("ended as %s", again.State.Name)
			}
			w.net.LPs[0].Misbehave(lp.Fault{})
			if end := w.watch(s.SwapID, finished); !end.IsSuccess || w.coins(to).Cmp(w.gasWorth()) != 0 {
				t.Errorf("ended as %s with %v", end.State.Name, w.coins(to))
			}
		})
	}
}

// Another amount is paid for in proportion; one that the LP cannot use, or that
// comes late, is sent back.
func TestGasOtherPayments(t *testing.T) {
	trial.OnlyFull(t)
	w := start(t, options{lps: only(older)}) // the newer version takes no refund address later
	back := func(t *testing.T) *devbitcoin.Wallet {
		return trial.Must(w.net.Bitcoin.NewWallet(bitcoin.P2TR))(t)
	}
	returned := func(t *testing.T, end *swapper.GetSwapStatusOutput, to *devbitcoin.Wallet, sats int64) {
		t.Helper()
		refund := end.Steps[len(end.Steps)-1]
		if end.State.Name != "REFUNDED" || end.IsSuccess || refund.Type != string("Refund") || refund.RefundTxID == "" {
			t.Fatalf("ended as %s: %+v", end.State.Name, end.Steps)
		}
		if got := to.Balance(); got != sats-500 {
			t.Errorf("%d of %d sats came back", got, sats)
		}
	}
	t.Run("half", func(t *testing.T) {
		w := w.in(t)
		to := w.newcomer()
		s := w.gas(w.gasInput("BITCOIN-BTC", to))
		address, sats := payTo(t, w.look(s.SwapID))
		w.pay(address, sats/2)
		end := w.watch(s.SwapID, finished)
		want := new(big.Int).Mul(w.gasWorth(), big.NewInt(sats/2))
		want.Quo(want, big.NewInt(sats))
		if got := w.coins(to); !end.IsSuccess || got.Cmp(want) != 0 || end.Quote.OutputAmount.RawAmount.Cmp(want) != 0 || end.Quote.InputAmount.RawAmount.Int64() != sats/2 {
			t.Errorf("%s: received %v of %v for half", end.State.Name, got, w.gasWorth())
		}
	})
	t.Run("too little, refund address said later", func(t *testing.T) {
		w := w.in(t)
		r, to := back(t), w.newcomer()
		s := w.gas(w.gasInput("BITCOIN-BTC", to))
		address, _ := payTo(t, w.look(s.SwapID))
		w.pay(address, 900)
		asks := w.watch(s.SwapID, func(s *swapper.GetSwapStatusOutput) bool { return s.State.Name == "REFUNDABLE" })
		if asks.CurrentAction != nil || asks.ActionError == nil {
			t.Errorf("asks for %+v", asks.CurrentAction)
		}
		if err := w.client.SetGasRefundAddress(t.Context(), s.SwapID, "bc1qnonsense"); fault.CodeOf(err) != fault.InvalidInput {
			t.Errorf("no address: %v", err)
		}
		trial.Do(t, w.client.SetGasRefundAddress(t.Context(), s.SwapID, "bitcoin:"+r.Address.String()))
		returned(t, w.watch(s.SwapID, finished), r, 900)
		if w.coins(to).Sign() != 0 {
			t.Error("was paid as well")
		}
	})
	t.Run("late", func(t *testing.T) {
		w := w.in(t)
		r, to := back(t), w.newcomer()
		in := w.gasInput("BITCOIN-BTC", to)
		in.RefundAddress = r.Address.String()
		s := w.gas(in)
		address, sats := payTo(t, w.look(s.SwapID))
		trial.Do(t, w.net.Advance(4*time.Hour))
		if end := w.watch(s.SwapID, finished); !end.IsExpired {
			t.Fatalf("ended as %s", end.State.Name)
		}
		w.pay(address, sats)
		returned(t, w.watch(s.SwapID, func(s *swapper.GetSwapStatusOutput) bool { return s.State.Name == "REFUNDED" }), r, sats)
		if w.coins(to).Sign() != 0 {
			t.Error("was paid as well")
		}
	})
}

// A payment that the user takes back before it is confirmed buys nothing.
func TestGasDoubleSpend(t *testing.T) {
	trial.OnlyFull(t)
	w := start(t, options{slow: true})
	to, before := w.newcomer(), w.net.Wallet.Balance()
	s := w.gas(w.gasInput("BITCOIN-BTC", to))
	address, sats := payTo(t, w.look(s.SwapID))
	tx := w.pay(address, sats+1)
	seen := w.watch(s.SwapID, func(s *swapper.GetSwapStatusOutput) bool { return s.Steps[0].Status == string("received") })
	if seen.Steps[0].InitTxID != tx.TxHash().String() {
		t.Errorf("saw %+v", seen.Steps[0])
	}
	// The LP has seen it as well when its words are taken over.
	w.watch(s.SwapID, func(s *swapper.GetSwapStatusOutput) bool { return s.Quote.InputAmount.RawAmount.Int64() == sats+1 })
	own := trial.Must(w.net.Wallet.Spend(50, []bitcoin.OutPoint{tx.TxIn[0].PreviousOutPoint}))(t)
	if _, err := w.net.Bitcoin.Send(own); err != nil {
		t.Fatal(err)
	}
	trial.Do(t, w.net.Mine(1))
	end := w.watch(s.SwapID, finished)
	if end.State.Name != "FAILED" || !end.IsFailed || w.coins(to).Sign() != 0 || w.at(address) != 0 || before-w.net.Wallet.Balance() > 20_000 {
		t.Errorf("ended as %s; %v received, %d sats spent", end.State.Name, w.coins(to), before-w.net.Wallet.Balance())
	}
}

// A payout counts when the chain shows that it paid the user.
func TestGasFalsePayout(t *testing.T) {
	trial.OnlyFull(t)
	gasFalsePayout(t, options{})
}

func gasFalsePayout(t *testing.T, o options) {
	w := start(t, o)
	other := w.payGas(w.newcomer(), w.gasWorth())
	for src, field := range map[string]string{"LIGHTNING-BTC": "data.txId", "BITCOIN-BTC": "data.scTxId"} {
		for name, id := range map[string]string{"another's": other, "nobody's": "0x" + strings.Repeat("12", 32), "no id": "paid"} {
			t.Run(src+" "+name, func(t *testing.T) {
				w := w.in(t)
				to := w.newcomer()
				defer w.net.LPs[0].Misbehave(lp.Fault{})
				w.net.LPs[0].Misbehave(lp.Fault{Answer: lp.Lie("Status", field, id)})
				s := w.gas(w.gasInput(src, to))
				asked := w.look(s.SwapID)
				if src == "LIGHTNING-BTC" {
					trial.Do(t, w.net.Payer.Start(asksFor[*swapper.SendToAddress](asked).Txs[0].Address, lightning.Limits{}))
				} else {
					w.pay(payTo(t, asked))
				}
				lied := w.watch(s.SwapID, func(s *swapper.GetSwapStatusOutput) bool {
					return w.coins(to).Sign() > 0 && (s.ActionError != nil || name != "another's")
				})
				if lied.IsFinished {
					t.Fatalf("ended as %s by a lie", lied.State.Name)
				}
				w.net.LPs[0].Misbehave(lp.Fault{})
				if end := w.watch(s.SwapID, finished); !end.IsSuccess || w.coins(to).Cmp(w.gasWorth()) != 0 {
					t.Errorf("ended as %s with %v", end.State.Name, w.coins(to))
				}
			})
		}
	}
}

// A quote that is not what was asked for is refused, by the field that is wrong.
func TestGasQuoteLies(t *testing.T) {
	t.Parallel()
	w := start(t, options{})
	to := w.newcomer()
	used := w.net.Wallet.Address.String()
	for src, lies := range map[string]map[string]func(any) any{
		"BITCOIN-BTC": {
			"total": lp.Plus(-1), "amountSats": lp.Plus(1000), "swapFeeSats": lp.Plus(5000), "expiresAt": lp.Plus(-24 * 3600 * 1000),
			"btcAddress":  func(any) any { return "bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4" },
			"paymentHash": func(any) any { return "zz" },
			"sequence":    func(any) any { return nil },
		},
		"LIGHTNING-BTC": {"total": lp.Plus(1), "swapFeeSats": lp.Plus(5000), "pr": func(any) any { return "lnbcrt1" }},
	} {
		for field, lie := range lies {
			t.Run(src+" "+field, func(t *testing.T) {
				defer w.net.LPs[0].Misbehave(lp.Fault{})
				w.net.LPs[0].Misbehave(lp.Fault{Answer: lp.Change("/get", "data."+field, lie)})
				if src == "LIGHTNING-BTC" {
					w.net.LPs[0].Misbehave(lp.Fault{Answer: lp.Change("/createInvoice", "data."+field, lie)})
				}
				_, err := w.client.CreateGasSwap(t.Context(), w.gasInput(src, to))
				if fault.CodeOf(err) != fault.Upstream || !strings.Contains(err.Error(), w.net.LPURLs()[0]) {
					t.Errorf("got %v", err)
				}
			})
		}
	}
	w.net.LPs[0].Misbehave(lp.Fault{Answer: lp.Lie("/getAddress", "data.btcAddress", used)})
	if _, err := w.client.CreateGasSwap(t.Context(), w.gasInput("BITCOIN-BTC", to)); fault.CodeOf(err) != fault.Upstream {
		t.Errorf("an address that was paid to before: %v", err)
	}
}

func TestGasRequests(t *testing.T) {
	t.Parallel()
	w := start(t, options{})
	for name, c := range map[string]struct {
		change func(*swapper.CreateGasSwapInput)
		field  string
	}{
		"token":          {func(in *swapper.CreateGasSwapInput) { in.SrcToken = "GOLD" }, "srcToken"},
		"chain":          {func(in *swapper.CreateGasSwapInput) { in.ChainID = "MOON" }, "chainId"},
		"no amount":      {func(in *swapper.CreateGasSwapInput) { in.Amount = nil }, "amount"},
		"amount":         {func(in *swapper.CreateGasSwapInput) { in.Amount = big.NewInt(-1) }, "amount"},
		"recipient":      {func(in *swapper.CreateGasSwapInput) { in.DstAddress = "0x12" }, "dstAddress"},
		"refund address": {func(in *swapper.CreateGasSwapInput) { in.RefundAddress = "bc1q" }, "refundAddress"},
		"no LP":          {func(in *swapper.CreateGasSwapInput) { in.LP = "" }, "lp"},
		"LP":             {func(in *swapper.CreateGasSwapInput) { in.LP = "ftp://lp" }, "lp"},
	} {
		in := w.gasInput("BITCOIN-BTC", w.newcomer())
		c.change(&in)
		_, err := w.client.CreateGasSwap(t.Context(), in)
		var e *fault.Error
		if !errors.As(err, &e) || e.Code != fault.InvalidInput || e.Field != c.field {
			t.Errorf("%s: %v", name, err)
		}
	}
	in := w.gasInput("BITCOIN-BTC", w.newcomer())
	in.IdempotencyKey = "once"
	first := w.gas(in)
	if again := w.gas(in); again.SwapID != first.SwapID {
		t.Errorf("%s and %s for one request", first.SwapID, again.SwapID)
	}
	in.Amount = big.NewInt(2e14)
	if _, err := w.client.CreateGasSwap(t.Context(), in); fault.CodeOf(err) != fault.InvalidInput {
		t.Errorf("the key of another request: %v", err)
	}
}
