package events_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"log"
	"math/big"
	"net/http"
	"net/http/httptest"
	"strings"

	"github.com/swapper-go/swapper"
	"github.com/swapper-go/swapper/httpapi"
	"github.com/swapper-go/swapper/httpapi/events"
	"github.com/swapper-go/swapper/swappertest"
)

// A swap from Lightning, followed by a reader that asks nothing.
func ExampleStreams_Operation() {
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
