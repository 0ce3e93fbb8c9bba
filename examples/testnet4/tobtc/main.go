// Command tobtc swaps a token of a smart chain for bitcoin: on Bitcoin testnet4 with the
// public test networks of the smart chains, or on a network of its own.
//
//	go run ./examples/testnet4/tobtc                        # cBTC on Citrea's testnet to this wallet's own address
//	go run ./examples/testnet4/tobtc -chain SOLANA -to tb1q...
//	go run ./examples/testnet4/tobtc -chain STARKNET        # the first swap deploys the wallet's account
//	go run ./examples/testnet4/tobtc -network local -yes    # without internet
package main

import (
	"cmp"
	"context"

	"github.com/swapper-go/swapper"
	"github.com/swapper-go/swapper/examples/testnet4/console"
)

func main() { console.Main(swap) }

func swap(ctx context.Context, app *console.App) error {
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
