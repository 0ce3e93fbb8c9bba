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

// Claimer claims for users who are away. A [Tower] is one.
//
// Its methods return once the claim is stored: whoever claims goes on after a restart. They
// may be called again with the same content, and are safe for concurrent use. Errors of the
// code fault.InvalidInput say that the claimer cannot claim it, and has kept nothing of it.
type Claimer interface {
	Messenger
	// Withdraw takes over a withdrawal from a vault that Bitcoin has confirmed.
	Withdraw(ctx context.Context, w Withdrawal) error
	// Prove takes over an escrow whose bitcoin payment is confirmed.
	Prove(ctx context.Context, p Payment) error
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
