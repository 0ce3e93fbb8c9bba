package storagetest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"

	"github.com/swapper-go/swapper/storage"
)

const writers = 16

// together runs f in many goroutines at once.
func (s *suite) together(f func(i int) error) {
	s.Helper()
	var wg sync.WaitGroup
	for i := range writers {
		wg.Go(func() {
			if err := f(i); err != nil {
				s.Error(err)
			}
		})
	}
	wg.Wait()
}

// concurrentUpdates counts: no update may be lost or made twice.
func (s *suite) concurrentUpdates() {
	const each = 10
	s.create(storage.Entry{ID: "counter", Body: []byte("0")})
	s.together(func(int) error {
		for done := 0; done < each; {
			e, err := s.store.Get(s.ctx, "counter")
			if err != nil {
				return err
			}
			n, err := strconv.Atoi(string(e.Body))
			if err != nil {
				return err
			}
			e.Body = strconv.AppendInt(nil, int64(n+1), 10)
			switch err := s.store.Update(s.ctx, e); {
			case err == nil:
				done++
				if now, err := s.store.Get(s.ctx, "counter"); err != nil || now.Version <= e.Version {
					return fmt.Errorf("after an acknowledged update of version %d: version %d, %v", e.Version, now.Version, err)
				}
			case !errors.Is(err, storage.ErrConflict):
				return err
			}
		}
		return nil
	})
	s.stored(storage.Entry{ID: "counter", Version: 1 + writers*each, Body: strconv.AppendInt(nil, writers*each, 10)})
}

// concurrentClaims lets all want the same keys: one wins each, and the others
// learn its name.
func (s *suite) concurrentClaims() {
	const keys = 20
	var winners [keys]atomic.Int32
	s.together(func(i int) error {
		for k := range keys {
			e := storage.Entry{ID: fmt.Sprintf("%d-%d", k, i), Keys: []storage.Key{{Index: "u", Value: strconv.Itoa(k), Unique: true}}}
			err := s.store.Create(s.ctx, e)
			taken := (*storage.KeyTakenError)(nil)
			switch {
			case err == nil:
				winners[k].Add(1)
			case !errors.As(err, &taken):
				return err
			default:
				if _, err := s.store.Get(s.ctx, taken.Holder); err != nil {
					return fmt.Errorf("holder %q: %w", taken.Holder, err)
				}
			}
		}
		return nil
	})
	for k := range keys {
		if n := winners[k].Load(); n != 1 {
			s.Errorf("key %d has %d winners, want 1", k, n)
		}
		if n := len(s.find(storage.Query{Index: "u", Value: strconv.Itoa(k)})); n != 1 {
			s.Errorf("key %d is held by %d entries, want 1", k, n)
		}
	}
}

func (s *suite) concurrentCreates() {
	var created atomic.Int32
	s.together(func(i int) error {
		for n := range 20 {
			err := s.store.Create(s.ctx, listed(strconv.Itoa(n), int64(i)))
			if err == nil {
				created.Add(1)
			} else if !errors.Is(err, storage.ErrExists) {
				return err
			}
		}
		return nil
	})
	if n := created.Load(); n != 20 {
		s.Errorf("%d entries were created, want 20", n)
	}
	if n := len(s.find(list)); n != 20 {
		s.Errorf("%d entries are listed, want 20", n)
	}
}

func (s *suite) concurrentNotes() {
	const each = 5
	s.together(func(i int) error {
		for done := 0; done < each; {
			data, version, err := s.store.Note(s.ctx, "n")
			if err != nil {
				return err
			}
			switch err := s.store.SetNote(s.ctx, "n", append(data, byte(i)), version); {
			case err == nil:
				done++
			case !errors.Is(err, storage.ErrConflict):
				return err
			}
		}
		return nil
	})
	data, version, err := s.store.Note(s.ctx, "n")
	s.ok(err)
	if len(data) != writers*each || version != writers*each {
		s.Errorf("note of %d bytes at version %d, want %d", len(data), version, writers*each)
	}
}

// churn runs f over and over in some goroutines until the returned function is called.
func (s *suite) churn(f func(ctx context.Context, i, n int) error) (stop func()) {
	ctx, cancel := context.WithCancel(s.ctx)
	var wg sync.WaitGroup
	for i := range 4 {
		wg.Go(func() {
			for n := 0; ctx.Err() == nil; n++ {
				if err := f(ctx, i, n); err != nil && ctx.Err() == nil {
					s.Error(err)
					return
				}
			}
		})
	}
	return func() {
		cancel()
		wg.Wait()
	}
}

// findWhileOthersWrite has entries that stay and others that come, move and go.
func (s *suite) findWhileOthersWrite() {
	var want []string
	var entries []storage.Entry
	for i := range 300 {
		id := fmt.Sprintf("stays %04d", i)
		want, entries = append(want, id), append(entries, listed(id, int64(2*i)))
	}
	s.create(entries...)
	stop := s.churn(func(ctx context.Context, i, n int) error {
		e := listed(fmt.Sprintf("moves %d", i), int64(n*37%600))
		if err := s.store.Create(ctx, e); err != nil {
			return err
		}
		e.Version, e.Keys[0].Order = 1, int64(n*91%600)
		if err := s.store.Update(ctx, e); err != nil {
			return err
		}
		return s.store.Delete(ctx, e.ID, 2)
	})
	defer stop()
	for i := range 20 {
		q := list
		q.Descending = i%2 == 1
		got := slices.DeleteFunc(ids(s.find(q)), func(id string) bool { return id[:5] != "stays" })
		if q.Descending {
			slices.Reverse(got)
		}
		if diff := same(want, got); diff != "" {
			s.Fatalf("each that stays is found once, in order (-want +got):\n%s", diff)
		}
	}
}

// findConsistent has an entry whose body always says its version and its keys.
func (s *suite) findConsistent() {
	entry := func(id string, version uint64) storage.Entry {
		value := strconv.FormatUint(version%2, 10)
		return storage.Entry{ID: id, Version: version, Body: fmt.Appendf(nil, "%d in %s", version+1, value),
			Keys: []storage.Key{{Index: "i", Value: value, Order: int64(version)}, {Index: "u " + id, Value: value, Unique: true}}}
	}
	var versions [4]uint64
	for i := range versions {
		s.create(entry(strconv.Itoa(i), 0))
		versions[i] = 1
	}
	stop := s.churn(func(ctx context.Context, i, _ int) error {
		err := s.store.Update(ctx, entry(strconv.Itoa(i), versions[i]))
		versions[i]++
		return err
	})
	defer stop()
	for n := range 400 {
		value := strconv.Itoa(n % 2)
		for _, e := range s.find(storage.Query{Index: "i", Value: value}) {
			want := entry(e.ID, e.Version-1)
			want.Version++
			if diff := same(want, e); diff != "" || e.Keys[0].Value != value {
				s.Fatalf("find in %s (-want +got):\n%s", value, diff)
			}
		}
	}
}
