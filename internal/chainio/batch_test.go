package chainio

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/swapper-go/swapper/internal/async"
)

// recorded is a place that answers each question with itself after some time, and notes
// how many questions each call had, and when it began.
type recorded struct {
	begin time.Time
	lasts func(questions []int) time.Duration

	mu    sync.Mutex
	sizes []int
	at    []time.Duration
	now   int // calls under way
	most  int
}

func (r *recorded) run(_ context.Context, questions []int) ([]int, error) {
	r.mu.Lock()
	r.sizes, r.at = append(r.sizes, len(questions)), append(r.at, time.Since(r.begin))
	r.now++
	r.most = max(r.most, r.now)
	r.mu.Unlock()
	time.Sleep(r.lasts(questions))
	r.mu.Lock()
	r.now--
	r.mu.Unlock()
	return questions, nil
}

func failedNumber(error) int { return -1 }

// ask asks i at a time, and expects i within a time.
func (r *recorded) ask(t *testing.T, ctx context.Context, b *batch[int, int], i int, at, within time.Duration) {
	time.Sleep(at)
	began := time.Now()
	if a, err := b.ask(ctx, i); err != nil || a != i {
		t.Errorf("answer %d, %v; want %d", a, err, i)
	}
	if took := time.Since(began); took > within {
		t.Errorf("question %d at %v: the answer took %v; want it within %v", i, at, took, within)
	}
}

func always(d time.Duration) func([]int) time.Duration {
	return func([]int) time.Duration { return d }
}

// A lone question is asked at once; those that come while a call is in flight are asked
// together when it returns.
func TestBatchCollectsWhileBusy(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := &recorded{begin: time.Now(), lasts: always(100 * time.Millisecond)}
		b := newBatch(t.Context(), whole(r.run), failedNumber)
		var all sync.WaitGroup
		for i := range 10 {
			all.Go(func() { r.ask(t, t.Context(), b, i, time.Duration(i)*time.Millisecond, 200*time.Millisecond) })
		}
		all.Wait()
		if len(r.sizes) != 2 || r.sizes[0] != 1 || r.sizes[1] != 9 {
			t.Errorf("calls of %v questions; want one question, then the other nine together", r.sizes)
		}
		b.wait()
	})
}

// A call that lasts, because it is repeated, holds up no question that comes later, and
// there are never more calls than may be.
func TestBatchPassesASlowCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := &recorded{begin: time.Now(), lasts: func(questions []int) time.Duration {
			if questions[0] == 0 {
				return 20 * time.Second
			}
			return time.Second
		}}
		b := newBatch(t.Context(), whole(r.run), failedNumber)
		var all sync.WaitGroup
		for i := range 1000 {
			within := 2 * time.Second
			if i == 0 {
				within = time.Minute
			}
			all.Go(func() { r.ask(t, t.Context(), b, i, time.Duration(i)*time.Millisecond, within) })
		}
		all.Wait()
		if r.most > mostCalls || r.most < 3 || len(r.sizes) > 10 {
			t.Errorf("%d calls at once, of %v questions; want at most %d", r.most, r.sizes, mostCalls)
		}
		b.wait()
	})
}

// Routine questions are collected for a moment, for as long as all have patience, or until they fill a call; one that
// somebody waits for takes them along at once.
func TestBatchGathersRoutineQuestions(t *testing.T) {
	const step = 990 * time.Microsecond // no two things at once
	for name, c := range map[string]struct {
		routine   int // one after the other, each step later
		urgent    time.Duration
		wantSizes []int
		wantAt    []time.Duration
		patience  time.Duration // of all but the last; -1: all have much
	}{
		"few":                   {5, 0, []int{5}, []time.Duration{gatherFor}, 0},
		"patient ones":          {5, time.Minute, []int{5, 1}, []time.Duration{gatherFor + 4*step, time.Minute}, 3 * time.Second},
		"and all have patience": {1, 2 * time.Second, []int{2}, []time.Duration{2 * time.Second}, -1},
		"more than a call has":  {mostQuestions + 10, 0, []int{203, mostQuestions + 10 - 203}, []time.Duration{gatherFor, gatherFor + 203*step}, 0},
		"and one waited for":    {5, 50 * time.Millisecond, []int{6}, []time.Duration{50 * time.Millisecond}, 0},
		"and one before others": {100, 50*time.Millisecond + time.Microsecond, []int{52, 49}, []time.Duration{50*time.Millisecond + time.Microsecond, 51*step + gatherFor}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := &recorded{begin: time.Now(), lasts: always(time.Minute)}
				b := newBatch(t.Context(), whole(r.run), failedNumber)
				b.timeout = time.Hour
				var all sync.WaitGroup
				for i := range c.routine {
					all.Go(func() {
						ctx := async.Routine(t.Context())
						switch {
						case c.patience < 0:
							ctx = async.Patient(ctx, time.Hour)
						case i < c.routine-1:
							ctx = async.Patient(ctx, c.patience)
						}
						r.ask(t, ctx, b, i, time.Duration(i)*step, time.Hour)
					})
				}
				if c.urgent > 0 {
					all.Go(func() { r.ask(t, t.Context(), b, 10_000, c.urgent, time.Hour) })
				}
				all.Wait()
				same := len(r.sizes) == len(c.wantSizes)
				for i := range c.wantSizes {
					same = same && r.sizes[i] == c.wantSizes[i] && r.at[i] == c.wantAt[i]
				}
				if !same {
					t.Errorf("calls of %v questions at %v; want %v at %v", r.sizes, r.at, c.wantSizes, c.wantAt)
				}
				b.wait()
			})
		})
	}
}

