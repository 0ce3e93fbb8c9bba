package chainreader

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

func TestBatchCollectsWhileBusy(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var calls [][]int
		b := newBatch(t.Context(), func(ctx context.Context, qs []int) ([]int, error) {
			calls = append(calls, qs)
			time.Sleep(time.Second)
			return qs, nil
		}, func(error) int { return -1 })
		var all sync.WaitGroup
		for i := range 10 {
			all.Go(func() {
				time.Sleep(time.Duration(i) * time.Millisecond)
				if a, err := b.ask(t.Context(), i); err != nil || a != i {
					t.Errorf("answer %d, %v; want %d", a, err, i)
				}
			})
		}
		all.Wait()
		if len(calls) != 2 || len(calls[0]) != 1 || len(calls[1]) != 9 {
			t.Errorf("calls %v; want one question, then the other nine together", calls)
		}
		b.wait()
	})
}

func TestBatchTellsEveryAskerOfAFailure(t *testing.T) {
	for name, run := range map[string]func([]int) ([]int, error){
		"refused":    func([]int) ([]int, error) { return nil, errors.New("down") },
		"incomplete": func(qs []int) ([]int, error) { return qs[1:], nil },
		"panicked":   func(qs []int) ([]int, error) { panic("unreadable") },
	} {
		b := newBatch(t.Context(), func(_ context.Context, qs []int) ([]int, error) { return run(qs) }, func(error) int { return -1 })
		for range 2 { // a failure does not end the batch
			if a, err := b.ask(t.Context(), 1); err != nil || a != -1 {
				t.Errorf("%s: %d, %v; want the failure", name, a, err)
			}
		}
		b.wait()
	}
}
