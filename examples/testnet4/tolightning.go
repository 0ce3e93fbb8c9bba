package main

import (
	"cmp"
	"context"
	"errors"
	"math/big"

	"github.com/swapper-go/swapper"
	"github.com/swapper-go/swapper/examples/testnet4/console"
)

// toLightning pays a Lightning invoice, a Lightning address or an LNURL with a token of a smart
// chain.
func toLightning(ctx context.Context, app *console.App) error {
	// A swap that was interrupted comes first: the money in it is locked.
	if done, err := app.Resume(ctx, swapper.SwapToBTCLN); done || err != nil {
		return err
	}
	to := cmp.Or(app.To, app.Network.Invoice(app.Sats))
	if to == "" {
		return errors.New("-to is required: the invoice, Lightning address or LNURL that is to be paid")
	}
	if err := app.Balance(ctx, app.Token); err != nil {
		return err
	}

	// What the recipient is decides the amount: an invoice names its own.
	recipient, err := app.Client.ParseAddress(ctx, swapper.ParseAddressInput{Address: to})
	if err != nil {
		return err
	}
	amount := app.Amount()
	if recipient.Amount != nil {
		amount = new(big.Int).Set(recipient.Amount.RawAmount)
	}

	quote, err := app.Client.CreateSwap(ctx, swapper.CreateSwapInput{
		SrcToken:   app.Token,
		SrcAddress: app.Keys.Address(app.Chain),
		DstToken:   "LIGHTNING-BTC",
		DstAddress: to,
		Amount:     amount,
		AmountType: swapper.ExactOut,
	})
	if err != nil || !app.Accept(&quote.SwapOutputBase) {
		return err
	}

	// The first signature locks the tokens under the payment's hash. The provider gets
	// them by the preimage, which it learns by paying; if the payment fails, they come back.
	return app.Follow(ctx, quote.SwapID)
}
