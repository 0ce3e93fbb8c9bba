package swapper_test

import (
	"context"
	"fmt"
	"log"
	"math/big"
	"net/http"
	"net/http/httptest"
	"time"

	"github.com/swapper-go/swapper"
	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/httpapi"
)

// A Lightning address, or an LNURL-pay link, is a destination like an invoice. Once
// it is paid, the status has what the paid service says.
func ExampleClient_CreateSwap_lnurl() {
	network, client := open()
	defer network.Close()
	defer client.Close()
	ctx, user := context.Background(), network.User

	swap, err := client.CreateSwap(ctx, swapper.CreateSwapInput{
		SrcToken: "CITREA-WBTC", DstToken: "LIGHTNING-BTC",
		Amount: big.NewInt(20_000), AmountType: swapper.ExactOut,
		SrcAddress: user.Address("CITREA"), DstAddress: network.LightningAddress(),
	})
	if err != nil {
		log.Fatal(err)
	}
	status, err := user.Finish(ctx, client, swap.SwapID)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(status.State.Name, "-", status.LNURL.SuccessAction.Description)
	// Output: CLAIMED - thank you
}

// A swap from Lightning is paid by an LNURL-withdraw link, as of a voucher.
func ExampleClient_SettleWithLnurl() {
	network, client := open()
	defer network.Close()
	defer client.Close()
	ctx := context.Background()

	voucher, err := network.WithdrawLink()
	if err != nil {
		log.Fatal(err)
	}
	swap, err := client.CreateSwap(ctx, swapper.CreateSwapInput{
		SrcToken: "LIGHTNING-BTC", DstToken: "CITREA-WBTC",
		Amount: big.NewInt(20_000), AmountType: swapper.ExactIn,
		DstAddress: network.User.Address("CITREA"),
	})
	if err != nil {
		log.Fatal(err)
	}
	out, err := client.SettleWithLnurl(ctx, swapper.SettleWithLnurlInput{SwapID: swap.SwapID, LnurlWithdraw: voucher})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(len(out.PaymentHash), "digits of a payment hash")
	// Output: 64 digits of a payment hash
}

// Lists come from the store alone, newest first: no chain and no provider is asked.
func ExampleClient_ListPendingSwaps() {
	network, client := open()
	defer network.Close()
	defer client.Close()
	ctx, signer := context.Background(), network.User.Address("CITREA")

	for _, sats := range []int64{20_000, 30_000} {
		swap, err := client.CreateSwap(ctx, swapper.CreateSwapInput{
			SrcToken: "CITREA-WBTC", DstToken: "LIGHTNING-BTC",
			Amount: big.NewInt(sats), AmountType: swapper.ExactOut,
			SrcAddress: signer, DstAddress: network.Invoice(sats),
		})
		if err != nil {
			log.Fatal(err)
		}
		if sats == 20_000 {
			if _, err := network.User.Finish(ctx, client, swap.SwapID); err != nil {
				log.Fatal(err)
			}
		}
	}
	all, err := client.ListSwaps(ctx, swapper.ListSwapsInput{Signer: signer})
	if err != nil {
		log.Fatal(err)
	}
	pending, err := client.ListPendingSwaps(ctx, swapper.ListSwapsInput{Signer: signer, ChainID: "CITREA"})
	if err != nil {
		log.Fatal(err)
	}
	for _, s := range all {
		fmt.Println(s.Quote.OutputAmount.RawAmount, "sats", s.State.Name)
	}
	fmt.Println(len(pending), "pending")
	// Output:
	// 30000 sats CREATED
	// 20000 sats CLAIMED
	// 1 pending
}

// A long list is read page by page: the next page begins after the last swap of the
// one before.
func ExampleClient_ListSwaps() {
	network, client := open()
	defer network.Close()
	defer client.Close()
	ctx, signer := context.Background(), network.User.Address("CITREA")

	for _, sats := range []int64{10_000, 20_000, 30_000} {
		if _, err := client.CreateSwap(ctx, swapper.CreateSwapInput{
			SrcToken: "CITREA-WBTC", DstToken: "LIGHTNING-BTC",
			Amount: big.NewInt(sats), AmountType: swapper.ExactOut,
			SrcAddress: signer, DstAddress: network.Invoice(sats),
		}); err != nil {
			log.Fatal(err)
		}
	}
	page := swapper.ListSwapsInput{Signer: signer, Limit: 2}
	for {
		swaps, err := client.ListSwaps(ctx, page)
		if err != nil {
			log.Fatal(err)
		}
		if len(swaps) == 0 {
			break
		}
		fmt.Println("page of", len(swaps))
		for _, s := range swaps {
			fmt.Println(s.Quote.OutputAmount.RawAmount, "sats", s.State.Name)
		}
		page.After = swaps[len(swaps)-1].SwapID
	}
	// Output:
	// page of 2
	// 30000 sats CREATED
	// 20000 sats CREATED
	// page of 1
	// 10000 sats CREATED
}

