package nostr

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/coder/websocket"

	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/internal/httpx"
)

// Options of a [Messenger].
type Options struct {
	Network bitcoin.Network
	Relays  []string          // wss:// URLs (ws:// for private networks); empty: [DefaultRelays]
	Timeout time.Duration     // of one relay, connection included; 0: 4.4 s
	HTTP    http.RoundTripper // opens the websockets; nil: [http.DefaultTransport]
	Now     func() time.Time  // nil: the system's clock
	Rand    io.Reader         // nil: the system's secure source; safe for concurrent use
	Log     *slog.Logger      // nil: silence. Messages are never logged
}

// Messenger publishes messages to several relays at once. It keeps no connection
// open between publications. Its methods are safe for concurrent use.
type Messenger struct {
	options Options
	relays  []relay
	busy    []chan struct{} // one per relay, a place per connection
	key     *key

	ctx    context.Context // of all publications in progress
	cancel context.CancelFunc
	all    sync.WaitGroup

	mu      sync.Mutex
	flights map[string]*flight // by content; guarded by mu
}

// flight is one publication in progress. err is set before settled is
// closed: nil at the first relay that took the message, or when none did.
type flight struct {
	settled chan struct{}
	err     error
}

// perRelay is how many connections to one relay may be open at once; relays shut
// out clients that open many.
const perRelay = 16

// New returns a messenger with a key of its own. It connects to nothing yet.
func New(o Options) (*Messenger, error) {
	relays, err := relaysOf(o.Network, o.Relays)
	if err != nil {
		return nil, err
	}
	o.Timeout = cmp.Or(o.Timeout, 4400*time.Millisecond)
	if o.Now == nil {
		o.Now = time.Now
	}
	o.Rand = cmp.Or(o.Rand, rand.Reader)
	o.Log = cmp.Or(o.Log, slog.New(slog.DiscardHandler))
	key, err := newKey(o.Rand)
	if err != nil {
		return nil, err
	}
	m := &Messenger{options: o, relays: relays, key: key, flights: map[string]*flight{}}
	m.ctx, m.cancel = context.WithCancel(context.Background())
	for range relays {
		m.busy = append(m.busy, make(chan struct{}, perRelay))
	}
	return m, nil
}

// Publish sends a message to all relays and returns nil as soon as one of them
// took it; the others have until the timeout, also after ctx has ended. If none
// took it the error has [fault.Upstream] and names each relay's answer.
//
// Concurrent calls with the same message share one publication and its
// outcome. Publishing again later is harmless.
func (m *Messenger) Publish(ctx context.Context, msg Message) error {
	content, err := msg.content()
	if err != nil {
		return fmt.Errorf("watchtower message: %w", err)
	}
	f, err := m.join(content)
	if err != nil {
		return err
	}
	select {
	case <-f.settled:
		return f.err
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

var errClosed = errors.New("the messenger is closed")

func (m *Messenger) join(content string) (*flight, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.ctx.Err() != nil {
		return nil, errClosed
	}
	if f := m.flights[content]; f != nil {
		return f, nil
	}
	event, err := m.key.sign(m.options.Now(), Kind(m.options.Network), content)
	if err != nil {
		return nil, err
	}
	frame, err := event.MarshalJSON()
	if err != nil {
		return nil, err
	}
	frame = append(append([]byte(`["EVENT",`), frame...), ']')
	f := &flight{settled: make(chan struct{})}
	m.flights[content] = f
	m.all.Go(func() { m.publish(f, content, event.ID, frame) })
	return f, nil
}

// publish asks every relay, and returns when each of them answered or timed out.
func (m *Messenger) publish(f *flight, content, id string, frame []byte) {
	answers := make(chan error, len(m.relays))
	for i, to := range m.relays {
		m.all.Go(func() {
			err := m.send(i, id, frame)
			if err != nil {
				m.options.Log.Debug("relay refused a watchtower message", "relay", to.host, "err", err)
				err = fmt.Errorf("%s: %w", to.host, err)
			}
			answers <- err
		})
	}
	var failed []string
	taken := false
	for range m.relays {
		switch err := <-answers; {
		case err != nil:
			failed = append(failed, err.Error())
		case !taken:
			taken = true
			close(f.settled)
		}
	}
	m.mu.Lock()
	delete(m.flights, content)
	m.mu.Unlock()
	if !taken {
		f.err = fault.New(fault.Upstream, "no Nostr relay accepted the message%s", fault.Hidden(": "+strings.Join(failed, "; ")))
		close(f.settled)
	}
}

// send gives an event to one relay.
func (m *Messenger) send(i int, id string, frame []byte) error {
	ctx, cancel := context.WithTimeout(m.ctx, m.options.Timeout)
	defer cancel()
	select {
	case m.busy[i] <- struct{}{}:
		defer func() { <-m.busy[i] }()
	case <-ctx.Done():
		return errors.New("too many messages are being sent")
	}
	conn, err := httpx.DialWebSocket(ctx, m.relays[i].url, m.options.HTTP, maxFrame)
	if err != nil {
		return err
	}
	defer conn.CloseNow()
	if err := conn.Write(ctx, websocket.MessageText, frame); err != nil {
		return errors.New("connection lost")
	}
	// Notices and requests to authenticate may come first; a relay that only
	// talks is left.
	for range 100 {
		label, rest, err := readFrame(ctx, conn)
		if err != nil {
			return err
		}
		if label != "OK" {
			continue
		}
		switch got, taken, text, err := okOf(rest); {
		case err != nil:
			return err
		case got != id:
		case !taken:
			return refusal(text)
		default:
			return nil
		}
	}
	return errors.New("the relay sent many messages, but no reply to this one")
}

// Close cancels the publications in progress and waits for them to end; their
// callers get an error.
func (m *Messenger) Close() error {
	m.mu.Lock()
	m.cancel()
	m.mu.Unlock()
	m.all.Wait()
	return nil
}
