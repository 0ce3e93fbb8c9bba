package main

import (
	"context"

	"github.com/swapper-go/swapper"
	"github.com/swapper-go/swapper/examples/testnet4/console"
)

// fromBTC swaps bitcoin for a token of a smart chain.
func fromBTC(ctx context.Context, app *console.App) error {
	// A swap that was interrupted comes first: the bitcoin may be on its way.
	if done, err := app.Resume(ctx, swapper.SwapFromBTC, swapper.SwapSPVVaultFromBTC); done || err != nil {
		return err
	}
	if err := app.Balance(ctx, "BITCOIN-BTC"); err != nil {
		return err
	}
	if app.Chain == "SOLANA" { // there the recipient opens the escrow, and needs SOL for it
		if err := app.Balance(ctx, "SOLANA-SOL"); err != nil {
			return err
		}
	}

	quote, err := app.Client.CreateSwap(ctx, swapper.CreateSwapInput{
		SrcToken:   "BITCOIN-BTC",
		DstToken:   app.Token,
		DstAddress: app.Keys.Address(app.Chain),
		Amount:     app.Amount(),
		AmountType: swapper.ExactIn, // exactly so much is paid
	})
	if err != nil || !app.Accept(&quote.SwapOutputBase) {
		return err
	}

	// The wallet signs a Bitcoin transaction that the client has composed of its outputs.
	// Once it is confirmed, a watchtower claims the tokens for the recipient; if none does,
	// the program is asked to sign the claim itself.
	return app.Follow(ctx, quote.SwapID)
}
