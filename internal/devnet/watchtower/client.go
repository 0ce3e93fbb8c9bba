package watchtower

import (
	"bytes"
	"context"
	"encoding/json"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/coder/websocket"

	"github.com/swapper-go/swapper/internal/nostr"
)

// client is one connection.
type client struct {
	relay *Relay
	conn  *websocket.Conn

	mu   sync.Mutex
	subs map[string]filters // by the client's name for them
}

// filter is what a subscription asks for; an absent member allows anything.
type filter struct {
	IDs     []string `json:"ids"`
	Authors []string `json:"authors"`
	Kinds   []int    `json:"kinds"`
	Since   *int64   `json:"since"`
	Until   *int64   `json:"until"`
	Limit   *int     `json:"limit"` // of stored events, of which there are none
}

type filters []filter

func (list filters) match(e nostr.Event) bool {
	return slices.ContainsFunc(list, func(f filter) bool {
		return (f.IDs == nil || slices.Contains(f.IDs, e.ID)) && (f.Authors == nil || slices.Contains(f.Authors, e.PubKey)) &&
			(f.Kinds == nil || slices.Contains(f.Kinds, e.Kind)) &&
			(f.Since == nil || e.CreatedAt >= *f.Since) && (f.Until == nil || e.CreatedAt <= *f.Until)
	})
}

// asked are the names of the subscriptions that want an event.
func (c *client) asked(e nostr.Event) (names []string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for name, list := range c.subs {
		if list.match(e) {
			names = append(names, name)
		}
	}
	return names
}

// maxSubs bounds the subscriptions of a connection.
const maxSubs = 100

// answer answers one message; false ends the connection.
func (c *client) answer(text []byte) bool {
	f := c.relay.fault.Load()
	var in []json.RawMessage
	var label, name string
	if json.Unmarshal(text, &in) != nil || len(in) < 2 || json.Unmarshal(in[0], &label) != nil {
		return c.send("NOTICE", "that is not a message")
	}
	if f.Delay > 0 {
		select {
		case <-time.After(f.Delay):
		case <-c.relay.ctx.Done():
			return false
		}
	}
	if label == "EVENT" {
		return c.event(in[1], f)
	}
	if json.Unmarshal(in[1], &name) != nil || name == "" || len(name) > 64 {
		return c.send("NOTICE", "that is not a name of a subscription")
	}
	switch label {
	case "REQ":
		return c.subscribe(name, in[2:])
	case "CLOSE":
		c.mu.Lock()
		delete(c.subs, name)
		c.mu.Unlock()
		return true
	}
	return c.send("NOTICE", "unknown message")
}

func (c *client) subscribe(name string, texts []json.RawMessage) bool {
	list := make(filters, len(texts))
	for i, text := range texts {
		d := json.NewDecoder(bytes.NewReader(text))
		d.DisallowUnknownFields()
		if d.Decode(&list[i]) != nil {
			return c.send("CLOSED", name, "unsupported: filter")
		}
	}
	c.mu.Lock()
	full := len(c.subs) >= maxSubs
	if !full {
		c.subs[name] = list
	}
	c.mu.Unlock()
	if full {
		return c.send("CLOSED", name, "error: too many subscriptions")
	}
	return c.send("EOSE", name)
}

func (c *client) event(text json.RawMessage, f *RelayFault) bool {
	var e nostr.Event
	if json.Unmarshal(text, &e) != nil {
		return c.send("NOTICE", "that is not an event")
	}
	if e.Check() != nil {
		return c.send("OK", e.ID, false, "invalid: bad id or signature")
	}
	c.relay.take(e, f)
	switch {
	case f.Silent, f.Hang:
		return true
	case f.Refuse != "":
		return c.send("OK", e.ID, false, strings.ReplaceAll(f.Refuse, "%s", e.Content))
	case f.Cut:
		return false
	case f.Garbage:
		return c.write([]byte(`["OK",{"id":` + strings.Repeat("[", 1000)))
	case f.WrongID:
		return c.send("OK", strings.Repeat("0", 64), true, "")
	case f.Huge:
		return c.send("NOTICE", strings.Repeat("x", 16<<20))
	case f.Endless:
		for c.send("NOTICE", "please wait") {
		}
		return false
	}
	return c.send("OK", e.ID, true, "")
}

func (c *client) send(members ...any) bool {
	text, err := json.Marshal(members)
	return err == nil && c.write(text)
}

func (c *client) write(text []byte) bool {
	ctx, cancel := context.WithTimeout(c.relay.ctx, 5*time.Second)
	defer cancel()
	return c.conn.Write(ctx, websocket.MessageText, text) == nil
}
