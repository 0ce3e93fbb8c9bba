package e2e

import (
	"crypto/rand"
	"math/big"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/common"

	"github.com/swapper-go/swapper"
	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/chains/evm"
	"github.com/swapper-go/swapper/internal/devnet/lightning"
	"github.com/swapper-go/swapper/internal/devnet/lp"
)

// outgoing are the requests of both types in which the user opens an escrow.
// They pay in WBTC, of which fees of the chain take nothing.
func (w *world) outgoing() map[swapper.SwapType]func() swapper.CreateSwapInput {
	in := func(chain, to string) swapper.CreateSwapInput {
		return swapper.CreateSwapInput{SrcToken: "CITREA-WBTC", DstToken: chain, Amount: big.NewInt(50_000), AmountType: swapper.ExactOut,
			SrcAddress: w.address(), DstAddress: to}
	}
	return map[swapper.SwapType]func() swapper.CreateSwapInput{
		swapper.SwapToBTC: func() swapper.CreateSwapInput {
			to, err := w.net.Bitcoin.NewWallet(bitcoin.P2WPKH)
			if err != nil {
				w.t.Fatal(err)
			}
			return in("BITCOIN-BTC", to.Address.String())
		},
		swapper.SwapToBTCLN: func() swapper.CreateSwapInput {
			preimage, _ := lightning.Preimage(rand.Text())
			invoice, err := w.net.Recipient.NewInvoice(lightning.InvoiceOptions{Preimage: preimage, AmountMsat: 50_000_000})
			if err != nil {
				w.t.Fatal(err)
			}
			return in("LIGHTNING-BTC", invoice)
		},
	}
}

// balance returns what the user has of a token.
func (w *world) balance(token common.Address) *big.Int {
	w.t.Helper()
	user := w.net.EVM.User.Address
	data, err := evm.BalanceCall(user)
	if err != nil {
		w.t.Fatal(err)
	}
	raw, err := w.net.EVM.Read(w.t.Context(), user, evm.Call{To: token, Data: data})
	if err != nil {
		w.t.Fatal(err)
	}
	return new(big.Int).SetBytes(raw)
}

// An LP that does not pay costs the user nothing, whether it says so or not.
func TestRefunds(t *testing.T) {
	w := start(t, options{})
	wbtc := w.net.EVM.Contracts().Token
	for typ, request := range w.outgoing() {
		for _, test := range []struct {
			name    string
			fault   lp.Fault
			timeout bool // nobody but time helps
		}{
			{"cooperatively", lp.Fault{NotPayable: true}, false},
			{"by timelock, the LP silent", lp.Fault{NeverPay: true}, true},
			{"by timelock, the LP refuses", lp.Fault{NotPayable: true, NoRefund: true}, true},
			{"by timelock, the LP is gone", lp.Fault{NeverPay: true}, true},
		} {
			t.Run(string(typ)+" "+test.name, func(t *testing.T) {
				w := w.in(t)
				before := w.balance(wbtc)
				w.net.LPs[0].Misbehave(lp.Fault{})
				s := w.create(request())
				w.net.LPs[0].Misbehave(test.fault)
				if test.timeout {
					open := w.until(s.SwapID, func(s *swapper.GetSwapStatusOutput) bool { return s.State.Name == "COMMITED" })
					if got := w.balance(wbtc); got.Cmp(before) >= 0 {
						t.Fatalf("nothing is locked: %v of %v", got, before)
					}
					if test.name == "by timelock, the LP is gone" {
						w.net.LPs[0].Misbehave(lp.Fault{NeverPay: true, Down: true})
					}
					if open.CurrentAction == nil || open.CurrentAction.Wait == nil {
						t.Fatalf("asked to do %+v before the time is over", open.CurrentAction)
					}
					if err := w.net.Advance(8 * 24 * time.Hour); err != nil {
						t.Fatal(err)
					}
				}
				end := w.finish(s.SwapID)
				if end.State.Name != "REFUNDED" || end.IsSuccess || !end.IsFailed {
					t.Fatalf("ended as %s", end.State.Name)
				}
				if got := w.balance(wbtc); got.Cmp(before) != 0 {
					t.Fatalf("has %v, had %v", got, before)
				}
			})
		}
	}
}
