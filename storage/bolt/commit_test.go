package bolt

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/swapper-go/swapper/internal/trial"
	"github.com/swapper-go/swapper/storage"
)

// stall queues a write that comes to nothing and at which the committer stops until
// release is called: what is queued meanwhile waits.
func stall(t *testing.T, s *Store) (release func()) {
	t.Helper()
	end := make(chan struct{})
	release = sync.OnceFunc(func() { close(end) })
	t.Cleanup(release)
	queue(func() error {
		return s.write(t.Context(), 0, func(buckets) error { <-end; return storage.ErrConflict })
	})
	return release
}

// queue begins a write and returns when it waits for the committer.
func queue(write func() error) (outcome <-chan error) {
	c := make(chan error, 1)
	go func() { c <- write() }()
	synctest.Wait()
	return c
}

func TestWritersShareCommits(t *testing.T) {
	t.Parallel()
	s := openTest(t, filepath.Join(t.TempDir(), "swaps"), Options{})
	before := s.latest()
	var group sync.WaitGroup
	const writers, each = 64, 20
	for w := range writers {
		group.Go(func() {
			for n := range each {
				if err := s.Create(t.Context(), storage.Entry{ID: fmt.Sprintf("%d-%d", w, n)}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	group.Wait()
	if commits := s.latest() - before; commits > writers*each/8 {
		t.Errorf("%d writes took %d commits", writers*each, commits)
	}
}

// Writes of one commit that contradict each other are decided one after the
// other, and one that is refused does not take others with it.
func TestBatchOutcomes(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := openTest(t, filepath.Join(t.TempDir(), "swaps"), Options{})
		release := stall(t, s)
		unique := []storage.Key{{Index: "u", Value: "x", Unique: true}}
		var queued []<-chan error
		for _, write := range []func() error{
			func() error { return s.Create(t.Context(), storage.Entry{ID: "a", Keys: unique}) },
			func() error { return s.Create(t.Context(), storage.Entry{ID: "a"}) },
			func() error { return s.Create(t.Context(), storage.Entry{ID: "b", Keys: unique}) },
			func() error { return s.Update(t.Context(), storage.Entry{ID: "a", Version: 1}) },
			func() error { return s.Update(t.Context(), storage.Entry{ID: "a", Version: 1}) },
			func() error { return s.Create(t.Context(), storage.Entry{ID: "c", Keys: unique}) },
			func() error { return s.Delete(t.Context(), "missing", 1) },
		} {
			queued = append(queued, queue(write))
		}
		before := s.latest()
		release()
		var outcomes []error
		for _, c := range queued {
			outcomes = append(outcomes, <-c)
		}
		if commits := s.latest() - before; commits != 1 {
			t.Errorf("took %d commits, want 1", commits)
		}
		taken := (*storage.KeyTakenError)(nil)
		if !errors.As(outcomes[2], &taken) || taken.Holder != "a" {
			t.Errorf("claim of a taken key: got %v", outcomes[2])
		}
		outcomes[2] = nil
		for i, want := range []error{nil, storage.ErrExists, nil, nil, storage.ErrConflict, nil, storage.ErrNotFound} {
			if !errors.Is(outcomes[i], want) {
				t.Errorf("write %d: got %v, want %v", i, outcomes[i], want)
			}
		}
		if err := s.Verify(t.Context()); err != nil {
			t.Error(err)
		}
	})
}

func TestContextEndsWhileQueued(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := openTest(t, filepath.Join(t.TempDir(), "swaps"), Options{})
		release := stall(t, s)
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		defer cancel()
		err := s.Create(ctx, storage.Entry{ID: "a"})
		if !errors.Is(err, context.DeadlineExceeded) || errors.Is(err, storage.ErrUnknown) {
			t.Errorf("got %v, want a definite context.DeadlineExceeded", err)
		}
		release()
		trial.Do(t, s.Create(t.Context(), storage.Entry{ID: "b"}))
		if _, err := s.Get(t.Context(), "a"); !errors.Is(err, storage.ErrNotFound) {
			t.Errorf("got %v, want ErrNotFound", err)
		}
	})
}

// A write that the committer has taken is waited for, but not for ever.
func TestContextEndsDuringCommit(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := openTest(t, filepath.Join(t.TempDir(), "swaps"), Options{})
		create := func(id string) (outcome <-chan error, release func()) { // which the committer has taken
			before, release := stall(t, s), stall(t, s) // the latter is taken together with the write behind it
			ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
			t.Cleanup(cancel)
			outcome = queue(func() error { return s.Create(ctx, storage.Entry{ID: id}) })
			before()
			return outcome, release
		}
		outcome, release := create("a")
		if err := <-outcome; !errors.Is(err, context.DeadlineExceeded) || !errors.Is(err, storage.ErrUnknown) {
			t.Errorf("got %v, want ErrUnknown and context.DeadlineExceeded", err)
		}
		release()
		if err := s.Create(t.Context(), storage.Entry{ID: "a"}); !errors.Is(err, storage.ErrExists) {
			t.Errorf("got %v, want ErrExists: it was made after all", err)
		}

		outcome, release = create("b")
		time.AfterFunc(150*time.Millisecond, release)
		if err := <-outcome; err != nil {
			t.Errorf("got %v, want the outcome, which came within the grace", err)
		}
	})
}

