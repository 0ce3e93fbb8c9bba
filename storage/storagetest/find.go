package storagetest

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/swapper-go/swapper/internal/bounds"
	"github.com/swapper-go/swapper/storage"
)

// listed returns an entry that query lists.
func listed(id string, order int64) storage.Entry {
	return storage.Entry{ID: id, Body: []byte(id), Keys: []storage.Key{{Index: "list", Value: "v", Order: order}}}
}

var list = storage.Query{Index: "list", Value: "v"}

// fill stores n entries "0000", "0001", ... with orders that repeat, and
// returns their ids in the order of the query.
func (s *suite) fill(n int) []string {
	s.Helper()
	ids, entries := make([]string, n), make([]storage.Entry, n)
	for i := range n {
		ids[i] = fmt.Sprintf("%04d", i)
		entries[i] = listed(ids[i], int64(i/3))
	}
	s.create(entries...)
	return ids
}

func reversed(ids []string) []string {
	ids = slices.Clone(ids)
	slices.Reverse(ids)
	return ids
}

func (s *suite) findOrder() {
	one := listed("unique", 0)
	one.Keys[0].Unique = true
	s.create(one, listed("zero", 0), listed("max", math.MaxInt64), listed("-1", -1), listed("min", math.MinInt64), listed("256", 256),
		listed("a", 3), listed("b", 3), listed("\x00", 3), listed("\xff", 3), listed("ab", 3), listed("-256", -256))
	s.create(storage.Entry{ID: "before", Keys: []storage.Key{{Index: "list", Value: "u", Order: 1}}},
		storage.Entry{ID: "longer", Keys: []storage.Key{{Index: "list", Value: "v\x00", Order: 1}}},
		storage.Entry{ID: "elsewhere", Keys: []storage.Key{{Index: "lis", Value: "tv", Order: 1}}})
	want := []string{"min", "-256", "-1", "unique", "zero", "\x00", "a", "ab", "b", "\xff", "256", "max"}
	s.finds(list, want...)
	q := list
	q.Descending = true
	s.finds(q, reversed(want)...)
	s.finds(storage.Query{Index: "list", Value: ""})
	s.finds(storage.Query{Index: "list2", Value: "v"})
}

// findAhead: how many a caller means to take changes nothing in what there is.
func (s *suite) findAhead() {
	ids := s.fill(300)
	for _, ahead := range []int{1, 2, 50, 299, 300, 301, math.MaxInt, -1} {
		q := list
		q.Ahead = ahead
		s.finds(q, ids...)
		q.Descending = true
		s.finds(q, reversed(ids)...)
	}
}

func (s *suite) findRange() {
	one := listed("unique", 4)
	one.Keys[0].Unique = true
	s.create(listed("min", math.MinInt64), listed("-5", -5), listed("0", 0), listed("5", 5), listed("5b", 5), listed("max", math.MaxInt64), one)
	for _, c := range []struct {
		r    storage.Range
		want []string
	}{
		{storage.Range{Min: math.MinInt64, Max: math.MaxInt64}, []string{"min", "-5", "0", "unique", "5", "5b", "max"}},
		{storage.Range{Min: math.MinInt64, Max: math.MinInt64}, []string{"min"}},
		{storage.Range{Min: math.MaxInt64, Max: math.MaxInt64}, []string{"max"}},
		{storage.Range{Min: -5, Max: 4}, []string{"-5", "0", "unique"}},
		{storage.Range{Min: -4, Max: 5}, []string{"0", "unique", "5", "5b"}},
		{storage.Range{Min: 5, Max: 5}, []string{"5", "5b"}},
		{storage.Range{Min: 1, Max: 3}, nil},
		{storage.Range{Min: 6, Max: math.MaxInt64 - 1}, nil},
		{storage.Range{Min: 5, Max: -5}, nil},
		{storage.Range{Min: math.MaxInt64, Max: math.MinInt64}, nil},
	} {
		q := list
		q.Range = &c.r
		s.finds(q, c.want...)
		q.Descending = true
		s.finds(q, reversed(c.want)...)
	}
}

