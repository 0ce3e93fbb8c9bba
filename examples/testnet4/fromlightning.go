package main

import (
	"context"

	"github.com/swapper-go/swapper"
	"github.com/swapper-go/swapper/examples/testnet4/console"
)

// fromLightning swaps bitcoin on Lightning for a token of a smart chain.
func fromLightning(ctx context.Context, app *console.App) error {
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
