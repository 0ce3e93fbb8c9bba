package verify_test

import (
	"fmt"
	"strings"

	"github.com/swapper-go/swapper"
	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/internal/trial"
	"github.com/swapper-go/swapper/storage"
	"github.com/swapper-go/swapper/verify"
)

// What can be swapped is what the wallet's own nodes say; the service is not asked.
func balances(w *world) {
	v := w.walletOf(&service{}, new(storage.Memory))
	for _, token := range []string{w.chain + "-WBTC", "BITCOIN-BTC"} {
		has := trial.Must(w.net.User.Balance(w.Context(), token))(w)
		chain, _, _ := strings.Cut(token, "-")
		in := swapper.GetSpendableBalanceInput{Wallet: w.net.User.Address(chain), Token: token}
		got := trial.Must(v.GetSpendableBalance(w.Context(), in))(w)
		want := trial.Must(w.service.GetSpendableBalance(w.Context(), in))(w)
		if got.Balance.RawAmount.Sign() <= 0 || got.Balance.RawAmount.Cmp(has) > 0 || asText(w.T, got) != asText(w.T, want) {
			w.Errorf("%s: got %s, want at most %s and %s", token, asText(w.T, got), has, asText(w.T, want))
		}
	}
}

// A wallet without a Bitcoin backend pays to Bitcoin; everything for which it would have to
// look at Bitcoin is refused, and what it cannot see is marked.
func withoutBitcoin(w *world) {
	c := w.net.Config()
	store := new(storage.Memory)
	v := trial.Must(verify.Wrap(w.service, verify.Config{Network: c.Network, Chains: c.Chains, NoBitcoin: true, Prices: c.Prices, Now: c.Now, Store: store}))(w)
	end, err := w.net.User.Finish(w.Context(), v, w.out(v, swapper.SwapToBTC).SwapID)
	if err != nil || !end.IsSuccess {
		w.Errorf("to Bitcoin: got %+v, %v", end, err)
	}
	before := w.fromBitcoin(w.walletOf(w.service, store)).SwapID // while there was one
	in := swapper.CreateSwapInput{SrcToken: "BITCOIN-BTC", DstToken: w.chain + "-WBTC", Amount: units(50_000, coin).RawAmount, AmountType: swapper.ExactIn, DstAddress: w.net.User.Address(w.chain)}
	for name, c := range map[string]struct {
		field string
		err   error
	}{
		"a swap from Bitcoin": {"srcToken", second(v.CreateSwap(w.Context(), in))},
		"a balance":           {"token", second(v.GetSpendableBalance(w.Context(), swapper.GetSpendableBalanceInput{Wallet: w.net.User.Address("BITCOIN"), Token: "BITCOIN-BTC"}))},
		"a status":            {"", second(v.GetSwapStatus(w.Context(), swapper.GetSwapStatusInput{SwapID: before}))},
		"a payment":           {"", second(v.SubmitTransaction(w.Context(), swapper.SubmitTransactionInput{SwapID: before, SignedTxs: []string{"0x"}}))},
	} {
		w.refusedAt(name, c.err, fault.Unsupported, c.field)
		if !strings.Contains(fmt.Sprint(c.err), "verify.Config.Bitcoin") {
			w.Errorf("%s: got %v, want the missing backend named", name, c.err)
		}
	}
	listed := trial.Must(v.ListSwaps(w.Context(), swapper.ListSwapsInput{Signer: w.net.User.Address(w.chain)}))(w)
	for _, o := range listed {
		if o.SwapID == before && (o.IsFinished || !strings.Contains(o.State.Description, "Told by the service, not verified")) {
			w.Errorf("in a list: got %+v", o)
		}
	}
}
