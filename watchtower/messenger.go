package watchtower

import (
	"context"
	"encoding/hex"
	"encoding/json"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/internal/nostr"
)

// OverNostr returns the network's own [Messenger]: messages go to the Nostr
// relays that its watchtowers listen to. The result also implements io.Closer,
// which closes m.
func OverNostr(m *nostr.Messenger) Messenger { return relays{m} }

type relays struct{ *nostr.Messenger }

// Publish implements [Messenger].
func (r relays) Publish(ctx context.Context, msg Message) error {
	return r.Messenger.Publish(ctx, nostr.Message{SwapData: msg.Escrow, Preimage: hex.EncodeToString(msg.Preimage[:])})
}

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