func (s *suite) findAfter() {
	want := s.fill(40)
	one := listed("0020 unique", 6)
	one.Keys[0].Unique = true
	s.create(one)
	want = slices.Insert(want, 21, "0020 unique")
	for _, descending := range []bool{false, true} {
		q := storage.Query{Index: "list", Value: "v", Descending: descending, Range: &storage.Range{Min: 1, Max: 11}}
		all := s.find(q)
		for i, e := range all {
			at, ok := q.Position(e)
			if !ok {
				s.Fatalf("no position of %q", e.ID)
			}
			resumed := q
			resumed.After = &at
			s.finds(resumed, ids(all[i+1:])...)
		}
		if len(all) != 34 {
			s.Errorf("found %d, want 34", len(all))
		}
	}
	for _, c := range []struct {
		after      storage.Position
		descending bool
		want       []string
	}{
		{storage.Position{Order: 6, ID: "0020 not there"}, false, want[21:]},
		{storage.Position{Order: 6, ID: "0020 not there"}, true, reversed(want[:21])},
		{storage.Position{Order: math.MinInt64}, false, want},
		{storage.Position{Order: math.MaxInt64}, false, nil},
		{storage.Position{Order: math.MinInt64}, true, nil},
		{storage.Position{Order: math.MaxInt64, ID: "\xff"}, true, reversed(want)},
	} {
		q := storage.Query{Index: "list", Value: "v", Descending: c.descending, After: &c.after}
		s.finds(q, c.want...)
	}
	if _, ok := (storage.Query{Index: "list", Value: "w"}).Position(one); ok {
		s.Error("a query has a position for an entry that it does not find")
	}
}

func (s *suite) findPages() {
	want := s.fill(700)
	q := list
	s.finds(q, want...)
	q.Descending = true
	s.finds(q, reversed(want)...)

	again := s.store.Find(s.ctx, list) // a sequence can be ranged over again, and left early
	for _, n := range []int{1, 16, 17, 300} {
		var got []string
		for e, err := range again {
			s.ok(err)
			if e.Version != 1 || string(e.Body) != e.ID {
				s.Errorf("got %v", e)
			}
			if got = append(got, e.ID); len(got) == n {
				break
			}
		}
		if diff := same(want[:n], got); diff != "" {
			s.Errorf("first %d (-want +got):\n%s", n, diff)
		}
	}
}

func (s *suite) findLargeBodies() {
	var want []string
	for i := range 24 {
		e := listed(fmt.Sprint("entry ", 10+i), int64(i))
		e.Body = bytes.Repeat([]byte{byte(i)}, 300_000)
		s.create(e)
		want = append(want, e.ID)
	}
	huge := listed("huge", 24)
	huge.Body = make([]byte, bounds.MaxBody)
	s.create(huge)
	s.finds(list, append(want, "huge")...)
	for e, err := range s.store.Find(s.ctx, list) {
		s.ok(err)
		if e.ID != "huge" && (len(e.Body) != 300_000 || e.Body[0] != byte(e.Keys[0].Order) || e.Body[299_999] != e.Body[0]) {
			s.Errorf("body of %s is not what was stored", e.ID)
		}
	}
}

// findHoldsNothing calls everything from within the loop; a store that holds a
// lock there does not come back.
func (s *suite) findHoldsNothing() {
	s.fill(20)
	for e, err := range s.store.Find(s.ctx, list) {
		s.ok(err)
		s.create(storage.Entry{ID: e.ID + " copy", Keys: []storage.Key{{Index: "copy", Value: "v"}}})
		e.Body = bytes.Repeat([]byte("x"), 10_000)
		s.ok(s.store.Update(s.ctx, e))
		_, version, err := s.store.Note(s.ctx, "n")
		s.ok(err)
		s.ok(s.store.SetNote(s.ctx, "n", []byte(e.ID), version))
		for inner, err := range s.store.Find(s.ctx, storage.Query{Index: "copy", Value: "v"}) {
			s.ok(err)
			_, err = s.store.Get(s.ctx, inner.ID)
			s.ok(err)
			break
		}
		s.ok(s.store.Delete(s.ctx, e.ID+" copy", 1))
	}
}

func (s *suite) findWhileDeleting() {
	for _, descending := range []bool{false, true} {
		want := s.fill(50)
		q := list
		if q.Descending = descending; descending {
			want = reversed(want)
		}
		var got []string
		for e, err := range s.store.Find(s.ctx, q) {
			s.ok(err)
			got = append(got, e.ID)
			s.ok(s.store.Delete(s.ctx, e.ID, e.Version))
		}
		if diff := same(want, got); diff != "" {
			s.Errorf("each is found once although it is deleted then (-want +got):\n%s", diff)
		}
		s.finds(list)
	}

	// Deleting those ahead, far beyond the page that was read, makes them vanish.
	s.fill(400)
	n := 0
	for e, err := range s.store.Find(s.ctx, list) {
		s.ok(err)
		if n++; n == 1 {
			for i := 300; i < 400; i++ {
				s.ok(s.store.Delete(s.ctx, fmt.Sprintf("%04d", i), 1))
			}
		}
		if _, err := s.store.Get(s.ctx, e.ID); err != nil && !errors.Is(err, storage.ErrNotFound) {
			s.Fatal(err)
		}
	}
	if n < 300 || n > 400 {
		s.Errorf("found %d, want the 300 that stayed and at most the 100 that went", n)
	}
}