// An error halfway through a write undoes the whole commit, and nothing is
// written any more.
func TestAbortedBatch(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := openTest(t, filepath.Join(t.TempDir(), "swaps"), Options{})
		trial.Do(t, s.Create(t.Context(), storage.Entry{ID: "before"}))
		broken := errors.New("broken")
		for _, fail := range []func() error{func() error { return aborting(broken) }, func() error { panic("page 7") }} {
			s.stopped.Store(nil)
			release := stall(t, s)
			beside := queue(func() error { return s.Create(t.Context(), storage.Entry{ID: "beside"}) })
			half := queue(func() error {
				return s.write(t.Context(), 0, func(b buckets) error {
					if err := b.entries.Put([]byte("half"), []byte("x")); err != nil {
						return err
					}
					return fail()
				})
			})
			release()
			for _, outcome := range []<-chan error{beside, half} {
				if err := <-outcome; !errors.Is(err, broken) && !errors.Is(err, storage.ErrCorrupt) {
					t.Errorf("got %v, want the reason", err)
				}
			}
			if err := s.Create(t.Context(), storage.Entry{ID: "later"}); !errors.Is(err, broken) && !errors.Is(err, storage.ErrCorrupt) {
				t.Errorf("got %v, want the reason", err)
			}
		}
		s.stopped.Store(nil)
		if err := s.Create(t.Context(), storage.Entry{ID: "after"}); err != nil {
			t.Error(err)
		}
		for id, want := range map[string]error{"before": nil, "after": nil, "beside": storage.ErrNotFound, "half": storage.ErrNotFound, "later": storage.ErrNotFound} {
			if _, err := s.Get(t.Context(), id); !errors.Is(err, want) {
				t.Errorf("%s: got %v, want %v", id, err, want)
			}
		}
		if err := s.Verify(t.Context()); err != nil {
			t.Error(err)
		}
	})
}

// A failure after the moment that decides leaves the outcome unknown: here it
// has been made.
func TestUnknownOutcome(t *testing.T) {
	t.Parallel()
	s := openTest(t, filepath.Join(t.TempDir(), "swaps"), Options{})
	err := s.write(t.Context(), 0, func(b buckets) error {
		b.entries.Tx().OnCommit(func() { panic("disk gone") })
		return b.entries.Put([]byte("a"), encodeEntry(storage.Entry{ID: "a", Version: 1}))
	})
	if !errors.Is(err, storage.ErrUnknown) {
		t.Errorf("got %v, want ErrUnknown", err)
	}
	if err := s.Create(t.Context(), storage.Entry{ID: "b"}); err == nil || errors.Is(err, storage.ErrUnknown) {
		t.Errorf("got %v, want a refusal: the store goes on writing no more", err)
	}
	if _, err := s.Get(t.Context(), "b"); !errors.Is(err, storage.ErrNotFound) {
		t.Errorf("got %v, want ErrNotFound", err)
	}
	if _, err := s.Get(t.Context(), "a"); err != nil {
		t.Errorf("got %v, want the entry", err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}
