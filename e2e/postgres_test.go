//go:build unix

package e2e

import (
	"context"
	"math/big"
	"testing"

	"github.com/swapper-go/swapper"
	"github.com/swapper-go/swapper/internal/pgtest"
	"github.com/swapper-go/swapper/internal/trial"
	"github.com/swapper-go/swapper/storage/postgres"
	"github.com/swapper-go/swapper/swappertest"
)

// TestSwapsInADatabase settles a swap of each type with all that a client stores in the database.
func TestSwapsInADatabase(t *testing.T) {
	t.Parallel()
	dsn := pgtest.DSN(t)
	store := trial.Must(postgres.Open(t.Context(), dsn, postgres.Options{Schema: pgtest.Schema(t, dsn)}))(t)
	t.Cleanup(func() {
		if err := store.Verify(context.Background()); err != nil {
			t.Error(err)
		}
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	})
	n := swappertest.Start(t, swappertest.Options{Solana: swappertest.SolanaOptions{Version: "v1"}}) // the version with its own types
	config := n.Config()
	config.Store = store
	client := trial.Must(swapper.Open(t.Context(), config))(t)
	ended := make(chan struct{})
	go func() { defer close(ended); _ = client.Run(context.Background()) }() // until it is closed
	t.Cleanup(func() {
		if err := client.Close(); err != nil {
			t.Error(err)
		}
		<-ended
	})
	to := trial.Must(n.NewUser())(t)
	evm, solana := n.User.Address("CITREA"), n.User.Address("SOLANA")
	types := map[string]bool{}
	for _, in := range []swapper.CreateSwapInput{
		{SrcToken: "BITCOIN-BTC", DstToken: "CITREA-WBTC", Amount: big.NewInt(300_000), AmountType: swapper.ExactIn, DstAddress: to.Address("CITREA")},
		{SrcToken: "LIGHTNING-BTC", DstToken: "CITREA-USDC", Amount: big.NewInt(100_000), AmountType: swapper.ExactIn, DstAddress: to.Address("CITREA")},
		{SrcToken: "CITREA-CBTC", DstToken: "BITCOIN-BTC", Amount: big.NewInt(200_000), AmountType: swapper.ExactOut, SrcAddress: evm, DstAddress: to.Address("BITCOIN")},
		{SrcToken: "CITREA-USDC", DstToken: "LIGHTNING-BTC", Amount: big.NewInt(30_000), AmountType: swapper.ExactOut, SrcAddress: evm, DstAddress: to.Invoice(30_000)},
		{SrcToken: "LIGHTNING-BTC", DstToken: "SOLANA-USDC", Amount: big.NewInt(100_000), AmountType: swapper.ExactIn, DstAddress: solana},
		{SrcToken: "BITCOIN-BTC", DstToken: "SOLANA-WBTC", Amount: big.NewInt(300_000), AmountType: swapper.ExactIn, DstAddress: solana},
		{SrcToken: "SOLANA-SOL", DstToken: "BITCOIN-BTC", Amount: big.NewInt(200_000), AmountType: swapper.ExactOut, SrcAddress: solana, DstAddress: to.Address("BITCOIN")},
	} {
		swap, err := client.CreateSwap(t.Context(), in)
		if err != nil {
			t.Fatalf("%s to %s: %v", in.SrcToken, in.DstToken, err)
		}
		types[string(swap.SwapType)] = true
		resume := func() {}
		if swap.SwapType != swapper.SwapFromBTCLN { // it expires while its user signs
			resume = trial.Hasten(t, n)
		}
		status, err := n.User.Finish(t.Context(), client, swap.SwapID)
		resume()
		if err != nil || !status.IsSuccess {
			t.Fatalf("%s to %s: %v %+v", in.SrcToken, in.DstToken, err, status)
		}
	}
	if len(types) != 6 {
		t.Errorf("settled swaps of the types %v, want all six", types)
	}
	signer := swapper.Account{Chain: "CITREA", Signer: evm}
	found := 0
	for _, err := range client.Changes(t.Context(), signer, n.Now().AddDate(0, 0, -1)) {
		if err != nil {
			t.Fatal(err)
		}
		found++
	}
	if found != 2 {
		t.Errorf("found %d changes of %s, want 2", found, evm)
	}
}
