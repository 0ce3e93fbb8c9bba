package watchtower

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"sync"

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

// Messengers are several ways to publish a message, for example a [Tower] of one's own and
// [Nostr]. All of them get it, at the same time.
type Messengers []Messenger

// Publish returns nil once one of them took the message and all have answered.
func (all Messengers) Publish(ctx context.Context, m Message) error {
	failed := make([]error, len(all))
	var done sync.WaitGroup
	for i, one := range all {
		done.Go(func() { failed[i] = one.Publish(ctx, m) })
	}
	done.Wait()
	if slices.Contains(failed, nil) {
		return nil
	}
	return errors.Join(failed...)
}
