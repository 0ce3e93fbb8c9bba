package settle

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/swapper-go/swapper/internal/httpx"
)

// patience is how long a slow node is waited for once enough of them have answered.
const patience = time.Second

// Node is one node of a chain.
type Node interface {
	Name() string
	// Contradicts notes that other nodes contradict this one, which is asked last from now on
	// if demote is set.
	Contradicts(demote bool)
}

// Seat is one node, with a reader that reads the chain only through it. Everything that the
// reader remembers must come from its node's answers to the present question.
type Seat[R any] struct {
	Node   Node
	Reader R
}

// Panel are all nodes of a chain, in the order in which they are asked.
type Panel[R any] struct {
	Seats []Seat[R]
	All   bool              // all of them have to agree, not only half
	Retry httpx.RetryPolicy // of what a node fails to answer
	Now   func() time.Time
	Log   *slog.Logger
}

// NewPanel is the panel of nodes, with how often what one does not answer is repeated; reader reads
// through one of them.
func NewPanel[R any, N Node](nodes func() ([]N, httpx.RetryPolicy), all bool, now func() time.Time, log *slog.Logger, reader func(N) R) *Panel[R] {
	singles, again := nodes()
	p := &Panel[R]{All: all, Retry: again, Now: now, Log: log}
	for _, n := range singles {
		p.Seats = append(p.Seats, Seat[R]{n, reader(n)})
	}
	return p
}

// need is how many nodes have to agree.
func (p *Panel[R]) need() int {
	if p.All {
		return len(p.Seats)
	}
	return (len(p.Seats) + 1) / 2
}

// ask puts a question to all nodes at the same time. A failure is repeated until enough
// have answered and each of the others has failed. One that is slow is waited for one
// second longer. Nothing outlives the call.
func (p *Panel[R]) ask(ctx context.Context, question func(ctx context.Context, seat int) error) {
	type said struct {
		seat int
		ok   bool
	}
	heard := make(chan said)
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var all sync.WaitGroup
	for i := range p.Seats {
		all.Go(func() {
			_, _ = httpx.Retry(ctx, p.Retry, func(ctx context.Context) (struct{}, error) {
				err := question(ctx, i)
				heard <- said{i, err == nil}
				return struct{}{}, err
			})
		})
	}
	ended := make(chan struct{})
	go func() {
		all.Wait()
		close(ended)
	}()
	answered, tried := 0, map[int]bool{}
	var late <-chan time.Time
	for {
		select {
		case s := <-heard:
			tried[s.seat] = true
			if s.ok {
				answered++
			}
			switch {
			case answered < p.need():
			case len(tried) == len(p.Seats):
				cancel()
			case late == nil:
				timer := time.NewTimer(patience)
				defer timer.Stop()
				late = timer.C
			}
		case <-late:
			cancel()
		case <-ended:
			return
		}
	}
}