// Subscribe tells a backend what changes while it is not asking, for a push message
// or a web socket.
func ExampleClient_Subscribe() {
	network, client := open()
	defer network.Close()
	defer client.Close()
	ctx := context.Background()

	settled := make(chan swapper.Change)
	go func() {
		for c, err := range client.Subscribe(ctx) {
			if err != nil {
				return // ctx has ended, or the client is closed
			}
			if c.Swap.IsSuccess {
				settled <- c
			}
		}
	}()
	swap, err := client.CreateSwap(ctx, swapper.CreateSwapInput{
		SrcToken: "LIGHTNING-BTC", DstToken: "CITREA-WBTC",
		Amount: big.NewInt(20_000), AmountType: swapper.ExactIn,
		DstAddress: network.User.Address("CITREA"),
	})
	if err != nil {
		log.Fatal(err)
	}
	if _, err := network.User.Finish(ctx, client, swap.SwapID); err != nil {
		log.Fatal(err)
	}
	c := <-settled
	fmt.Println(c.Swap.SwapID == swap.SwapID, c.Swap.State.Name)
	// Output: true CLAIM_CLAIMED
}

// Changes tells a program that was away what it has missed. It keeps the greatest At
// that it has seen, goes back some seconds from there, and knows by Version what is new.
func ExampleClient_Changes() {
	network, client := open()
	defer network.Close()
	defer client.Close()
	ctx := context.Background()

	seen := time.Now()           // of the last change that was dealt with
	known := map[string]uint64{} // versions by swap, which the program keeps too
	swap, err := client.CreateSwap(ctx, swapper.CreateSwapInput{
		SrcToken: "LIGHTNING-BTC", DstToken: "CITREA-WBTC",
		Amount: big.NewInt(20_000), AmountType: swapper.ExactIn,
		DstAddress: network.User.Address("CITREA"),
	})
	if err != nil {
		log.Fatal(err)
	}
	if _, err := network.User.Finish(ctx, client, swap.SwapID); err != nil { // while the program was away
		log.Fatal(err)
	}
	before := seen
	for c, err := range client.Changes(ctx, swapper.Account{}, seen.Add(-10*time.Second)) {
		if err != nil {
			log.Fatal(err)
		}
		if known[c.Swap.SwapID] >= c.Version {
			continue
		}
		known[c.Swap.SwapID], seen = c.Version, c.At.Time
		fmt.Println(c.Swap.State.Name, c.Account.Chain)
	}
	fmt.Println("next time from a later moment:", seen.After(before))
	// Output:
	// CLAIM_CLAIMED CITREA
	// next time from a later moment: true
}

// A store was lost: what the chain shows of a signer's swaps is rebuilt, so that what
// is locked can still be settled or refunded.
func ExampleClient_Recover() {
	network, client := open()
	defer network.Close()
	ctx, signer := context.Background(), network.User.Address("CITREA")
	swap, err := client.CreateSwap(ctx, swapper.CreateSwapInput{
		SrcToken: "CITREA-WBTC", DstToken: "LIGHTNING-BTC",
		Amount: big.NewInt(20_000), AmountType: swapper.ExactOut,
		SrcAddress: signer, DstAddress: network.Invoice(20_000),
	})
	if err != nil {
		log.Fatal(err)
	}
	if _, err := network.User.Finish(ctx, client, swap.SwapID); err != nil {
		log.Fatal(err)
	}
	client.Close()

	client, err = swapper.Open(ctx, network.Config()) // on an empty store
	if err != nil {
		log.Fatal(err)
	}
	defer client.Close()
	found, err := client.Recover(ctx, signer)
	if err != nil {
		log.Fatal(err)
	}
	for _, s := range found {
		fmt.Println(s.SwapType, s.State.Name)
	}
	// Output: TO_BTCLN CLAIMED
}

// The operations over HTTP, behind middleware that says who calls.
func Example_middleware() {
	network, client := open()
	defer network.Close()
	defer client.Close()

	users := map[string]string{"Bearer secret": "alice"}
	mux := http.NewServeMux()
	httpapi.Mount(mux, "/api", client, httpapi.Options{})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		user, ok := users[r.Header.Get("Authorization")]
		if !ok {
			http.Error(w, "who are you?", http.StatusUnauthorized)
			return
		}
		mux.ServeHTTP(w, r.WithContext(swapper.WithCaller(r.Context(), user))) // idempotency keys are hers
	}))
	defer server.Close()

	for _, key := range []string{"wrong", "secret"} {
		request, err := http.NewRequest("GET", server.URL+"/api/getSupportedTokens?side=INPUT", nil)
		if err != nil {
			log.Fatal(err)
		}
		request.Header.Set("Authorization", "Bearer "+key)
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			log.Fatal(err)
		}
		response.Body.Close()
		fmt.Println(response.Status)
	}
	// Output:
	// 401 Unauthorized
	// 200 OK
}

// A service that runs elsewhere has the same methods, and the same errors.
func Example_remote() {
	network, client := open()
	defer network.Close()
	defer client.Close()
	server := httptest.NewServer(httpapi.New(client, httpapi.Options{}))
	defer server.Close()

	remote, err := httpapi.NewClient(server.URL, httpapi.ClientOptions{})
	if err != nil {
		log.Fatal(err)
	}
	var service swapper.Service = remote
	what, err := service.ParseAddress(context.Background(), swapper.ParseAddressInput{Address: network.Invoice(20_000)})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(what.Type, what.Amount.RawAmount, "sats")
	_, err = service.GetSwapStatus(context.Background(), swapper.GetSwapStatusInput{SwapID: "unknown"})
	fmt.Println(fault.CodeOf(err))
	// Output:
	// LIGHTNING 20000 sats
	// not_found
}
