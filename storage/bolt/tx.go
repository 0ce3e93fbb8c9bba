package bolt

import (
	"context"
	"errors"
	"fmt"

	"go.etcd.io/bbolt"

	"github.com/swapper-go/swapper/storage"
)

// buckets are the parts of the file within one transaction.
type buckets struct{ entries, index, unique, notes *bbolt.Bucket }

func bucketsOf(tx *bbolt.Tx) buckets {
	return buckets{
		entries: tx.Bucket(entriesBucket),
		index:   tx.Bucket(indexBucket),
		unique:  tx.Bucket(uniqueBucket),
		notes:   tx.Bucket(notesBucket),
	}
}

// read runs f on a consistent view of the file. What f keeps of it must be
// copied. An open view keeps the file from growing, so f must be short.
func (s *Store) read(ctx context.Context, f func(buckets) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	s.open.RLock()
	defer s.open.RUnlock()
	select {
	case <-s.closing:
		return storage.ErrClosed
	default:
	}
	err := guarded(func() error {
		tx, err := s.begin(false)
		if err != nil {
			return err
		}
		defer s.end(tx)
		return f(bucketsOf(tx))
	})
	if met := (*damage)(nil); errors.As(err, &met) {
		s.stop(err)
	}
	return err
}

// begin begins a transaction.
func (s *Store) begin(writable bool) (tx *bbolt.Tx, err error) {
	s.exclusively(func() { tx, err = s.db.Begin(writable) })
	if tx == nil && err == nil {
		err = fmt.Errorf("an earlier call met a damaged meta page: %w", storage.ErrCorrupt)
	}
	return tx, err
}

// end rolls the transaction back unless it was committed.
func (s *Store) end(tx *bbolt.Tx) {
	s.exclusively(func() { tx.Rollback() }) // its only error says that the transaction has ended
}

// exclusively runs f, which begins or ends a transaction. There bbolt holds
// locks that a panic does not release, after which any call would wait for
// ever; so once f has panicked bbolt is not touched again.
func (s *Store) exclusively(f func()) {
	s.beginning.Lock()
	defer s.beginning.Unlock()
	select {
	case <-s.broken:
		return
	default:
	}
	done := false
	defer func() {
		if !done {
			close(s.broken)
		}
	}()
	f()
	done = true
}

// keysOf returns the bucket in which a key is kept.
func (b buckets) keysOf(p place) *bbolt.Bucket {
	if p.key.Unique {
		return b.unique
	}
	return b.index
}
