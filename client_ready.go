package swapper

import (
	"bytes"
	"context"
	"errors"
	"time"

	"github.com/swapper-go/swapper/storage"
)

// The store is asked to write when it is asked whether it is ready: a disk that is full, and
// a database that only reads, still answer questions.
const (
	readyNote  = "ready"          // that is written
	readySize  = 128 << 10        // bytes of it: more room than a new swap takes, with the index pages that it moves
	readyEvery = 10 * time.Second // an answer serves for so long: each costs a disk its flush
)

// storeReady is what the store last said. ask has one place: who has it may use the others.
type storeReady struct {
	ask chan struct{}
	at  time.Time
	err error
}

// writes asks the store to write, unless it did lately. Callers wait for the one that asks.
func (r *storeReady) writes(ctx context.Context, s storage.Store) error {
	select {
	case r.ask <- struct{}{}:
		defer func() { <-r.ask }()
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	if !r.at.IsZero() && time.Since(r.at) < readyEvery {
		return r.err
	}
	err := writeNote(ctx, s)
	if err != nil && ctx.Err() != nil {
		return err // this caller's patience says nothing to the next one
	}
	r.at, r.err = time.Now(), err
	return err
}

// writeNote replaces a note. Another process that was faster has shown as much.
func writeNote(ctx context.Context, s storage.Store) error {
	_, version, err := s.Note(ctx, readyNote)
	if err == nil {
		err = s.SetNote(ctx, readyNote, bytes.Repeat([]byte{'0' + byte(version%10)}, readySize), version)
	}
	if errors.Is(err, storage.ErrConflict) {
		return nil
	}
	return err
}
