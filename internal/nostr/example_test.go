package nostr_test

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/internal/devnet/watchtower"
	"github.com/swapper-go/swapper/internal/nostr"
)

// A backend with relays of its own publishes through them. Success is one relay
// that took the message.
func ExampleMessenger() {
	relay, err := watchtower.StartRelay("") // in the place of wss://relay.example
	if err != nil {
		fmt.Println(err)
		return
	}
	defer relay.Close()
	m, err := nostr.New(nostr.Options{Network: bitcoin.Regtest, Relays: []string{relay.URL()}})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer m.Close()
	err = m.Publish(context.Background(), nostr.Message{
		SwapData: json.RawMessage(`{"type":"evm","sequence":"1"}`),
		Preimage: "8e44e0a82e03a93d033223164b36efa288b7e2cd541884e6b31181665ae23107",
	})
	fmt.Println(err, relay.Events()[0].Kind)
	// Output: <nil> 28646
}
