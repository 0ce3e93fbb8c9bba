package lp

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"time"
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
	return c.tally.hosts[Host(base)]
}

// Standing is how an LP does.
type Standing struct {
	URL     string
	Loaded  bool      // it answered the last time that the LPs were loaded
	Strikes int       // lies that are remembered
	Boxed   time.Time // end of its longest penalty; zero: none
	Calls   Calls
}

// Standings returns the LPs that are loaded or in the penalty box, by URL.
func (d *Directory) Standings() []Standing {
	var out []Standing
	at := func(url string) *Standing {
		for i := range out {
			if out[i].URL == url {
				return &out[i]
			}
		}
		out = append(out, Standing{URL: url, Strikes: d.penalties.struck(url), Calls: d.s.Client.Calls(url)})
		return &out[len(out)-1]
	}
	for _, lp := range d.LPs() {
		at(lp.URL).Loaded = true
	}
	for _, p := range d.Penalties() {
		s := at(p.URL)
		if p.Until.After(s.Boxed) {
			s.Boxed = p.Until
		}
	}
	slices.SortFunc(out, func(a, b Standing) int { return strings.Compare(a.URL, b.URL) })
	return out
}
