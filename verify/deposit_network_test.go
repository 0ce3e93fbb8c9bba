package verify_test

import (
	"math/big"
	"strings"
	"time"

	"github.com/swapper-go/swapper"
	"github.com/swapper-go/swapper/internal/trial"
	"github.com/swapper-go/swapper/swappertest"
)

// byDeposit skips the part unless swaps from Bitcoin go through an escrow that the user opens.
func (w *world) byDeposit() {
	w.Helper()
	if s := w.fromBitcoin(w.service); s.SwapType != swapper.SwapFromBTC {
		w.Skip("swaps from Bitcoin go through vaults here")
	}
}

// A wallet opens an escrow and pays bitcoin through a service that it does not trust.
func paysDeposits(w *world) {
	w.byDeposit()
	v := w.wallet()
	before := w.balance()
	s := w.fromBitcoin(v)
	end := trial.Must(w.net.User.Finish(w.Context(), v, s.SwapID))(w)
	if !end.IsSuccess || end.IsFailed || end.IsExpired {
		w.Errorf("the swap ends as %+v", end.ListSwapOutput)
	}
	if got := before.Sub(w.balance(), before); got.Cmp(s.Quote.OutputAmount.RawAmount) != 0 {
		w.Errorf("received %s, want the agreed %s", got, s.Quote.OutputAmount.RawAmount)
	}
	if len(w.service.taken) != 1 {
		w.Errorf("the service got %d submissions, want the opening alone", len(w.service.taken))
	}
}

// opens is the honest opening of a swap, and the payment that claims its escrow.
func (w *world) opens(sats int64) (*swapper.SignSmartChainTransaction, swapper.EscrowInfo) {
	w.Helper()
	s := w.paying(w.service.Service, sats)
	sign := trial.Must(w.action(w.service.Service, s.SwapID))(w)
	out, err := w.service.Service.GetSwapStatus(w.Context(), swapper.GetSwapStatusInput{SwapID: s.SwapID})
	if err != nil || out.Escrow == nil {
		w.Fatalf("the service says %+v, %v", out, err)
	}
	return sign, *out.Escrow
}

