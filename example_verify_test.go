package swapper_test

import (
	"context"
	"fmt"
	"log"
	"math/big"
	"net/http/httptest"
	"strings"

	"github.com/swapper-go/swapper"
	"github.com/swapper-go/swapper/httpapi"
	"github.com/swapper-go/swapper/storage"
	"github.com/swapper-go/swapper/swappertest"
	"github.com/swapper-go/swapper/verify"
)

// A wallet uses somebody's service over HTTP and trusts it with nothing: what it is told is
// compared with its own nodes and prices, and what differs is refused.
func Example_verify() {
	ctx := context.Background()
	network, err := swappertest.New(ctx, swappertest.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer network.Close()
	provider, err := swapper.Open(ctx, network.Config()) // somebody's
	if err != nil {
		log.Fatal(err)
	}
	defer provider.Close()
	go provider.Run(ctx)
	server := httptest.NewServer(httpapi.New(provider, httpapi.Options{}))
	defer server.Close()

	remote, err := httpapi.NewClient(server.URL, httpapi.ClientOptions{})
	if err != nil {
		log.Fatal(err)
	}
	own := network.Config() // the wallet's own nodes and prices, never the service's
	service, err := verify.Wrap(remote, verify.Config{Network: own.Network, Chains: own.Chains, Bitcoin: own.Bitcoin, Prices: own.Prices, Now: own.Now, Store: new(storage.Memory)})
	if err != nil {
		log.Fatal(err)
	}
	swap, err := service.CreateSwap(ctx, swapper.CreateSwapInput{
		SrcToken: "CITREA-WBTC", DstToken: "BITCOIN-BTC",
		Amount: big.NewInt(50_000), AmountType: swapper.ExactOut,
		SrcAddress: network.User.Address("CITREA"), DstAddress: network.User.Address("BITCOIN"),
	})
	if err != nil {
		log.Fatal(err) // a *verify.RefusedError says what the service said, and what is true
	}
	end, err := network.User.Finish(ctx, service, swap.SwapID)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("success:", end.IsSuccess)
	fmt.Println(strings.HasPrefix(end.State.Description, "By the wallet's own nodes"))
	// Output:
	// success: true
	// true
}