// However many routine questions wait for a place that does not answer, what somebody
// waits for is asked, before them.
func TestBatchAsksFirstWhatSomebodyWaitsFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		routines, urgent := 0, -1 // calls; the place of the question among those of its call
		b := newBatch(t.Context(), whole(func(_ context.Context, questions []int) ([]int, error) {
			mu.Lock()
			if at := slices.Index(questions, -7); at >= 0 {
				urgent = at
			} else {
				routines++
			}
			mu.Unlock()
			time.Sleep(time.Minute)
			return questions, nil
		}), failedNumber)
		b.timeout = time.Hour
		var all sync.WaitGroup
		for i := range 20 * mostQuestions {
			all.Go(func() { _, _ = b.ask(async.Routine(t.Context()), i) })
		}
		time.Sleep(10 * time.Second)
		all.Go(func() {
			if a, err := b.ask(t.Context(), -7); err != nil || a != -7 {
				t.Errorf("%d, %v", a, err)
			}
		})
		synctest.Wait()
		mu.Lock()
		if routines != mostCalls-spareCalls || urgent != 0 {
			t.Errorf("%d routine calls, the question at %d of its call; want %d calls, and the question at the head of another one", routines, urgent, mostCalls-spareCalls)
		}
		mu.Unlock()
		all.Wait()
		b.wait()
	})
}

// Answers that come one by one are given out one by one.
func TestBatchGivesEachAnswerAsItComes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBatch(t.Context(), func(_ context.Context, questions []int, answer func(int, int)) error {
			for i, q := range questions {
				time.Sleep(time.Second)
				if q != 3 {
					answer(i, q)
				}
			}
			return nil
		}, failedNumber)
		var all sync.WaitGroup
		begin := time.Now()
		for i := range 4 {
			all.Go(func() {
				time.Sleep(time.Duration(i) * time.Millisecond) // asked in this order
				a, err := b.ask(async.Routine(t.Context()), i)
				want, at := i, gatherFor+time.Duration(i+1)*time.Second
				if i == 3 {
					want = -1 // passed over
				}
				if took := time.Since(begin); err != nil || a != want || took != at {
					t.Errorf("question %d: %d, %v after %v; want %d after %v", i, a, err, took, want, at)
				}
			})
		}
		all.Wait()
		b.wait()
	})
}

// Whoever waits for a call when the reader is closed hears of it.
func TestBatchEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		b := newBatch(ctx, whole(func(_ context.Context, questions []int) ([]int, error) { return questions, nil }), failedNumber)
		var all sync.WaitGroup
		all.Go(func() {
			if a, err := b.ask(async.Routine(t.Context()), 1); err != nil || a != -1 {
				t.Errorf("%d, %v; want the failure", a, err)
			}
		})
		synctest.Wait()
		cancel()
		b.wait()
		all.Wait()
		if _, err := b.ask(t.Context(), 1); err == nil {
			t.Error("a question is taken after the end")
		}
	})
}

func TestBatchTellsEveryAskerOfAFailure(t *testing.T) {
	for name, run := range map[string]func([]int) ([]int, error){
		"refused":    func([]int) ([]int, error) { return nil, errors.New("down") },
		"incomplete": func(qs []int) ([]int, error) { return qs[1:], nil },
		"panicked":   func(qs []int) ([]int, error) { panic("unreadable") },
	} {
		b := newBatch(t.Context(), whole(func(_ context.Context, qs []int) ([]int, error) { return run(qs) }), failedNumber)
		for range 2 { // a failure does not end the batch
			if a, err := b.ask(t.Context(), 1); err != nil || a != -1 {
				t.Errorf("%s: %d, %v; want the failure", name, a, err)
			}
		}
		b.wait()
	}
}
