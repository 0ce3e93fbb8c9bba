package watchtower

import (
	"context"
	"encoding/hex"
	"encoding/json"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/internal/nostr"
)

// NostrSource hears the messages of the network, from several relays at once, each message
// once.
type NostrSource struct{ receiver *nostr.Receiver }

// NewNostrSource returns a source. Of the options Network, Relays, HTTP and Log count. It
// connects to nothing yet. Errors have the code fault.InvalidInput and name the relay, or
// say that the network has none and one must be given.
func NewNostrSource(o NostrOptions) (*NostrSource, error) {
	any := func(json.RawMessage) error { return nil } // the tower judges with the chains' contracts
	receiver, err := nostr.NewReceiver(nostr.ReceiverOptions{
		Network: o.Network, Relays: o.Relays, HTTP: o.HTTP, Types: map[string]func(json.RawMessage) error{"evm": any, "strk": any, "sol": any},
		Status: func(relay string, err error) {
			switch {
			case o.Log == nil:
			case err != nil:
				o.Log.Warn("a relay is lost, and is connected to again", "relay", relay, "err", err)
			default:
				o.Log.Info("listening to a relay", "relay", relay)
			}
		},
	})
	if err != nil {
		return nil, err
	}
	return &NostrSource{receiver}, nil
}

// Listen implements [Source].
func (s *NostrSource) Listen(ctx context.Context, deliver func(Message)) error {
	return s.receiver.Listen(ctx, func(m nostr.Message) {
		preimage, err := hex.DecodeString(m.Preimage)
		if err != nil || len(preimage) != len(chains.Preimage{}) {
			return
		}
		deliver(Message{Chain: m.ChainID, Escrow: m.SwapData, Preimage: chains.Preimage(preimage)})
	})
}
