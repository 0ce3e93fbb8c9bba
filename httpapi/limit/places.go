package limit

import (
	"errors"
	"sync"
)

// Places bounds how many are inside at once. Zero fields are no bound.
type Places struct {
	Total int // of each crowd: a full crowd does not keep out senders of another
	// Each is for one sender: operations that wait for minutes would otherwise let one
	// sender take every place.
	Each int
}

// Errors of [Crowds.Enter].
var (
	errFull  = errors.New("all places are taken")
	errShare = errors.New("this sender has all the places that he may have")
)

// Crowds counts who is inside. It is safe for concurrent use; make one with [NewCrowds].
type Crowds struct {
	places Places

	mu    sync.Mutex
	total map[string]int // by crowd
	each  map[string]int // by part, of senders who are inside
}

// NewCrowds returns places of which none is taken.
func NewCrowds(p Places) *Crowds {
	return &Crowds{places: p, total: map[string]int{}, each: map[string]int{}}
}

// Enter takes a place at once or fails with an error that says which: there is no queue
// that could grow. leave gives the place back; it must be called, once.
func (c *Crowds) Enter(s Sender) (leave func(), err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.places.Total > 0 && c.total[s.Crowd] >= c.places.Total {
		return nil, errFull
	}
	for _, p := range s.parts {
		if c.places.Each > 0 && c.each[s.key(p)] >= c.places.Each*p.times {
			return nil, errShare
		}
	}
	c.total[s.Crowd]++
	for _, p := range s.parts {
		c.each[s.key(p)]++
	}
	return func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		less(c.total, s.Crowd)
		for _, p := range s.parts {
			less(c.each, s.key(p))
		}
	}, nil
}

func less(counts map[string]int, key string) {
	if counts[key]--; counts[key] <= 0 {
		delete(counts, key)
	}
}
