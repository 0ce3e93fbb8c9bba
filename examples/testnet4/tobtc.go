package main

import (
	"cmp"
	"context"

	"github.com/swapper-go/swapper"
	"github.com/swapper-go/swapper/examples/testnet4/console"
)

// toBTC swaps a token of a smart chain for bitcoin.
func toBTC(ctx context.Context, app *console.App) error {
	// A swap that was interrupted comes first: the money in it is locked.
	if done, err := app.Resume(ctx, swapper.SwapToBTC); done || err != nil {
		return err
	}
	if err := app.Balance(ctx, app.Token); err != nil {
		return err
	}

	// Creating a swap asks the providers for quotes, checks what they claim, and keeps the
	// best. Nothing is paid yet: a quote that is not used expires.
	quote, err := app.Client.CreateSwap(ctx, swapper.CreateSwapInput{
		SrcToken:   app.Token,
		SrcAddress: app.Keys.Address(app.Chain),
		DstToken:   "BITCOIN-BTC",
		DstAddress: cmp.Or(app.To, app.Keys.Address("BITCOIN")),
		Amount:     app.Amount(),
		AmountType: swapper.ExactOut, // the recipient gets exactly so much
	})
	if err != nil || !app.Accept(&quote.SwapOutputBase) {
		return err
	}

	// The first signature locks the tokens in the escrow contract. The provider gets them
	// when it proves its payment on Bitcoin; if it does not pay, they can be refunded.
	return app.Follow(ctx, quote.SwapID)
}
