package nostr

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"time"

	"github.com/swapper-go/swapper/chains/bitcoin"
)

// ReceiverOptions of a [Receiver].
type ReceiverOptions struct {
	Network bitcoin.Network
	Relays  []string          // empty: [DefaultRelays]
	HTTP    http.RoundTripper // nil: [http.DefaultTransport]
	Pause   time.Duration     // before a relay is connected to again; 0: 15 s

	// Types says by type (evm, strk, sol) how swap data is checked. Messages of
	// other types are dropped.
	Types map[string]func(json.RawMessage) error

	// Status, if set, hears of every relay that is subscribed to (nil) or was lost
	// (why). It is called from several goroutines and must return soon.
	Status func(relay string, err error)
}

// Receiver gets messages from several relays, each message once. Its methods are
// safe for concurrent use.
type Receiver struct {
	options ReceiverOptions
	relays  []relay

	mu   sync.Mutex
	seen *ring // event ids; guarded by mu

	delivering sync.Mutex
}

// remembered is how many events are known by id, so that none is taken twice.
const remembered = 10_000

// NewReceiver returns a receiver; see [Receiver.Listen].
func NewReceiver(o ReceiverOptions) (*Receiver, error) {
	relays, err := relaysOf(o.Network, o.Relays)
	if err != nil {
		return nil, err
	}
	o.Pause = cmp.Or(o.Pause, 15*time.Second)
	return &Receiver{options: o, relays: relays, seen: newRing(remembered)}, nil
}

var errSeen = errors.New("already seen")

// Take checks one event, as a relay sent it: id and signature, the kind, that it
// is new, and the message in it. It does not check that the preimage claims
// anything: that takes the chain.
func (r *Receiver) Take(text []byte) (Message, error) {
	e, err := decodeEvent(text)
	if err != nil {
		return Message{}, errors.New("not an event")
	}
	if e.Kind != Kind(r.options.Network) {
		return Message{}, fmt.Errorf("unrequested event kind %d", e.Kind)
	}
	r.mu.Lock()
	known := r.seen.has(e.ID)
	r.mu.Unlock()
	if known {
		return Message{}, errSeen
	}
	// Only after the check is the id remembered: else a forged event would keep the
	// true one out.
	if err := e.Check(); err != nil {
		return Message{}, err
	}
	r.mu.Lock()
	fresh := r.seen.add(e.ID)
	r.mu.Unlock()
	if !fresh {
		return Message{}, errSeen
	}
	return r.read(e)
}

// read takes the message out of an event.
func (r *Receiver) read(e Event) (Message, error) {
	m, err := parseMessage(e.Content)
	if err != nil {
		return Message{}, err
	}
	name, err := dataType(m.SwapData)
	if err != nil {
		return Message{}, err
	}
	check := r.options.Types[name]
	if check == nil {
		return Message{}, errors.New("swap data of an unknown type")
	}
	if err := check(m.SwapData); err != nil {
		return Message{}, fmt.Errorf("swap data: %w", err)
	}
	return m, nil
}
