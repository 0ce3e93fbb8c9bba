// Command fromlightning swaps bitcoin on Lightning for a token of a smart chain: on Bitcoin
// testnet4 with the public test networks of the smart chains, or on a network of its own.
//
//	go run ./examples/testnet4/fromlightning                      # to cBTC on Citrea's testnet; shows an invoice to pay
//	go run ./examples/testnet4/fromlightning -chain SOLANA -sats 5000
//	go run ./examples/testnet4/fromlightning -network local -yes  # without internet
package main

import (
	"context"

	"github.com/swapper-go/swapper"
	"github.com/swapper-go/swapper/examples/testnet4/console"
)

func main() { console.Main(swap) }

func swap(ctx context.Context, app *console.App) error {
	// A swap that was interrupted comes first: its invoice may be paid.
	if done, err := app.Resume(ctx, swapper.SwapFromBTCLN, swapper.SwapFromBTCLNAuto); done || err != nil {
		return err
	}
	if app.Chain == "SOLANA" { // there the recipient opens the escrow, and needs SOL for it
		if err := app.Balance(ctx, "SOLANA-SOL"); err != nil {
			return err
		}
	}

	quote, err := app.Client.CreateSwap(ctx, swapper.CreateSwapInput{
		SrcToken:   "LIGHTNING-BTC",
		DstToken:   app.Token,
		DstAddress: app.Keys.Address(app.Chain),
		Amount:     app.Amount(),
		AmountType: swapper.ExactIn, // exactly so much is paid
	})
	if err != nil || !app.Accept(&quote.SwapOutputBase) {
		return err
	}

	// Any Lightning wallet pays the invoice that is shown now. The provider cannot keep the
	// payment without the preimage, which this client gives away only for the tokens.
	return app.Follow(ctx, quote.SwapID)
}
