package e2e

import (
	"errors"
	"testing"

	"github.com/swapper-go/swapper"
	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/internal/trial"
)

// A wallet or a fee rate that makes an action impossible is refused by name: an
// answer without an action would say that nothing is to be done.
func TestParametersThatMakeAnActionImpossible(t *testing.T) {
	t.Parallel()
	w := start(t, options{slow: true})
	empty, err := w.net.Bitcoin.NewWallet(bitcoin.P2WPKH)
	if err != nil {
		t.Fatal(err)
	}
	legacy := trial.Must(w.net.Bitcoin.NewWallet(bitcoin.P2PKH))(t)
	rate := func(satVB float64) *float64 { return &satVB }
	for name, id := range map[string]string{
		"a vault swap":  w.withdrawal("WBTC").SwapID,
		"a gas payment": w.gas(w.gasInput("BITCOIN-BTC", w.newcomer())).SwapID,
	} {
		t.Run(name, func(t *testing.T) {
			own := swapper.GetSwapStatusInput{SwapID: id, BitcoinAddress: w.user.Bitcoin.Address.String(), BitcoinPublicKey: w.user.Bitcoin.PublicKey()}
			with := func(change func(*swapper.GetSwapStatusInput)) swapper.GetSwapStatusInput {
				in := own
				change(&in)
				return in
			}
			for _, test := range []struct {
				name  string
				in    swapper.GetSwapStatusInput
				field string
			}{
				{"a fee rate beyond the ceiling", with(func(in *swapper.GetSwapStatusInput) { in.BitcoinFeeRate = rate(100_000) }), "bitcoinFeeRate"},
				{"a fee rate that nobody relays", with(func(in *swapper.GetSwapStatusInput) { in.BitcoinFeeRate = rate(0.01) }), "bitcoinFeeRate"},
				{"a wallet without coins", with(func(in *swapper.GetSwapStatusInput) {
					in.BitcoinAddress, in.BitcoinPublicKey = empty.Address.String(), empty.PublicKey()
				}), "bitcoinAddress"},
			} {
				s, err := w.client.GetSwapStatus(t.Context(), test.in)
				e, ok := errors.AsType[*fault.Error](err)
				if !ok || e.Code != fault.InvalidInput || e.Field != test.field {
					t.Errorf("%s: %v, %+v", test.name, err, s)
				}
			}
			if s, err := w.client.GetSwapStatus(t.Context(), own); err != nil || s.CurrentAction == nil {
				t.Errorf("the same without: %v, %+v", err, s)
			}
		})
	}
	id := w.withdrawal("WBTC").SwapID
	_, err = w.client.GetSwapStatus(t.Context(), swapper.GetSwapStatusInput{SwapID: id, BitcoinAddress: legacy.Address.String(), BitcoinPublicKey: legacy.PublicKey()})
	if e, ok := errors.AsType[*fault.Error](err); !ok || e.Code != fault.InvalidInput || e.Field != "bitcoinAddress" {
		t.Errorf("a legacy wallet: %v", err)
	}
}
