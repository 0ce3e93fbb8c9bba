package lphttp

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/swapper-go/swapper/internal/lp"
)

// Calls is what became of the calls to one LP since the client was made.
type Calls struct {
	Answered int           // with what was asked for
	Refused  int           // with an error of the protocol
	Failed   int           // without an answer of the LP
	Took     time.Duration // of those that were answered or refused, together; the wait for a place counts
	Last     time.Time     // when it last answered or refused; zero: never
}

// mostTallied is how many LPs are counted: a caller can name any number of them.
const mostTallied = 1024

// tally counts calls by host. Safe for concurrent use.
type tally struct {
	mu    sync.Mutex
	hosts map[string]Calls
}

func (t *tally) note(host string, now time.Time, took time.Duration, err error) {
	if errors.Is(err, context.Canceled) {
		return // its caller had enough
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	n, known := t.hosts[host]
	if t.hosts == nil || !known && len(t.hosts) >= mostTallied {
		t.hosts = map[string]Calls{}
	}
	switch {
	case err == nil:
		n.Answered++
	case answered(err):
		n.Refused++
	default:
		n.Failed++
	}
	if err == nil || answered(err) {
		n.Took += took
		n.Last = now
	}
	t.hosts[host] = n
}

// Calls returns what became of the calls to the LP at a base URL.
func (c *Client) Calls(base string) Calls {
	c.tally.mu.Lock()
	defer c.tally.mu.Unlock()
	return c.tally.hosts[lp.Host(base)]
}
