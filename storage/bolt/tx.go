package bolt

import (
	"context"
	"errors"

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

// begin begins a transaction. There bbolt reads its meta pages while it holds
// locks that a panic does not release, after which any call would wait for
// ever. So bbolt is not called if the file has lost them, and never again if
// it has panicked nevertheless.
func (s *Store) begin(writable bool) (*bbolt.Tx, error) {
	s.beginning.Lock()
	defer s.beginning.Unlock()
	if s.isBroken() {
		return nil, damaged("an earlier call found damaged meta pages")
	}
	info, err := s.file.Stat()
	if err != nil {
		return nil, err
	}
	if info.Size() < s.metaBytes {
		return nil, damaged("the file was truncated to %d bytes", info.Size())
	}
	defer s.breakOnPanic()
	return s.db.Begin(writable)
}

// end rolls the transaction back unless it was committed. It must not wait for
// begin: who begins may be waiting for the file to be mapped anew, and that
// for all readers to end.
func (s *Store) end(tx *bbolt.Tx) {
	if !s.isBroken() {
		defer s.breakOnPanic()
		tx.Rollback() // its only error says that the transaction has ended
	}
}

func (s *Store) breakOnPanic() {
	if met := recover(); met != nil {
		s.breaking.Do(func() { close(s.broken) })
		panic(met)
	}
}

func (s *Store) isBroken() bool {
	select {
	case <-s.broken:
		return true
	default:
		return false
	}
}

// keysOf returns the bucket in which a key is kept.
func (b buckets) keysOf(p place) *bbolt.Bucket {
	if p.key.Unique {
		return b.unique
	}
	return b.index
}
