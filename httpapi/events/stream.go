package events

import (
	"bytes"
	"encoding/json"
	"fmt"
	"sync"

	"github.com/swapper-go/swapper"
	"github.com/swapper-go/swapper/internal/bounds"
)

// event is what is sent of a swap.
type event struct {
	swap  string
	place place
	text  []byte // as it goes over the wire
}

func encode(p *swapper.Progress) (event, error) {
	var data bytes.Buffer
	e := json.NewEncoder(&data)
	e.SetEscapeHTML(false)
	if err := e.Encode(p.Status); err != nil { // which ends the only line
		return event{}, fmt.Errorf("encode the status: %w", err)
	}
	at := placeOf(p)
	return event{swap: p.Status.SwapID, place: at, text: fmt.Appendf(nil, "id: %s\nevent: swap\ndata: %s\n", at, data.Bytes())}, nil
}

// Bounds of what a stream holds for its reader: swaps that wait to be sent, each once,
// and swaps of which it remembers what was sent.
const (
	maxWaiting    = 256
	maxRemembered = 1024
)

// stream is one reader. Safe for concurrent use.
type stream struct {
	swap     string            // of one swap
	accounts []swapper.Account // or of these
	wake     chan struct{}

	mu      sync.Mutex
	waiting map[string]event
	order   []string
	ended   bool
	sent    *bounds.Cache[string, place]
}

func newStream() *stream {
	return &stream{wake: make(chan struct{}, 1), waiting: map[string]event{}, sent: bounds.NewCache[string, place](maxRemembered)}
}

// offer queues an event, in the place of an earlier one of the same swap, unless the
// reader has that already. A reader with too many behind it is cut off.
func (st *stream) offer(e event) {
	st.mu.Lock()
	defer st.mu.Unlock()
	had, some := st.waiting[e.swap]
	if !some {
		before, known := st.sent.Get(e.swap)
		switch {
		case known && !before.news(e.place):
			return
		case len(st.order) == maxWaiting:
			st.ended = true
		default:
			st.order = append(st.order, e.swap)
			st.waiting[e.swap] = e
		}
	} else if e.place.version >= had.place.version {
		st.waiting[e.swap] = e
	}
	st.signal()
}

// end ends the stream once it has sent what is waiting.
func (st *stream) end() {
	st.mu.Lock()
	st.ended = true
	st.mu.Unlock()
	st.signal()
}

func (st *stream) signal() {
	select {
	case st.wake <- struct{}{}:
	default:
	}
}

// take returns the next event, and what remains to be done: send it if there is one,
// end if over.
func (st *stream) take() (e event, some, over bool) {
	st.mu.Lock()
	defer st.mu.Unlock()
	for len(st.order) > 0 {
		e = st.waiting[st.order[0]]
		delete(st.waiting, e.swap)
		st.order = st.order[1:]
		if before, known := st.sent.Get(e.swap); known && !before.news(e.place) {
			continue // it changed back meanwhile
		}
		st.sent.Add(e.swap, e.place)
		return e, true, false
	}
	return event{}, false, st.ended
}
