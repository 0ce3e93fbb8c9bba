package watchtower

import (
	"context"
	"encoding/json"
	"io"
	"log"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/coder/websocket"

	"github.com/swapper-go/swapper/internal/devnet/loopback"
	"github.com/swapper-go/swapper/internal/nostr"
)

// RelayFault is how a [Relay] misbehaves. The zero value is a good relay; faults may
// be combined.
type RelayFault struct {
	Down     bool          // connections are cut before they are websockets
	Status   int           // and answered with this HTTP status instead, as in 503
	Redirect string        // and sent to this URL instead
	Delay    time.Duration // before every answer
	Silent   bool          // events are neither answered nor passed on
	Refuse   string        // events are answered OK false with this text, as in "blocked: no"; %s stands for the event's content
	Hang     bool          // events are passed on, but not answered
	Deaf     bool          // events are answered OK true, but not passed on
	Cut      bool          // the connection is closed instead of an answer
	Garbage  bool          // answers are not the protocol's
	WrongID  bool          // answers are about another event
	Endless  bool          // notices for ever instead of an answer
	Huge     bool          // one message of 16 MiB instead of an answer
	Forge    bool          // events are passed on with another content, id and signature left as they were
	Repeat   int           // events are passed on so many more times
}

// Relay is a running relay. Its methods are safe for concurrent use.
type Relay struct {
	http     *http.Server
	listener net.Listener
	fault    atomic.Pointer[RelayFault]
	ctx      context.Context
	cancel   context.CancelFunc
	serving  sync.WaitGroup
	once     sync.Once

	mu      sync.Mutex
	clients map[*client]bool
	events  []nostr.Event // that came in, good ones only
	dials   int
}

// maxEvents bounds what [Relay.Events] remembers.
const maxEvents = 10_000

// Start starts a relay; address is host:port, "" for a free port of 127.0.0.1.
func StartRelay(address string) (*Relay, error) { return StartRelayOn(nil, address) }

// StartRelayOn is [StartRelay] on another network than loopback sockets.
func StartRelayOn(network *loopback.Network, address string) (*Relay, error) {
	listener, err := network.Listen(address)
	if err != nil {
		return nil, err
	}
	r := &Relay{listener: listener, clients: map[*client]bool{}}
	r.ctx, r.cancel = context.WithCancel(context.Background())
	r.fault.Store(new(RelayFault))
	r.http = &http.Server{Handler: http.HandlerFunc(r.serve), ReadHeaderTimeout: 10 * time.Second, ErrorLog: log.New(io.Discard, "", 0)}
	r.serving.Go(func() { _ = r.http.Serve(listener) }) // ends with Close
	return r, nil
}

// URL returns the relay's ws:// URL.
func (r *Relay) URL() string { return "ws://" + r.listener.Addr().String() }

// Misbehave changes what is wrong with the relay from the next message on.
func (r *Relay) Misbehave(f RelayFault) { r.fault.Store(&f) }

// Events returns the correctly signed events that clients have published so far,
// whether they were answered or not.
func (r *Relay) Events() []nostr.Event {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]nostr.Event(nil), r.events...)
}

// Connections returns how many connections have been asked for so far.
func (r *Relay) Connections() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.dials
}

// Subscriptions returns how many subscriptions are open.
func (r *Relay) Subscriptions() (count int) {
	for _, c := range r.everybody() {
		c.mu.Lock()
		count += len(c.subs)
		c.mu.Unlock()
	}
	return count
}

// DropClients cuts all connections, as a relay does that restarts.
func (r *Relay) DropClients() {
	for _, c := range r.everybody() {
		_ = c.conn.CloseNow()
	}
}

// Close ends the relay and cuts its connections. It may be called more than once.
func (r *Relay) Close() error {
	var err error
	r.once.Do(func() {
		r.cancel()
		err = r.http.Close()
		r.DropClients()
		r.serving.Wait()
	})
	return err
}

func (r *Relay) everybody() []*client {
	r.mu.Lock()
	defer r.mu.Unlock()
	list := make([]*client, 0, len(r.clients))
	for c := range r.clients {
		list = append(list, c)
	}
	return list
}

// maxMessage bounds what clients may send, in bytes.
const maxMessage = 128 << 10

func (r *Relay) serve(w http.ResponseWriter, req *http.Request) {
	r.mu.Lock()
	if r.ctx.Err() != nil {
		r.mu.Unlock()
		return
	}
	r.dials++
	r.serving.Add(1) // under the lock, so that Close sees it
	r.mu.Unlock()
	defer r.serving.Done()
	switch f := r.fault.Load(); {
	case f.Down:
		panic(http.ErrAbortHandler)
	case f.Status != 0:
		http.Error(w, http.StatusText(f.Status), f.Status)
		return
	case f.Redirect != "":
		http.Redirect(w, req, f.Redirect, http.StatusFound)
		return
	}
	conn, err := websocket.Accept(w, req, &websocket.AcceptOptions{InsecureSkipVerify: true}) // pages of any origin may use a relay
	if err != nil {
		return
	}
	defer conn.CloseNow()
	conn.SetReadLimit(maxMessage)
	c := &client{relay: r, conn: conn, subs: map[string]filters{}}
	r.mu.Lock()
	r.clients[c] = true
	r.mu.Unlock()
	defer func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		delete(r.clients, c)
	}()
	for {
		_, text, err := conn.Read(r.ctx)
		if err != nil || !c.answer(text) {
			return
		}
	}
}

// take notes a good event and passes it on to whoever asked for its like.
func (r *Relay) take(e nostr.Event, f *RelayFault) {
	r.mu.Lock()
	if len(r.events) < maxEvents {
		r.events = append(r.events, e)
	}
	r.mu.Unlock()
	if f.Silent || f.Deaf {
		return
	}
	sent := e
	if f.Forge {
		sent.Content += " "
	}
	text, err := json.Marshal(sent)
	if err != nil {
		return
	}
	for _, c := range r.everybody() {
		for _, sub := range c.asked(e) {
			for range 1 + f.Repeat {
				c.send("EVENT", sub, json.RawMessage(text))
			}
		}
	}
}
