package storagetest

import (
	"bytes"
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/swapper-go/swapper/internal/bounds"
	"github.com/swapper-go/swapper/storage"
)

func (s *suite) entries() {
	many := storage.Entry{ID: "many keys"}
	for i := range bounds.MaxKeys {
		many.Keys = append(many.Keys, storage.Key{Index: "i", Value: string(rune('a' + i)), Order: int64(-i), Unique: i%2 == 0})
	}
	for _, e := range []storage.Entry{
		{ID: "plain", Body: []byte(`{"amount":"1"}`), Keys: []storage.Key{{Index: "signer", Value: "s", Order: 7}}},
		{ID: "no body"},
		{ID: "\x00", Body: []byte{0}},
		{ID: "\xff\xfe\x80", Body: []byte("\xff\x00\xc3\x28")},
		{ID: strings.Repeat("\xff", bounds.MaxID), Body: []byte("longest id")},
		{ID: "empty value", Keys: []storage.Key{{Index: "i"}, {Index: "j", Unique: true}}},
		{ID: "binary key", Keys: []storage.Key{{Index: "\x00", Value: "\x00\xff", Order: math.MinInt64}, {Index: "\xff\xff", Value: "\xff", Order: math.MaxInt64, Unique: true}}},
		{ID: "longest key", Keys: []storage.Key{{Index: strings.Repeat("\xff", bounds.MaxIndex), Value: strings.Repeat("\xff", bounds.MaxValue)}}},
		{ID: "large", Body: bytes.Repeat([]byte("0123456789abcdef"), 1<<16)},
		{ID: "largest", Body: make([]byte, bounds.MaxBody)},
		many,
	} {
		s.Run(strings.ToValidUTF8(e.ID, "?"), func(t *testing.T) {
			s := &suite{T: t, ctx: s.ctx, store: s.store}
			if _, err := s.store.Get(s.ctx, e.ID); !errors.Is(err, storage.ErrNotFound) {
				s.Errorf("get before create: got %v, want ErrNotFound", err)
			}
			s.create(e)
			e.Version = 1
			s.stored(e)

			e.Body = append([]byte("x"), e.Body[:len(e.Body)/2]...)
			s.ok(s.store.Update(s.ctx, e))
			e.Version = 2
			s.stored(e)
			for _, k := range e.Keys {
				s.finds(storage.Query{Index: k.Index, Value: k.Value}, e.ID)
			}

			s.ok(s.store.Delete(s.ctx, e.ID, 2))
			if _, err := s.store.Get(s.ctx, e.ID); !errors.Is(err, storage.ErrNotFound) {
				s.Errorf("get after delete: got %v, want ErrNotFound", err)
			}
			for _, k := range e.Keys {
				s.finds(storage.Query{Index: k.Index, Value: k.Value})
			}
		})
	}
}

func (s *suite) ownership() {
	e := storage.Entry{ID: "a", Body: []byte("body"), Keys: []storage.Key{{Index: "i", Value: "v"}}}
	s.create(e)
	want := storage.Entry{ID: "a", Version: 1, Body: []byte("body"), Keys: []storage.Key{{Index: "i", Value: "v"}}}
	spoil := func(e storage.Entry) {
		e.Body[0], e.Keys[0].Value = 'X', "X"
	}
	spoil(e)
	s.stored(want)
	got, err := s.store.Get(s.ctx, "a")
	s.ok(err)
	spoil(got)
	s.stored(want)
	spoil(s.find(storage.Query{Index: "i", Value: "v"})[0])
	s.stored(want)

	data := []byte("note")
	s.ok(s.store.SetNote(s.ctx, "n", data, 0))
	data[0] = 'X'
	for range 2 {
		got, _, err := s.store.Note(s.ctx, "n")
		s.ok(err)
		if string(got) != "note" {
			s.Errorf("note is %q, want %q", got, "note")
		}
		got[0] = 'X'
	}
}