// Each way of a service to steal by the escrow that the user is to open, and by the address
// that he is to pay.
func refusesDeposits(w *world) {
	w.byDeposit()
	more, _ := w.opens(60_000)
	same, sameEscrow := w.opens(50_000)
	opening := func(change func(*swapper.GetSwapStatusOutput)) func(*swapper.GetSwapStatusOutput) {
		return func(out *swapper.GetSwapStatusOutput) {
			if signs(out) {
				change(out)
			}
		}
	}
	for name, lie := range map[string]func(*swapper.GetSwapStatusOutput){
		"an escrow for another amount": func(out *swapper.GetSwapStatusOutput) {
			out.CurrentAction.(*swapper.SignSmartChainTransaction).Txs = more.Txs
		},
		"an escrow for another address": func(out *swapper.GetSwapStatusOutput) {
			out.CurrentAction.(*swapper.SignSmartChainTransaction).Txs = same.Txs
		},
		"an address of somebody":  func(out *swapper.GetSwapStatusOutput) { out.Escrow.Address = w.net.User.Address("BITCOIN") },
		"an address that is none": func(out *swapper.GetSwapStatusOutput) { out.Escrow.Address = "?" },
		"fewer confirmations":     func(out *swapper.GetSwapStatusOutput) { out.Escrow.Confirmations-- },
		"many confirmations":      func(out *swapper.GetSwapStatusOutput) { out.Escrow.Confirmations = 1 << 20 },
		"another signer": func(out *swapper.GetSwapStatusOutput) {
			out.CurrentAction.(*swapper.SignSmartChainTransaction).RequiredSigner = "?"
		},
		"another chain": func(out *swapper.GetSwapStatusOutput) {
			out.CurrentAction.(*swapper.SignSmartChainTransaction).Chain = "MARS"
		},
		"nothing": func(out *swapper.GetSwapStatusOutput) {
			out.CurrentAction.(*swapper.SignSmartChainTransaction).Txs = nil
		},
		"two openings": func(out *swapper.GetSwapStatusOutput) {
			a := out.CurrentAction.(*swapper.SignSmartChainTransaction)
			a.Txs = append(a.Txs, same.Txs...)
		},
	} {
		v := w.wallet()
		w.service.status = nil
		s := w.fromBitcoin(v)
		w.service.status = opening(lie)
		if got, err := w.action(v, s.SwapID); !refuses(err) {
			w.Errorf("%s: got %+v, %v, want a refusal", name, got, err)
		}
		w.service.status = nil
		if _, err := w.action(v, s.SwapID); err != nil {
			w.Errorf("%s: after the lie the truth is refused: %v", name, err)
		}
	}

	v := w.wallet()
	s := w.fromBitcoin(v)
	w.service.status = func(out *swapper.GetSwapStatusOutput) { out.Escrow = nil }
	if got, err := w.action(v, s.SwapID); err == nil || !strings.Contains(err.Error(), "escrow.address") {
		w.Errorf("without the address: got %+v, %v, want the action withheld", got, err)
	}
	// Once an opening was handed out, the swap has no other one.
	w.service.status = nil
	if _, err := w.action(v, s.SwapID); err != nil {
		w.Fatal(err)
	}
	w.service.status = func(out *swapper.GetSwapStatusOutput) {
		out.CurrentAction.(*swapper.SignSmartChainTransaction).Txs, out.Escrow.Address, out.Escrow.Confirmations = same.Txs, sameEscrow.Address, sameEscrow.Confirmations
	}
	if got, err := w.action(v, s.SwapID); !refuses(err) {
		w.Errorf("a second opening: got %+v, %v, want a refusal", got, err)
	}
	// A payment is not asked for before the escrow is open.
	pay := swapper.SendToAddress{Chain: "BITCOIN", Txs: swapper.List[swapper.SendToAddressTx]{{Type: "BITCOIN_ADDRESS", Address: sameEscrow.Address, Amount: s.Quote.InputAmount}}}
	w.service.status = func(out *swapper.GetSwapStatusOutput) {
		out.CurrentAction = &pay
	}
	out, err := v.GetSwapStatus(w.Context(), swapper.GetSwapStatusInput{SwapID: s.SwapID})
	if err != nil || out.CurrentAction != nil || out.ActionError == nil {
		w.Errorf("a payment before the escrow is open: got %+v, %v, want it withheld", out, err)
	}
	w.service.status = nil
	opened := func(out *swapper.GetSwapStatusOutput) bool { return funds(out) || deposits(out) }
	if _, err := w.net.User.FinishUntil(w.Context(), v, s.SwapID, opened); err != nil {
		w.Fatal(err)
	}
	honest, err := v.GetSwapStatus(w.Context(), swapper.GetSwapStatusInput{SwapID: s.SwapID})
	if err != nil || !deposits(honest) {
		w.Fatalf("the truth: got %+v, %v", honest, err)
	}
	for name, lie := range map[string]func(*swapper.SendToAddress){
		"another address": func(a *swapper.SendToAddress) { a.Txs[0].Address = sameEscrow.Address },
		"another amount":  func(a *swapper.SendToAddress) { a.Txs[0].Amount.RawAmount = big.NewInt(50_001) },
		"an invoice":      func(a *swapper.SendToAddress) { a.Txs[0].Type = "BOLT11_PAYMENT_REQUEST" },
		"another chain":   func(a *swapper.SendToAddress) { a.Chain = "LIGHTNING" },
		"two payments":    func(a *swapper.SendToAddress) { a.Txs = append(a.Txs, a.Txs[0]) },
		"no payment":      func(a *swapper.SendToAddress) { a.Txs = nil },
	} {
		w.service.status = func(out *swapper.GetSwapStatusOutput) { lie(out.CurrentAction.(*swapper.SendToAddress)) }
		if out, err := v.GetSwapStatus(w.Context(), swapper.GetSwapStatusInput{SwapID: s.SwapID}); !refuses(err) {
			w.Errorf("%s: got %+v, %v, want a refusal", name, out, err)
		}
	}
	// Another payment than the agreed one is not sent.
	w.service.status = nil
	other := w.wallet()
	o := w.paying(other, 60_000)
	if _, err := w.net.User.FinishUntil(w.Context(), other, o.SwapID, opened); err != nil {
		w.Fatal(err)
	}
	sign := func(v swapper.Service, id string) []string {
		w.Helper()
		out := trial.Must(v.GetSwapStatus(w.Context(), swapper.GetSwapStatusInput{SwapID: id, BitcoinAddress: w.net.User.Address("BITCOIN"), BitcoinPublicKey: w.net.User.BitcoinPublicKey()}))(w)
		return trial.Must(w.net.User.Sign(out.CurrentAction))(w)
	}
	taken := len(w.service.taken)
	if got, err := v.SubmitTransaction(w.Context(), swapper.SubmitTransactionInput{SwapID: s.SwapID, SignedTxs: sign(other, o.SwapID)}); err == nil {
		w.Errorf("another swap's payment: got %v", got)
	}
	if _, err := v.SubmitTransaction(w.Context(), swapper.SubmitTransactionInput{SwapID: s.SwapID, SignedTxs: sign(v, s.SwapID)}); err != nil {
		w.Errorf("the payment: %v", err)
	}
	if len(w.service.taken) != taken {
		w.Errorf("the service got %+v", w.service.taken[taken:])
	}
	if _, err := w.net.User.Finish(w.Context(), v, s.SwapID); err != nil { // its payout is not for later parts
		w.Error(err)
	}
}

// A service that falls silent once the escrow is paid for, and no watchtower: the wallet
// claims through its own nodes.
func claimsDepositAlone(w *world) {
	w.byDeposit()
	w.net.Misbehave(swappertest.WatchtowerFault{Off: true})
	v := w.wallet()
	before := w.balance()
	s := w.fromBitcoin(v)
	waits := func(out *swapper.GetSwapStatusOutput) bool {
		return waits(out) && out.CurrentAction.(*swapper.Wait).Name == "Bitcoin confirmations"
	}
	if _, err := w.net.User.FinishUntil(w.Context(), v, s.SwapID, waits); err != nil {
		w.Fatal(err)
	}
	w.service.gone = true
	trial.Do(w, w.net.Mine(6))
	if _, err := v.GetSwapStatus(w.Context(), swapper.GetSwapStatusInput{SwapID: s.SwapID}); err != nil {
		w.Fatal(err)
	}
	trial.Do(w, w.net.Advance(3*time.Minute))
	end := trial.Must(w.net.User.Finish(w.Context(), v, s.SwapID))(w)
	if !end.IsSuccess {
		w.Errorf("the swap ends as %+v", end.ListSwapOutput)
	}
	if got := before.Sub(w.balance(), before); got.Cmp(s.Quote.OutputAmount.RawAmount) != 0 {
		w.Errorf("received %s, want the agreed %s", got, s.Quote.OutputAmount.RawAmount)
	}
}
