package verify_test

import (
	"context"
	"fmt"
	"log"

	"github.com/swapper-go/swapper"
	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/chains/evm"
	"github.com/swapper-go/swapper/httpapi"
	"github.com/swapper-go/swapper/storage/bolt"
	"github.com/swapper-go/swapper/verify"
)

// A wallet uses somebody's service, and compares its answers with what the wallet's own
// nodes say.
func ExampleWrap() {
	ctx := context.Background()
	remote, err := httpapi.NewClient("https://swaps.example/api", httpapi.ClientOptions{})
	if err != nil {
		log.Fatal(err)
	}
	store, err := bolt.Open(ctx, "agreed.db", bolt.Options{}) // what was agreed on
	if err != nil {
		log.Fatal(err)
	}
	defer store.Close()
	service, err := verify.Wrap(remote, verify.Config{
		Chains: []chains.Factory{evm.Citrea(evm.Options{RPC: []string{"https://node.example"}})}, // never the service's
		Store:  store,
	})
	if err != nil {
		log.Fatal(err)
	}
	// From here on as with any service.
	status, err := service.GetSwapStatus(ctx, swapper.GetSwapStatusInput{SwapID: "of an earlier createSwap"})
	if err != nil {
		log.Fatal(err) // a *verify.RefusedError says what the service said, and what is true
	}
	fmt.Println(status.State.Description)
}