func (s *suite) versions() {
	want := func(what string, err, target error) {
		s.Helper()
		if !errors.Is(err, target) {
			s.Errorf("%s: got %v, want %v", what, err, target)
		}
	}
	want("update of nothing", s.store.Update(s.ctx, storage.Entry{ID: "a"}), storage.ErrNotFound)
	want("delete of nothing", s.store.Delete(s.ctx, "a", 0), storage.ErrNotFound)
	want("get of an impossible id", func() error { _, err := s.store.Get(s.ctx, ""); return err }(), storage.ErrNotFound)

	s.create(storage.Entry{ID: "a", Body: []byte("1")})
	want("second create", s.store.Create(s.ctx, storage.Entry{ID: "a"}), storage.ErrExists)
	want("second create at the stored version", s.store.Create(s.ctx, storage.Entry{ID: "a", Version: 1}), storage.ErrExists)
	for _, version := range []uint64{0, 2, math.MaxUint64 - 1} {
		want("update at a wrong version", s.store.Update(s.ctx, storage.Entry{ID: "a", Version: version}), storage.ErrConflict)
		want("delete at a wrong version", s.store.Delete(s.ctx, "a", version), storage.ErrConflict)
	}
	s.stored(storage.Entry{ID: "a", Version: 1, Body: []byte("1")})
	s.ok(s.store.Update(s.ctx, storage.Entry{ID: "a", Version: 1, Body: []byte("2")}))
	want("update at the version before", s.store.Update(s.ctx, storage.Entry{ID: "a", Version: 1}), storage.ErrConflict)
	s.stored(storage.Entry{ID: "a", Version: 2, Body: []byte("2")})
	s.ok(s.store.Delete(s.ctx, "a", 2))
	want("delete again", s.store.Delete(s.ctx, "a", 2), storage.ErrNotFound)

	s.create(storage.Entry{ID: "a", Version: 41, Body: []byte("3")})
	s.stored(storage.Entry{ID: "a", Version: 42, Body: []byte("3")})
	want("update that holds the deleted entry", s.store.Update(s.ctx, storage.Entry{ID: "a", Version: 2}), storage.ErrConflict)
	s.create(storage.Entry{ID: "last", Version: math.MaxUint64 - 1})
	s.stored(storage.Entry{ID: "last", Version: math.MaxUint64})
}

func (s *suite) limits() {
	key := func(index, value int) []storage.Key {
		return []storage.Key{{Index: strings.Repeat("i", index), Value: strings.Repeat("v", value)}}
	}
	many := make([]storage.Key, bounds.MaxKeys+1)
	for i := range many {
		many[i] = storage.Key{Index: "i", Value: strings.Repeat("v", i)}
	}
	for name, e := range map[string]storage.Entry{
		"empty id":       {},
		"long id":        {ID: strings.Repeat("a", bounds.MaxID+1)},
		"large body":     {ID: "a", Body: make([]byte, bounds.MaxBody+1)},
		"last version":   {ID: "a", Version: math.MaxUint64},
		"many keys":      {ID: "a", Keys: many},
		"empty index":    {ID: "a", Keys: key(0, 1)},
		"long index":     {ID: "a", Keys: key(bounds.MaxIndex+1, 1)},
		"long value":     {ID: "a", Keys: key(1, bounds.MaxValue+1)},
		"same key twice": {ID: "a", Keys: []storage.Key{{Index: "i", Value: "v"}, {Index: "i", Value: "v", Order: 1, Unique: true}}},
	} {
		if err := s.store.Create(s.ctx, e); !errors.Is(err, storage.ErrInvalid) {
			s.Errorf("create with %s: got %v, want ErrInvalid", name, err)
		}
		if err := s.store.Update(s.ctx, e); !errors.Is(err, storage.ErrInvalid) {
			s.Errorf("update with %s: got %v, want ErrInvalid", name, err)
		}
	}
	for name, q := range map[string]storage.Query{
		"empty index": {Value: "v"},
		"long index":  {Index: strings.Repeat("i", bounds.MaxIndex+1)},
		"long value":  {Index: "i", Value: strings.Repeat("v", bounds.MaxValue+1)},
	} {
		n := 0
		for e, err := range s.store.Find(s.ctx, q) {
			n++
			if e.ID != "" || !errors.Is(err, storage.ErrInvalid) {
				s.Errorf("find with %s: got %v, %v, want ErrInvalid", name, e, err)
			}
		}
		if n != 1 {
			s.Errorf("find with %s yielded %d times, want once", name, n)
		}
	}
}

