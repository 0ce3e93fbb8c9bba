package e2e

import (
	"crypto/rand"
	"math/big"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/common"

	"github.com/swapper-go/swapper"
	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/internal/devnet/lightning"
	"github.com/swapper-go/swapper/internal/devnet/lp"
	"github.com/swapper-go/swapper/internal/trial"
)

// outgoing are the requests of both types in which the user opens an escrow.
// They pay in WBTC, of which fees of the chain take nothing.
func (w *world) outgoing() map[swapper.SwapType]func() swapper.CreateSwapInput {
	in := func(chain, to string) swapper.CreateSwapInput {
		return swapper.CreateSwapInput{SrcToken: w.token("WBTC"), DstToken: chain, Amount: big.NewInt(50_000), AmountType: swapper.ExactOut,
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
	return w.balanceOf(w.net.EVM.User.Address, token)
}

// An LP that does not pay costs the user nothing, whether it says so or not.
func TestRefunds(t *testing.T) {
	t.Parallel()
	refunds(t, options{})
}

func refunds(t *testing.T, o options) {
	w := start(t, o)
	for typ, request := range w.outgoing() {
		for _, test := range trial.Of(2, []struct {
			name    string
			fault   lp.Fault
			timeout bool // nobody but time helps
		}{
			{"cooperatively", lp.Fault{NotPayable: true}, false},
			{"by timelock, the LP silent", lp.Fault{NeverPay: true}, true},
			{"cooperatively, the LP slow", lp.Fault{NotPayable: true, On: "/getRefundAuthorization", Stall: 4200 * time.Millisecond}, false},
			{"by timelock, the LP refuses", lp.Fault{NotPayable: true, NoRefund: true}, true},
			{"by timelock, the LP is gone", lp.Fault{NeverPay: true}, true},
		}) {
			t.Run(string(typ)+" "+test.name, func(t *testing.T) {
				w := w.in(t)
				before := w.book()
				w.net.LPs[0].Misbehave(lp.Fault{})
				s := w.create(request())
				w.net.LPs[0].Misbehave(test.fault)
				if test.timeout {
					w.until(s.SwapID, is("COMMITED"))
					open := w.reached(s.SwapID, "COMMITED")
					paid := open.Quote.InputAmount.RawAmount.Int64()
					w.only(w.since(before), map[string]int64{"user WBTC": -paid, "escrows WBTC": paid})
					if test.name == "by timelock, the LP is gone" {
						w.net.LPs[0].Misbehave(lp.Fault{NeverPay: true, Down: true})
					}
					trial.Do(t, w.net.Advance(8*24*time.Hour))
				}
				w.until(s.SwapID, is("REFUNDABLE"))
				w.ended(s.SwapID, "REFUNDED")
				w.only(w.since(before), nil)
			})
		}
	}
}
