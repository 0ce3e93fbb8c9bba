package swapper

import (
	"context"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/internal/engine"
)

// ErrClosed is returned by every method of a [Client] after Close, and by calls
// that Close interrupts. Compare with errors.Is. Its code is [fault.Internal].
var ErrClosed = engine.ErrClosed

// life tracks the calls in progress of a client. The zero value is a client that
// is open. It is safe for concurrent use.
type life struct {
	mu     sync.Mutex
	closed bool
	cancel map[*byte]context.CancelCauseFunc // of the calls in progress
	calls  sync.WaitGroup
}

// begin registers a call. Its context ends with the caller's, or with the client;
// end must be called with the call's error, which becomes [ErrClosed] if it is
// Close that ended it.
func (l *life) begin(caller context.Context) (ctx context.Context, end func(*error), err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return nil, nil, ErrClosed
	}
	ctx, cancel := context.WithCancelCause(caller)
	if l.cancel == nil {
		l.cancel = map[*byte]context.CancelCauseFunc{}
	}
	key := new(byte)
	l.cancel[key] = cancel
	l.calls.Add(1)
	return ctx, func(err *error) {
		if *err != nil && context.Cause(ctx) == ErrClosed {
			*err = ErrClosed
		}
		l.mu.Lock()
		delete(l.cancel, key)
		l.mu.Unlock()
		cancel(nil)
		l.calls.Done()
	}, nil
}

// close cancels the calls in progress, waits for them, and prevents new ones.
func (l *life) close() {
	l.mu.Lock()
	l.closed = true
	for _, cancel := range l.cancel {
		cancel(ErrClosed)
	}
	l.mu.Unlock()
	l.calls.Wait()
}

// over reports whether the client was closed.
func (l *life) over() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.closed
}

// Names of parts in [NotReady], besides the ids of the chains.
const (
	partProviders = "liquidity providers"
	partBitcoin   = "bitcoin"
	partStore     = "store"
)

// NotReady is the error of [Client.Ready]: which parts cannot be used now, and
// why. Swaps that do not need them still work.
type NotReady struct {
	Parts map[string]error // by "liquidity providers", "bitcoin", "store" or a chain's id
}

func (e *NotReady) Error() string {
	var words []string
	for _, part := range slices.Sorted(maps.Keys(e.Parts)) {
		words = append(words, part+": "+e.Parts[part].Error())
	}
	return "not ready: " + strings.Join(words, "; ")
}

// Unwrap returns the reasons.
func (e *NotReady) Unwrap() []error { return slices.Collect(maps.Values(e.Parts)) }

// Readiness is what [Client.Ready] says of a client besides what is missing.
type Readiness struct {
	// OneNode are the ids of the chains that have one node. That node's word decides
	// everything on its chain, and a lie of it can cost the whole amount of a swap: see
	// [Config.Chains].
	OneNode []string
	// Unheard are the parts, chains and "bitcoin", that are to tell of events over WebSocket and
	// of which this process hears nothing now: they are asked instead, as often as without. Of
	// the processes on a store one listens to a smart chain, while its Run is active.
	Unheard []string
}

// Ready reports whether swaps can be made now: at least one liquidity provider
// can be asked for a quote, the smart chains and the Bitcoin backend respond, and the
// store can write. All parts are asked in parallel, which takes one round trip;
// providers are loaded first if none is known or none was reachable recently.
// The error is a *[NotReady] that lists everything that is missing. Without its part "store" no
// swap can be made or moved; without the others some can.
//
// A chain is ready when one of its nodes responds. A chain with a single node is
// named in the Readiness and is not an error; [PartStats.Contradictions] tells how many nodes
// there are, and which of them are contradicted.
func (c *Client) Ready(ctx context.Context) (r Readiness, err error) {
	ctx, end, err := c.life.begin(ctx)
	if err != nil {
		return r, err
	}
	defer end(&err)
	for _, ch := range c.chains {
		if hasOneNode(ch) {
			r.OneNode = append(r.OneNode, ch.Info().ID)
		}
	}
	missing := map[string]error{}
	for part, p := range c.askParts(ctx) {
		if p.Err != nil {
			missing[part] = p.Err
		}
		if len(p.Subscriptions) > 0 && !slices.ContainsFunc(p.Subscriptions, func(s bitcoin.Subscription) bool { return s.Alive }) {
			r.Unheard = append(r.Unheard, part)
		}
	}
	slices.Sort(r.Unheard)
	if len(missing) > 0 {
		return r, &NotReady{Parts: missing}
	}
	return r, nil
}

// hasOneNode reports whether there is no other node that could contradict a chain's.
func hasOneNode(ch chains.Chain) bool {
	n, ok := ch.(chains.Contradictions)
	return ok && len(n.Contradictions()) == 1
}
