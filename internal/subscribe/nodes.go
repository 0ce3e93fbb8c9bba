package subscribe

import (
	"context"
	"encoding/json"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"net/url"
	"slices"
	"sync"
	"time"

	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/fault"
)

// Bounds of a connection.
const (
	opening  = 10 * time.Second // to connect, to be told the network, and to subscribe
	shortest = time.Second      // before a lost connection is opened again; twice as long after each failure
	longest  = 2 * time.Minute
	maxSize  = 1 << 20 // bytes of one message
	maxURLs  = 8
)

// Channel is one subscription.
type Channel struct {
	Method string // that subscribes, as in eth_subscribe
	Params []any

	// Beat, if set, says that the messages of this channel come with every block. They show
	// that the connection is alive, and cause no question. Beat judges one: an error means
	// that the message does not count, for example because its node is behind.
	Beat func(result json.RawMessage) error
}

// Options of [Nodes].
type Options struct {
	URLs     []string                    // ws or wss; those of one network
	Identity string                      // the method that asks a node which network it serves
	Check    func(json.RawMessage) error // judges the answer
	Channels []Channel                   // at least one of which beats
	Speech   *Speech                     // in place of Identity, Check and Channels, for what does not speak JSON-RPC
	LongPoll LongPoll                    // in place of all of these and of WebSocket: URLs are http or https
	Silence  time.Duration               // a connection without a beat for so long is given up
	HTTP     http.RoundTripper           // opens connections; nil: [http.DefaultTransport]
	Log      *slog.Logger
}

// Nodes are the nodes at several URLs, each of which is listened to. Its methods are safe for
// concurrent use.
type Nodes struct {
	options Options
	names   []string      // hosts, without credentials and path: they may be secret
	heard   chan struct{} // receives after a hint, and when a connection came or went: what was missed meanwhile is asked for then

	mu     sync.Mutex
	states []bitcoin.Subscription // by URL
	hints  uint64                 // messages that woke
	turns  uint64                 // connections that became alive or were lost, and hints
	breaks uint64                 // of them: what was not a hint
	told   time.Time              // when the last hint came that no answer has explained; zero: none is open
	taken  bool                   // by a [poll]
	used   time.Time              // when it mattered last what is heard: see [Nodes.use]
}

// New connects to nothing yet. It returns nil if there are no URLs. Errors have the code
// fault.InvalidInput.
func New(o Options) (*Nodes, error) {
	if len(o.URLs) == 0 {
		return nil, nil
	}
	if len(o.URLs) > maxURLs {
		return nil, fault.Invalid("webSocket", "has %d URLs, at most %d are allowed", len(o.URLs), maxURLs)
	}
	n := &Nodes{options: o, heard: make(chan struct{}, 1), states: make([]bitcoin.Subscription, len(o.URLs))}
	for _, text := range o.URLs {
		u, err := url.Parse(text)
		if err != nil || u.Host == "" || o.LongPoll == nil && u.Scheme != "ws" && u.Scheme != "wss" {
			return nil, fault.Invalid("webSocket", "must be ws or wss URLs") // the text may hold a key
		}
		n.names = append(n.names, u.Host)
	}
	return n, nil
}

// take gives the nodes to one [poll] at a time.
func (n *Nodes) take() bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	took := !n.taken
	n.taken, n.used = true, time.Now()
	return took
}

func (n *Nodes) leave() {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.taken = false
	n.turns, n.breaks, n.told = n.turns+1, n.breaks+1, time.Time{}
	for i := range n.states {
		n.states[i].Alive = false
	}
}

// run listens to all URLs until ctx ends, and leaves nothing running.
func (n *Nodes) run(ctx context.Context) {
	var all sync.WaitGroup
	for i := range n.options.URLs {
		all.Go(func() { n.keep(ctx, i) })
	}
	all.Wait()
}

// anyAlive reports whether at least one connection hears everything.
func (n *Nodes) anyAlive() bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	return slices.ContainsFunc(n.states, func(s bitcoin.Subscription) bool { return s.Alive })
}

// Heard marks what was heard so far: another mark, later, says that something was told
// meanwhile, or that something may have been missed. 0 says that no connection is alive; a nil
// n has none.
func (n *Nodes) Heard() uint64 {
	if n == nil || !n.anyAlive() {
		return 0
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.turns
}

// use notes that it matters what is heard. If it has not for long, what was left out meanwhile is
// asked for at once.
func (n *Nodes) use() {
	if n == nil {
		return
	}
	n.mu.Lock()
	rested := time.Since(n.used) >= restAfter
	n.used = time.Now()
	n.mu.Unlock()
	if rested {
		n.wake()
	}
}

// resting reports whether it has not mattered for long what is heard.
func (n *Nodes) resting() bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	return time.Since(n.used) >= restAfter
}

// Quiet marks how long a connection has been alive without a break, and is 0 while none is, or
// while a hint waits for an answer of a [poll] that explains it. What hints of the time between
// two equal marks have meant was asked for meanwhile.
func (n *Nodes) Quiet() uint64 {
	n.use()
	if n == nil || !n.anyAlive() {
		return 0
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if !n.told.IsZero() && time.Since(n.told) < attentive {
		return 0
	}
	return n.breaks
}

// explain notes that an answer held something new, unless hints came after the first counted ones:
// those came while the question was asked.
func (n *Nodes) explain(counted uint64) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.hints == counted {
		n.told = time.Time{}
	}
}

// States returns the state of each URL, in their order; none of a nil n.
func (n *Nodes) States() []bitcoin.Subscription {
	if n == nil {
		return nil
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	return append([]bitcoin.Subscription(nil), n.states...)
}

// keep opens the connection to a URL again and again.
func (n *Nodes) keep(ctx context.Context, i int) {
	wait := shortest
	for ctx.Err() == nil {
		lived, err := n.listen(ctx, i)
		if ctx.Err() != nil {
			return
		}
		n.lost(i)
		n.options.Log.Warn("the subscription to a node ended; it is asked at intervals until there is another", "node", n.names[i], "err", err)
		if lived {
			wait = shortest
		}
		timer := time.NewTimer(wait/2 + rand.N(wait)) // many clients do not return at once
		select {
		case <-ctx.Done():
			timer.Stop()
			return
		case <-timer.C:
		}
		wait = min(2*wait, longest)
	}
}

func (n *Nodes) wake() {
	select {
	case n.heard <- struct{}{}:
	default: // it is woken already
	}
}

func (n *Nodes) alive(i int) {
	n.mu.Lock()
	n.states[i].Alive = true
	n.turns, n.breaks = n.turns+1, n.breaks+1
	n.mu.Unlock()
	n.wake()
}

func (n *Nodes) lost(i int) {
	n.mu.Lock()
	was := n.states[i].Alive
	n.states[i].Alive, n.states[i].Lost = false, n.states[i].Lost+1
	if was {
		n.turns, n.breaks = n.turns+1, n.breaks+1
	}
	n.mu.Unlock()
	if was {
		n.wake()
	}
}

// count counts a message, and wakes for what is a hint.
func (n *Nodes) count(i int, hint bool) {
	n.mu.Lock()
	n.states[i].Messages++
	if hint {
		n.hints++
		n.turns++
		n.told = time.Now()
	}
	n.mu.Unlock()
	if hint {
		n.wake()
	}
}

// counted is how many hints came.
func (n *Nodes) counted() uint64 {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.hints
}