func (s *suite) refusedWrite() {
	held := storage.Entry{ID: "holder", Keys: []storage.Key{{Index: "u", Value: "x", Unique: true}}}
	e := storage.Entry{ID: "a", Body: []byte("1"), Keys: []storage.Key{{Index: "i", Value: "old"}, {Index: "u", Value: "y", Unique: true}}}
	s.create(held, e)
	e.Version = 1
	change := storage.Entry{ID: "a", Version: 1, Body: []byte("2"), Keys: []storage.Key{
		{Index: "i", Value: "new"}, {Index: "u", Value: "z", Unique: true}, {Index: "u", Value: "x", Unique: true}}}
	taken := (*storage.KeyTakenError)(nil)
	if err := s.store.Update(s.ctx, change); !errors.As(err, &taken) {
		s.Errorf("update: got %v, want a *KeyTakenError", err)
	}
	change.Version = 5
	if err := s.store.Update(s.ctx, change); !errors.Is(err, storage.ErrConflict) {
		s.Errorf("update: got %v, want ErrConflict before the key is looked at", err)
	}
	if err := s.store.Create(s.ctx, change); !errors.Is(err, storage.ErrExists) {
		s.Errorf("create: got %v, want ErrExists before the key is looked at", err)
	}
	s.stored(e)
	s.finds(storage.Query{Index: "i", Value: "old"}, "a")
	s.finds(storage.Query{Index: "i", Value: "new"})
	s.finds(storage.Query{Index: "u", Value: "x"}, "holder")
	s.finds(storage.Query{Index: "u", Value: "y"}, "a")
	s.finds(storage.Query{Index: "u", Value: "z"})
	s.create(storage.Entry{ID: "b", Keys: []storage.Key{{Index: "u", Value: "z", Unique: true}}})
}

func (s *suite) notes() {
	data, version, err := s.store.Note(s.ctx, "cursor")
	if len(data) != 0 || version != 0 || err != nil {
		s.Errorf("note never set: got %q, %d, %v", data, version, err)
	}
	set := func(name, data string, version uint64, want error) {
		s.Helper()
		if err := s.store.SetNote(s.ctx, name, []byte(data), version); !errors.Is(err, want) {
			s.Errorf("set %q at %d: got %v, want %v", name, version, err, want)
		}
	}
	is := func(name, want string, at uint64) {
		s.Helper()
		data, version, err := s.store.Note(s.ctx, name)
		if string(data) != want || version != at || err != nil {
			s.Errorf("note %q: got %.40q, %d, %v, want %.40q, %d", name, data, version, err, want, at)
		}
	}
	set("cursor", "x", 1, storage.ErrConflict)
	set("cursor", "1", 0, nil)
	is("cursor", "1", 1)
	set("cursor", "x", 0, storage.ErrConflict)
	set("cursor", "x", 2, storage.ErrConflict)
	set("cursor", "", 1, nil)
	is("cursor", "", 2)
	set("cursor", strings.Repeat("x", bounds.MaxBody), 2, nil)
	is("cursor", strings.Repeat("x", bounds.MaxBody), 3)
	set("\x00\xff", "binary", 0, nil)
	is("\x00\xff", "binary", 1)
	longest := strings.Repeat("n", bounds.MaxName)
	set(longest, "longest", 0, nil)
	is(longest, "longest", 1)
	is(longest[1:], "", 0)

	set("", "x", 0, storage.ErrInvalid)
	set(longest+"n", "x", 0, storage.ErrInvalid)
	set("n", strings.Repeat("x", bounds.MaxBody+1), 0, storage.ErrInvalid)
	set("n", "x", math.MaxUint64, storage.ErrInvalid)
	if _, _, err := s.store.Note(s.ctx, ""); !errors.Is(err, storage.ErrInvalid) {
		s.Errorf("note without name: got %v, want ErrInvalid", err)
	}

	s.create(storage.Entry{ID: "cursor", Body: []byte("entries and notes are apart")})
	is("cursor", strings.Repeat("x", bounds.MaxBody), 3)
}
