package bolt

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/swapper-go/swapper/storage"
)

const (
	batchOps   = 1024    // most writes in one commit
	batchBytes = 8 << 20 // of records, unless a single one is larger
	maxGather  = 2 * time.Millisecond

	// How long a write whose context has ended waits for the outcome of a
	// commit that has begun. Commits take milliseconds, so beyond this the disk hangs.
	outcomeGrace = time.Second
)

// op is one write on its way to the committer.
type op struct {
	apply func(buckets) error // checks first, then writes; see aborting
	size  int                 // bytes of the record
	done  chan error          // takes the outcome; the committer never waits for it
}

// abort is an error after which the transaction cannot be committed, since the
// write may have been made in part.
type abort struct{ error }

func (a abort) Unwrap() error { return a.error }

func aborting(err error) error {
	if err != nil {
		return abort{err}
	}
	return nil
}

// write hands a write to the committer and waits for its outcome.
func (s *Store) write(ctx context.Context, size int, apply func(buckets) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if s.readOnly {
		return s.refuse(storage.ErrReadOnly)
	}
	o := &op{apply: apply, size: size, done: make(chan error, 1)}
	select {
	case s.ops <- o: // from here on it will be applied
	case <-ctx.Done():
		return ctx.Err()
	case <-s.closing:
		return storage.ErrClosed
	}
	select {
	case err := <-o.done:
		return err
	case <-ctx.Done():
	}
	select {
	case err := <-o.done:
		return err
	case <-time.After(outcomeGrace):
		return fmt.Errorf("%w: %w", storage.ErrUnknown, ctx.Err())
	}
}

// refuse returns why nothing is written: the store is closed, or reason.
func (s *Store) refuse(reason error) error {
	select {
	case <-s.closing:
		return storage.ErrClosed
	default:
		return reason
	}
}

// commitLoop owns all writing. It ends when Close begins; what was handed over
// before is committed.
func (s *Store) commitLoop() {
	defer close(s.ended)
	expected, took := 1, time.Duration(0)
	for {
		select {
		case <-s.closing:
			return
		case first := <-s.ops:
			batch := s.gather(first, expected, min(took/2, maxGather))
			start := time.Now()
			s.commit(batch)
			expected, took = len(batch), time.Since(start)
		}
	}
}

// gather collects the writes that are waiting. The writers of the last commit
// have only just been told, and most come back at once with the next write:
// while fewer than last time are here it waits a fraction of what a commit
// takes. Otherwise they would split into two groups, each waiting out the
// other's commit. A single writer never waits.
func (s *Store) gather(first *op, expected int, patience time.Duration) []*op {
	batch, size := []*op{first}, first.size
	var late <-chan time.Time
	for len(batch) < batchOps && size < batchBytes {
		select {
		case o := <-s.ops:
			batch, size = append(batch, o), size+o.size
			continue
		default:
		}
		if len(batch) >= expected || patience <= 0 {
			break
		}
		if late == nil {
			late = time.After(patience)
		}
		select {
		case o := <-s.ops:
			batch, size = append(batch, o), size+o.size
		case <-late:
			return batch
		case <-s.closing:
			return batch
		}
	}
	return batch
}

// commit makes the writes of a batch durable together, each with an outcome of
// its own: one that is refused does not hinder the others.
func (s *Store) commit(batch []*op) {
	s.commits.Lock()
	defer s.commits.Unlock()
	outcomes := make([]error, len(batch))
	if err := s.apply(batch, outcomes); err != nil {
		for i := range outcomes { // the refused ones, too: what they were refused for may never have been
			outcomes[i] = err
		}
	}
	for i, o := range batch {
		o.done <- outcomes[i]
	}
}

// apply runs the batch in one transaction and fills in the outcome of each
// write, unless the transaction as a whole fails.
func (s *Store) apply(batch []*op, outcomes []error) error {
	if reason := s.stopped.Load(); reason != nil {
		return *reason
	}
	committing := false
	var number int // of this transaction
	err := guarded(func() error {
		tx, err := s.begin(true)
		if err != nil {
			return err
		}
		defer s.end(tx)
		number = tx.ID()
		b, writes := bucketsOf(tx), 0
		for i, o := range batch {
			outcomes[i] = o.apply(b)
			if broken := (abort{}); errors.As(outcomes[i], &broken) {
				return outcomes[i]
			} else if outcomes[i] == nil {
				writes++
			}
		}
		if writes == 0 {
			return nil
		}
		committing = true
		return tx.Commit()
	})
	if err == nil {
		return nil
	}
	if committing && s.latest() != number-1 {
		s.stop(fmt.Errorf("what became of a commit is unknown: %w", err)) // what is refused for that is known
		err = fmt.Errorf("%w: %w", storage.ErrUnknown, err)
	} else if met := (*damage)(nil); !committing || errors.As(err, &met) {
		s.stop(err)
	}
	return fmt.Errorf("commit: %w", err)
}

// latest returns the number of the transaction that a reader sees, or -1.
func (s *Store) latest() (number int) {
	number = -1
	_ = guarded(func() error {
		tx, err := s.begin(false)
		if err != nil {
			return err
		}
		defer s.end(tx)
		number = tx.ID()
		return nil
	})
	return number
}
