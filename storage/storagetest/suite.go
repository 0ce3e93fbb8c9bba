// Package storagetest is the conformance suite of [storage.Store]: [Run] passes
// for every implementation that fulfils the contract, and [RunLeases] for one that is
// a [storage.Leaser]. It also has [Memory] and [MemoryLeases], the simplest such implementations.
package storagetest

import (
	"bytes"
	"context"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"golang.org/x/sync/errgroup"

	"github.com/swapper-go/swapper/storage"
)

// Run runs the suite. open must return a new empty store on each call, and
// release its resources with t.Cleanup.
func Run(t *testing.T, open func(t *testing.T) storage.Store) {
	tests := []struct {
		name string
		run  func(*suite)
	}{
		{"Entries", (*suite).entries},
		{"Ownership", (*suite).ownership},
		{"Versions", (*suite).versions},
		{"Limits", (*suite).limits},
		{"Keys", (*suite).keys},
		{"KeysAreInjective", (*suite).injective},
		{"UniqueKeys", (*suite).uniqueKeys},
		{"RefusedWriteChangesNothing", (*suite).refusedWrite},
		{"Notes", (*suite).notes},
		{"FindOrder", (*suite).findOrder},
		{"FindAhead", (*suite).findAhead},
		{"FindRange", (*suite).findRange},
		{"FindAfter", (*suite).findAfter},
		{"FindPages", (*suite).findPages},
		{"FindLargeBodies", (*suite).findLargeBodies},
		{"FindHoldsNothing", (*suite).findHoldsNothing},
		{"FindWhileDeleting", (*suite).findWhileDeleting},
		{"FindWhileOthersWrite", (*suite).findWhileOthersWrite},
		{"FindSeesBodyWithItsKeys", (*suite).findConsistent},
		{"ConcurrentUpdates", (*suite).concurrentUpdates},
		{"ConcurrentClaims", (*suite).concurrentClaims},
		{"ConcurrentCreates", (*suite).concurrentCreates},
		{"ConcurrentNotes", (*suite).concurrentNotes},
		{"EndedContext", (*suite).endedContext},
		{"ContextEndsDuringFind", (*suite).contextEndsDuringFind},
		{"ContextEndsDuringWrite", (*suite).contextEndsDuringWrite},
		{"Model", (*suite).model},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
			defer cancel()
			test.run(&suite{T: t, ctx: ctx, store: open(t)})
		})
	}
}

// suite is one test with a store of its own.
type suite struct {
	*testing.T
	ctx   context.Context
	store storage.Store
}

// same compares entries; nil and empty slices are the same.
func same(want, got any) string { return cmp.Diff(want, got, cmpopts.EquateEmpty()) }

// create stores entries, several at a time; they are then at Version+1.
func (s *suite) create(entries ...storage.Entry) {
	s.Helper()
	var group errgroup.Group
	group.SetLimit(writers)
	for _, e := range entries {
		group.Go(func() error { return s.store.Create(s.ctx, e) })
	}
	s.ok(group.Wait())
}

func (s *suite) ok(err error) {
	s.Helper()
	if err != nil {
		s.Fatal(err)
	}
}

// stored demands that the store holds exactly this entry under its ID.
func (s *suite) stored(want storage.Entry) {
	s.Helper()
	got, err := s.store.Get(s.ctx, want.ID)
	if err != nil {
		s.Fatalf("get %q: %v", want.ID, err)
	}
	if len(want.Body) > 1<<10 { // too large to show
		if !bytes.Equal(want.Body, got.Body) {
			s.Errorf("entry %q: body of %d bytes is not the one of %d bytes that was stored", want.ID, len(got.Body), len(want.Body))
		}
		want.Body, got.Body = nil, nil
	}
	if diff := same(want, got); diff != "" {
		s.Errorf("entry %q (-want +got):\n%s", want.ID, diff)
	}
}

// find returns all that a query yields.
func (s *suite) find(q storage.Query) []storage.Entry {
	s.Helper()
	var found []storage.Entry
	for e, err := range s.store.Find(s.ctx, q) {
		if err != nil {
			s.Fatalf("find: %v", err)
		}
		found = append(found, e)
	}
	return found
}

func ids(entries []storage.Entry) []string {
	var ids []string
	for _, e := range entries {
		ids = append(ids, e.ID)
	}
	return ids
}

// finds demands that a query yields these entries, in this order.
func (s *suite) finds(q storage.Query, want ...string) {
	s.Helper()
	if diff := same(want, ids(s.find(q))); diff != "" {
		s.Errorf("find %+v (-want +got):\n%s", q, diff)
	}
}
