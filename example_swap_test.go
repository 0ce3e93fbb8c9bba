package swapper_test

import (
	"context"
	"fmt"
	"log"
	"math/big"
	"time"

	"github.com/swapper-go/swapper"
	"github.com/swapper-go/swapper/swappertest"
)

// From a smart chain to Lightning, as a wallet backend does it: ask what is to be
// done, let the user's wallet do it, ask again.
func ExampleClient_CreateSwap_toLightning() {
	network, client := open() // a local network of package swappertest, and a client on it
	defer network.Close()
	defer client.Close()
	ctx, user := context.Background(), network.User

	swap, err := client.CreateSwap(ctx, swapper.CreateSwapInput{
		SrcToken: "CITREA-WBTC", DstToken: "LIGHTNING-BTC",
		Amount: big.NewInt(20_000), AmountType: swapper.ExactOut,
		SrcAddress: user.Address("CITREA"), DstAddress: network.Invoice(20_000),
	})
	if err != nil {
		log.Fatal(err)
	}
	for {
		status, err := client.GetSwapStatus(ctx, swapper.GetSwapStatusInput{SwapID: swap.SwapID})
		if err != nil {
			log.Fatal(err)
		}
		if status.IsFinished {
			fmt.Println("success:", status.IsSuccess)
			break
		}
		if a, ok := status.CurrentAction.(*swapper.SignSmartChainTransaction); ok {
			signed, err := user.Sign(a) // by the user's wallet
			if err != nil {
				log.Fatal(err)
			}
			if _, err := client.SubmitTransaction(ctx, swapper.SubmitTransactionInput{SwapID: swap.SwapID, SignedTxs: signed}); err != nil {
				log.Fatal(err)
			}
		}
		time.Sleep(100 * time.Millisecond)
	}
	// Output: success: true
}

// From a smart chain to Bitcoin: the recipient gets exactly what was asked for.
func ExampleClient_CreateSwap_toBitcoin() {
	network, client := open()
	defer network.Close()
	defer client.Close()
	ctx := context.Background()

	recipient, err := network.NewUser()
	if err != nil {
		log.Fatal(err)
	}
	swap, err := client.CreateSwap(ctx, swapper.CreateSwapInput{
		SrcToken: "CITREA-USDC", DstToken: "BITCOIN-BTC",
		Amount: big.NewInt(150_000), AmountType: swapper.ExactOut,
		SrcAddress: network.User.Address("CITREA"), DstAddress: recipient.Address("BITCOIN"),
	})
	if err != nil {
		log.Fatal(err)
	}
	status, err := network.User.Finish(ctx, client, swap.SwapID) // signs, submits and waits
	if err != nil {
		log.Fatal(err)
	}
	sats, err := recipient.Balance(ctx, "BITCOIN-BTC")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(status.SwapType, status.State.Name, "- received", sats, "sats")
	// Output: TO_BTC CLAIMED - received 150000 sats
}

// From Lightning: the user pays an invoice and signs nothing. A watchtower claims the
// tokens with the preimage that the library has made.
func ExampleClient_CreateSwap_fromLightning() {
	network, client := open()
	defer network.Close()
	defer client.Close()
	ctx := context.Background()

	swap, err := client.CreateSwap(ctx, swapper.CreateSwapInput{
		SrcToken: "LIGHTNING-BTC", DstToken: "CITREA-USDC",
		Amount: big.NewInt(50_000), AmountType: swapper.ExactIn,
		DstAddress: network.User.Address("CITREA"),
	})
	if err != nil {
		log.Fatal(err)
	}
	status, err := client.GetSwapStatus(ctx, swapper.GetSwapStatusInput{SwapID: swap.SwapID})
	if err != nil {
		log.Fatal(err)
	}
	invoice := status.CurrentAction.(*swapper.SendToAddress).Txs[0]
	fmt.Println(invoice.Type, invoice.Amount.RawAmount, "sats")
	if err := network.Pay(invoice.Address); err != nil { // from any Lightning wallet
		log.Fatal(err)
	}
	for !status.IsFinished {
		time.Sleep(100 * time.Millisecond)
		if status, err = client.GetSwapStatus(ctx, swapper.GetSwapStatusInput{SwapID: swap.SwapID}); err != nil {
			log.Fatal(err)
		}
	}
	fmt.Println(status.SwapType, status.State.Name)
	// Output:
	// BOLT11_PAYMENT_REQUEST 50000 sats
	// FROM_BTCLN_AUTO CLAIM_CLAIMED
}

// From Bitcoin, through a provider's vault: the user signs one Bitcoin transaction,
// and a watchtower proves it to the chain once it is confirmed.
func ExampleClient_CreateSwap_fromBitcoin() {
	network, client := open()
	defer network.Close()
	defer client.Close()
	ctx := context.Background()

	swap, err := client.CreateSwap(ctx, swapper.CreateSwapInput{
		SrcToken: "BITCOIN-BTC", DstToken: "CITREA-WBTC",
		Amount: big.NewInt(300_000), AmountType: swapper.ExactIn,
		DstAddress: network.User.Address("CITREA"),
	})
	if err != nil {
		log.Fatal(err)
	}
	status, err := network.User.Finish(ctx, client, swap.SwapID) // signs, submits and waits
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(status.SwapType, status.State.Name)
	// Output: SPV_VAULT_FROM_BTC CLAIMED
}

// A provider that cannot pay gives the tokens back: the next action is the refund,
// which the user signs like any other transaction.
func ExampleClient_GetSwapStatus_refund() {
	network, client := open()
	defer network.Close()
	defer client.Close()
	network.Misbehave(swappertest.LPFault{NotPayable: true})
	ctx, user := context.Background(), network.User

	swap, err := client.CreateSwap(ctx, swapper.CreateSwapInput{
		SrcToken: "CITREA-WBTC", DstToken: "LIGHTNING-BTC",
		Amount: big.NewInt(20_000), AmountType: swapper.ExactOut,
		SrcAddress: user.Address("CITREA"), DstAddress: network.Invoice(20_000),
	})
	if err != nil {
		log.Fatal(err)
	}
	status, err := user.FinishUntil(ctx, client, swap.SwapID, func(s *swapper.GetSwapStatusOutput) bool {
		a, ok := s.CurrentAction.(*swapper.SignSmartChainTransaction)
		return ok && a.Name == "Refund"
	})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("to be signed:", status.CurrentAction.(*swapper.SignSmartChainTransaction).Name)
	if status, err = user.Finish(ctx, client, swap.SwapID); err != nil {
		log.Fatal(err)
	}
	fmt.Println(status.State.Name, status.IsSuccess)
	// Output:
	// to be signed: Refund
	// REFUNDED false
}
