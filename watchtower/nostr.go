package watchtower

import (
	"context"
	"encoding/hex"
	"io"
	"log/slog"
	"net/http"
	"time"

	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/internal/nostr"
)

// NostrOptions of a [Nostr] messenger.
type NostrOptions struct {
	Network bitcoin.Network
	Relays  []string          // wss:// URLs (ws:// for private networks); empty: those that the network's watchtowers listen to
	Timeout time.Duration     // of one relay, connection included; 0: 4.4 s
	HTTP    http.RoundTripper // opens the websockets; nil: [http.DefaultTransport]
	Now     func() time.Time  // nil: the system's clock
	Rand    io.Reader         // nil: the system's secure source; safe for concurrent use
	Log     *slog.Logger      // nil: silence. Messages are never logged
}

// Nostr is the network's own [Messenger]: messages go to the Nostr relays that its
// watchtowers listen to, to several at once. It keeps no connection open between
// publications. Its methods are safe for concurrent use.
type Nostr struct{ messenger *nostr.Messenger }

// NewNostr returns a messenger with a key of its own. It connects to nothing yet.
// Errors have the code fault.InvalidInput and name the relay, or say that the network
// has none and one must be given.
func NewNostr(o NostrOptions) (*Nostr, error) {
	m, err := nostr.New(nostr.Options(o))
	if err != nil {
		return nil, err
	}
	return &Nostr{m}, nil
}

// Publish implements [Messenger].
func (n *Nostr) Publish(ctx context.Context, msg Message) error {
	return n.messenger.Publish(ctx, nostr.Message{SwapData: msg.Escrow, Preimage: hex.EncodeToString(msg.Preimage[:])})
}

// Close ends what is being published and waits for it.
func (n *Nostr) Close() error { return n.messenger.Close() }
