package nostr

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/coder/websocket"

	"github.com/swapper-go/swapper/internal/httpx"
)

// How long a relay may be silent: it is pinged this often, and left if it does not
// answer in time (protocol: utilities.md §14).
const (
	pingEvery = 29 * time.Second
	pongTime  = 20 * time.Second
	openTime  = 10 * time.Second
)

// Listen subscribes to all relays and calls deliver with every message that
// passes [Receiver.Take], one after the other, until ctx ends, whose cause it
// returns. Relays that fail are connected to again. deliver must return soon:
// the relays wait for it.
func (r *Receiver) Listen(ctx context.Context, deliver func(Message)) error {
	var all sync.WaitGroup
	for _, from := range r.relays {
		all.Go(func() {
			for ctx.Err() == nil {
				err := r.listen(ctx, from, deliver)
				if ctx.Err() != nil {
					return
				}
				if r.options.Status != nil {
					r.options.Status(from.url, err)
				}
				select {
				case <-ctx.Done():
				case <-time.After(r.options.Pause):
				}
			}
		})
	}
	all.Wait()
	return context.Cause(ctx)
}

// listen follows one relay until its connection ends.
func (r *Receiver) listen(ctx context.Context, from relay, deliver func(Message)) error {
	opening, opened := context.WithTimeout(ctx, openTime)
	defer opened()
	conn, err := httpx.DialWebSocket(opening, from.url, r.options.HTTP, maxFrame)
	if err != nil {
		return err
	}
	defer conn.CloseNow()
	request := fmt.Appendf(nil, `["REQ","sub:1",{"kinds":[%d]}]`, Kind(r.options.Network))
	if err := conn.Write(opening, websocket.MessageText, request); err != nil {
		return errors.New("connection lost")
	}
	ctx, cancel := context.WithCancelCause(ctx)
	var pinger sync.WaitGroup
	defer pinger.Wait()
	defer cancel(nil)
	pinger.Go(func() { cancel(ping(ctx, conn)) })
	for {
		label, rest, err := readFrame(ctx, conn)
		if errors.Is(err, errFrame) {
			continue
		}
		if err != nil {
			return err
		}
		switch label {
		case "EVENT":
			if len(rest) == 2 {
				r.hand(rest[1], deliver)
			}
		case "EOSE":
			if r.options.Status != nil {
				r.options.Status(from.url, nil)
			}
		case "CLOSED":
			return errors.New("the relay closed the subscription")
		}
	}
}

// hand delivers an event if it is valid. Invalid events are dropped without a
// report, because anyone can send anything.
func (r *Receiver) hand(event []byte, deliver func(Message)) {
	m, err := r.Take(event)
	if err != nil {
		return
	}
	r.delivering.Lock()
	defer r.delivering.Unlock()
	deliver(m)
}

func ping(ctx context.Context, conn *websocket.Conn) error {
	tick := time.NewTicker(pingEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-tick.C:
		}
		patient, cancel := context.WithTimeout(ctx, pongTime)
		err := conn.Ping(patient)
		cancel()
		if err != nil {
			return errors.New("the relay is not responding")
		}
	}
}
