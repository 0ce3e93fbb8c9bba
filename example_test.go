package swapper_test

import (
	"context"
	"fmt"
	"log"
	"math/big"
	"net/http"

	"github.com/swapper-go/swapper"
	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/chains/evm"
	"github.com/swapper-go/swapper/httpapi"
	"github.com/swapper-go/swapper/storage/bolt"
	"github.com/swapper-go/swapper/swappertest"
)

// A client is opened on the local network of package swappertest, and asks for a
// quote. On a public network the configuration names the chains, a store, and nothing
// else that must be there.
func Example() {
	ctx := context.Background()
	network, err := swappertest.New(ctx, swappertest.Options{}) // in a test: swappertest.Start(t, swappertest.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer network.Close()

	client, err := swapper.Open(ctx, network.Config())
	if err != nil {
		log.Fatal(err)
	}
	defer client.Close()
	go client.Run(ctx) // keeps swaps moving between calls

	swap, err := client.CreateSwap(ctx, swapper.CreateSwapInput{
		SrcToken: "LIGHTNING-BTC", DstToken: "CITREA-WBTC",
		Amount: big.NewInt(50_000), AmountType: swapper.ExactIn,
		DstAddress: network.User.Address("CITREA"),
	})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("pay", swap.Quote.InputAmount.Amount, swap.Quote.InputAmount.Symbol, "on", swap.Quote.InputAmount.Chain)
	fmt.Println("get", swap.Quote.OutputAmount.Symbol, "on", swap.Quote.OutputAmount.Chain)
	// Output:
	// pay 0.00050000 BTC on LIGHTNING
	// get WBTC on CITREA
}

// On a public network: a store on disk, the chains to swap with, and the operations
// over HTTP.
func ExampleOpen() {
	ctx := context.Background()
	store, err := bolt.Open(ctx, "swaps.db", bolt.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer store.Close()

	client, err := swapper.Open(ctx, swapper.Config{
		Network: bitcoin.Testnet4,
		Store:   store,
		Chains:  []chains.Factory{evm.Citrea(evm.Options{RPC: []string{"https://rpc.testnet.citrea.xyz"}})},
	})
	if err != nil {
		log.Fatal(err)
	}
	defer client.Close()
	go client.Run(ctx)
	mux := http.NewServeMux()
	httpapi.Mount(mux, "/api", client, httpapi.Options{})
	log.Fatal(http.ListenAndServe("localhost:3000", mux))
}

// open starts a local network and a client on it.
func open() (*swappertest.Network, *swapper.Client) {
	network, err := swappertest.New(context.Background(), swappertest.Options{Hear: true})
	if err != nil {
		log.Fatal(err)
	}
	client, err := swapper.Open(context.Background(), network.Config())
	if err != nil {
		log.Fatal(err)
	}
	go client.Run(context.Background()) // until it is closed
	return network, client
}
