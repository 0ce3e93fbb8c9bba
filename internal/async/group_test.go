package async

import (
	"context"
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

func TestConcurrentCallersShareOneCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var g Group
		var calls atomic.Int32
		var wg sync.WaitGroup
		for range 50 {
			wg.Go(func() {
				v, err := Do(t.Context(), &g, "k", func(context.Context) (int, error) {
					time.Sleep(time.Second)
					return int(calls.Add(1)), nil
				})
				if v != 1 || err != nil {
					t.Errorf("%d, %v", v, err)
				}
			})
		}
		wg.Wait()
		if v, err := Do(t.Context(), &g, "k", func(context.Context) (int, error) { return 7, nil }); v != 7 || err != nil {
			t.Errorf("a later call got the old answer: %d, %v", v, err)
		}
	})
}

func TestOneCallerLeaves(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var g Group
		ended := errors.New("impatient")
		short, cancel := context.WithTimeoutCause(t.Context(), time.Second, ended)
		defer cancel()
		slow := func(ctx context.Context) (string, error) {
			select {
			case <-time.After(5 * time.Second):
				return "answer", nil
			case <-ctx.Done():
				return "", ctx.Err()
			}
		}
		var wg sync.WaitGroup
		wg.Go(func() {
			if _, err := Do(short, &g, "k", slow); !errors.Is(err, ended) {
				t.Errorf("impatient caller: %v", err)
			}
		})
		wg.Go(func() {
			synctest.Wait()
			if v, err := Do(t.Context(), &g, "k", slow); v != "answer" || err != nil {
				t.Errorf("patient caller: %q, %v", v, err)
			}
		})
		wg.Wait()
	})
}

func TestLastCallerCancels(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var g Group
		ctx, cancel := context.WithCancel(t.Context())
		cancelled := make(chan struct{})
		go func() { time.Sleep(time.Second); cancel() }()
		_, err := Do(ctx, &g, "k", func(ctx context.Context) (int, error) {
			<-ctx.Done()
			close(cancelled)
			return 0, ctx.Err()
		})
		if !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
		<-cancelled
		if v, err := Do(t.Context(), &g, "k", func(context.Context) (int, error) { return 2, nil }); v != 2 || err != nil {
			t.Errorf("after a cancelled call: %d, %v", v, err)
		}
		if _, err := Do(ctx, &g, "k", func(context.Context) (int, error) { t.Error("called"); return 0, nil }); err == nil {
			t.Error("no error of an ended context")
		}
	})
}

func TestPanicAndWrongType(t *testing.T) {
	var g Group
	if _, err := Do(t.Context(), &g, "k", func(context.Context) (int, error) { panic("boom") }); err == nil || !strings.Contains(err.Error(), "boom") {
		t.Error(err)
	}
	release := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		_, _ = Do(t.Context(), &g, "k", func(context.Context) (int, error) { <-release; return 1, nil })
	})
	for {
		g.mu.Lock()
		n := len(g.calls)
		g.mu.Unlock()
		if n == 1 {
			break
		}
		time.Sleep(time.Millisecond)
	}
	wg.Go(func() {
		if _, err := Do(t.Context(), &g, "k", func(context.Context) (string, error) { return "", nil }); err == nil {
			t.Error("no error for another type")
		}
	})
	time.Sleep(5 * time.Millisecond)
	close(release)
	wg.Wait()
}
