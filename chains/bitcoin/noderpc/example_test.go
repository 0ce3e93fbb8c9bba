package noderpc_test

import (
	"context"
	"fmt"
	"log"

	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/chains/bitcoin/noderpc"
)

// Use the own Bitcoin Core node, with the cookie that it writes.
func Example() {
	backend, err := noderpc.New(noderpc.Options{
		Network:    bitcoin.Mainnet,
		URL:        "http://127.0.0.1:8332",
		CookieFile: "/var/lib/bitcoind/.cookie",
	})
	if err != nil {
		log.Fatal(err)
	}
	defer backend.Close()
	height, err := backend.TipHeight(context.Background())
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("best block", height)
}
