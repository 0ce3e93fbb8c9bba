package watchtower

import (
	"context"
	"encoding/json"

	"github.com/swapper-go/swapper/chains"
)

// Message is what a watchtower needs to claim an escrow for the user. Once it
// is published, the preimage is public.
type Message struct {
	Chain    string
	Escrow   json.RawMessage // in the chain's own format
	Preimage chains.Preimage
}

// Messenger publishes a preimage to the watchtowers.
//
// Publish returns nil once at least one relay accepted the message. It may be
// called again with the same content, and is safe for concurrent use.
type Messenger interface {
	Publish(ctx context.Context, m Message) error
}
