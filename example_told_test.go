package swapper_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"math/big"
	"net/http"
	"net/http/httptest"
	"strings"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"github.com/swapper-go/swapper"
	"github.com/swapper-go/swapper/httpapi"
	"github.com/swapper-go/swapper/httpapi/events"
	"github.com/swapper-go/swapper/httpapi/webhook"
	"github.com/swapper-go/swapper/swappertest"
)

// A shop is told when its customer has paid.
func Example_webhooks() {
	ctx := context.Background()
	network, err := swappertest.New(ctx, swappertest.Options{Hear: true})
	if err != nil {
		log.Fatal(err)
	}
	defer network.Close()
	config := network.Config()
	client, err := swapper.Open(ctx, config)
	if err != nil {
		log.Fatal(err)
	}
	defer client.Close()
	go client.Run(ctx)

	secret := webhook.NewSecret()
	paid := make(chan string, 10)
	shop := httptest.NewServer(shopHandler(secret, paid))
	defer shop.Close()

	sender, err := webhook.New(client, webhook.Options{
		Store: config.Store, Now: config.Now,
		Endpoints:  []webhook.Endpoint{{Name: "shop", URL: shop.URL, Secrets: []string{secret}}},
		AllowLocal: true, // the shop is on this machine
	})
	if err != nil {
		log.Fatal(err)
	}
	go sender.Run(ctx)

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
	fmt.Println(<-paid == swap.SwapID)
	// Output: true
}

// shopHandler is the shop's side.
func shopHandler(secret string, paid chan<- string) http.Handler {
	hook, err := standardwebhooks.NewWebhook(secret)
	if err != nil {
		log.Fatal(err)
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, 1<<20))
		if err != nil || hook.Verify(body, r.Header) != nil {
			http.Error(w, "not from the swap service", http.StatusUnauthorized)
			return
		}
		var message struct{ Data swapper.GetSwapStatusOutput }
		if err := json.Unmarshal(body, &message); err != nil {
			http.Error(w, "not a message", http.StatusBadRequest)
			return
		}
		// What is done here is done once for each r.Header.Get("webhook-id").
		if message.Data.IsSuccess {
			paid <- message.Data.SwapID
		}
	})
}

// A swap from Lightning, followed by a reader that asks nothing.
func Example_events() {
	ctx := context.Background()
	network, err := swappertest.New(ctx, swappertest.Options{Hear: true})
	if err != nil {
		log.Fatal(err)
	}
	defer network.Close()
	client, err := swapper.Open(ctx, network.Config())
	if err != nil {
		log.Fatal(err)
	}
	defer client.Close()
	go client.Run(ctx)

	streams := events.New(client, events.Options{})
	defer streams.Close()
	mux := http.NewServeMux()
	httpapi.Mount(mux, "/api", client, httpapi.Options{Operations: []httpapi.Operation{streams.Operation()}})
	server := httptest.NewUnstartedServer(mux)
	server.Config.RegisterOnShutdown(streams.Close)
	server.Start()
	defer server.Config.Shutdown(ctx)

	swap, err := client.CreateSwap(ctx, swapper.CreateSwapInput{
		SrcToken: "LIGHTNING-BTC", DstToken: "CITREA-WBTC",
		Amount: big.NewInt(20_000), AmountType: swapper.ExactIn,
		DstAddress: network.User.Address("CITREA"),
	})
	if err != nil {
		log.Fatal(err)
	}
	response, err := http.Get(server.URL + "/api/subscribe?swapId=" + swap.SwapID)
	if err != nil {
		log.Fatal(err)
	}
	defer response.Body.Close()
	paid := false
	lines := bufio.NewScanner(response.Body)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		data, ok := strings.CutPrefix(lines.Text(), "data: ")
		if !ok {
			continue // an id to come back with, a heartbeat
		}
		var status swapper.GetSwapStatusOutput
		if err := json.Unmarshal([]byte(data), &status); err != nil {
			log.Fatal(err)
		}
		if a, ok := status.CurrentAction.(*swapper.SendToAddress); ok && !paid {
			paid = true
			fmt.Println("to be paid:", a.Txs[0].Amount.Amount, "BTC")
			if err := network.Pay(a.Txs[0].Address); err != nil {
				log.Fatal(err)
			}
		}
		if status.IsFinished {
			fmt.Println(status.State.Name)
			break
		}
	}
	// Output:
	// to be paid: 0.00020000 BTC
	// CLAIM_CLAIMED
}
