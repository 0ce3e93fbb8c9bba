package swap

import (
	"context"
	"encoding/hex"

	"github.com/swapper-go/swapper/nostr"
)

// OverNostr is the [Messenger] of the network: witnesses go to the relays that
// its watchtowers listen to. The result is an io.Closer too, which closes m.
func OverNostr(m *nostr.Messenger) Messenger { return relays{m} }

type relays struct{ *nostr.Messenger }

// Publish implements [Messenger].
func (r relays) Publish(ctx context.Context, w Witness) error {
	return r.Messenger.Publish(ctx, nostr.Message{SwapData: w.Escrow, Witness: hex.EncodeToString(w.Preimage[:])})
}
