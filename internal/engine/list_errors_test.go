package engine

import (
	"context"
	"errors"
	"iter"
	"slices"
	"testing"

	"github.com/swapper-go/swapper/internal/swap"
	"github.com/swapper-go/swapper/internal/trial"
	"github.com/swapper-go/swapper/storage"
)

// scripted is a store whose lists are what a test says.
type scripted struct {
	storage.Store
	list iter.Seq2[storage.Entry, error]
}

func (s *scripted) Find(context.Context, storage.Query) iter.Seq2[storage.Entry, error] {
	return s.list
}

// An entry that cannot be read is named and the list goes on; an error of the store
// itself ends it after what came before, and does not call any swap unreadable.
func TestListsNameWhatCannotBeRead(t *testing.T) {
	mem := new(storage.Memory)
	s := &scripted{Store: mem}
	g := toyEngine(t, s, &toyReader{}, &toyExecutor{}, lamp())
	entry := func(id string, settled bool) storage.Entry {
		r := newToy(id)
		r.Settled = settled
		add(t, g, r)
		return trial.Must(mem.Get(t.Context(), id))(t)
	}
	a, b, c := entry("a", false), entry("b", true), entry("c", false)
	type item struct {
		e   storage.Entry
		err error
	}
	list := func(most int, items ...item) (ids []string, errs []error) {
		s.list = func(yield func(storage.Entry, error) bool) {
			for _, i := range items {
				if !yield(i.e, i.err) {
					return
				}
			}
		}
		return listed(t, g, false, most)
	}
	if ids, errs := list(9, item{a, nil}, item{b, nil}, item{c, nil}); !slices.Equal(ids, []string{"a", "b", "c"}) || len(errs) != 0 {
		t.Fatalf("%v, %v", ids, errs)
	}
	// b is known by now, but what the store says of it is that it cannot be read.
	if ids, errs := list(9, item{a, nil}, item{b, errDisk}, item{c, nil}); !slices.Equal(ids, []string{"a", "c"}) || len(errs) != 1 || !errors.Is(errs[0], ErrUnreadable) || !errors.Is(errs[0], errDisk) {
		t.Errorf("beside one that cannot be read: %v, %v", ids, errs)
	}
	if ids, errs := list(9, item{a, nil}, item{err: errDisk}, item{c, nil}); !slices.Equal(ids, []string{"a"}) || len(errs) != 1 || errors.Is(errs[0], ErrUnreadable) || !errors.Is(errs[0], errDisk) {
		t.Errorf("before the store failed: %v, %v", ids, errs)
	}
	if ids, errs := list(1, item{a, nil}, item{err: errDisk}); !slices.Equal(ids, []string{"a"}) || len(errs) != 0 {
		t.Errorf("for somebody who wants one: %v, %v", ids, errs)
	}
	if ids, errs := list(9, item{storage.Entry{ID: "d", Version: 1, Body: []byte("{")}, nil}, item{a, nil}); !slices.Equal(ids, []string{"a"}) || len(errs) != 1 || !errors.Is(errs[0], ErrUnreadable) {
		t.Errorf("beside a damaged one: %v, %v", ids, errs)
	}
}

// A list goes on behind a record, which may have been deleted meanwhile, and of two
// that were made in the same millisecond neither is passed over.
func TestListGoesOnBehindARecord(t *testing.T) {
	g := toyEngine(t, new(storage.Memory), &toyReader{}, &toyExecutor{}, lamp())
	records := map[string]*swap.Record{}
	for id, created := range map[string]swap.Millis{"a": 1, "b": 2, "c": 2, "d": 3} {
		r := newToy(id)
		r.CreatedAt = created
		add(t, g, r)
		records[id] = r
	}
	list := func(after *swap.Record) (ids []string) {
		for r, err := range g.List(t.Context(), "CITREA", "0x1", false, after, 0) {
			if err != nil {
				t.Fatal(err)
			}
			ids = append(ids, r.ID)
		}
		return ids
	}
	all := list(nil)
	if len(all) != 4 || all[0] != "d" || all[3] != "a" {
		t.Fatalf("all: %v", all)
	}
	trial.Do(t, g.Store.Delete(t.Context(), all[1], records[all[1]].Version))
	if rest := list(records[all[1]]); !slices.Equal(rest, all[2:]) {
		t.Errorf("behind %s: %v, want %v", all[1], rest, all[2:])
	}
	if rest := list(records["a"]); len(rest) != 0 {
		t.Errorf("behind the last: %v", rest)
	}
}

// A pending swap of a type that is not configured any more is listed all the same.
func TestListHasTypesThatAreNotConfigured(t *testing.T) {
	mem := new(storage.Memory)
	create(t, toyEngine(t, mem, &toyReader{}, &toyExecutor{}, lamp()), "a")
	other := lamp()
	other.Type = swap.FromBTCLNAuto
	g := toyEngine(t, mem, &toyReader{}, &toyExecutor{}, other)
	n := 0
	for r, err := range g.List(t.Context(), "CITREA", "0x1", true, nil, 0) {
		if err != nil || r.ID != "a" {
			t.Errorf("%+v, %v", r, err)
		}
		n++
	}
	if n != 1 {
		t.Errorf("%d swaps", n)
	}
}

// Who takes a page has no more read and decoded for it, but for what is not listed.
func TestAPageReadsNoMore(t *testing.T) {
	mem := new(storage.Memory)
	s := &scripted{Store: mem}
	g := toyEngine(t, s, &toyReader{}, &toyExecutor{}, lamp())
	add(t, g, newToy("a"))
	e := trial.Must(mem.Get(t.Context(), "a"))(t)
	for _, test := range []struct{ page, take, read int }{{50, 50, 50}, {50, 51, 150}, {1000, 3, maxDecodeBatch}, {0, 3, maxDecodeBatch}} {
		read := 0
		s.list = func(yield func(storage.Entry, error) bool) {
			for read++; yield(e, nil); read++ {
			}
		}
		taken := 0
		for range g.List(t.Context(), "CITREA", "0x1", false, nil, test.page) {
			if taken++; taken == test.take {
				break
			}
		}
		if read != test.read {
			t.Errorf("page %d: %d entries were read for %d that were taken, want %d", test.page, read, test.take, test.read)
		}
	}
}

// listed are the swaps of a list, up to so many (0: all), and its errors.
func listed(t *testing.T, g *Engine, pending bool, most int) (ids []string, errs []error) {
	t.Helper()
	for r, err := range g.List(t.Context(), "CITREA", "0x1", pending, nil, 0) {
		if err != nil {
			errs = append(errs, err)
		} else {
			ids = append(ids, r.ID)
		}
		if len(ids) == most {
			break
		}
	}
	return ids, errs
}
