package storagetest

import (
	"errors"
	"fmt"

	"github.com/swapper-go/swapper/storage"
)

func (s *suite) keys() {
	at := func(version uint64, keys ...storage.Key) storage.Entry {
		return storage.Entry{ID: "a", Version: version, Keys: keys}
	}
	key := func(index, value string, order int64) storage.Key {
		return storage.Key{Index: index, Value: value, Order: order}
	}
	s.create(at(0, key("i", "1", 1), key("i", "2", 1), key("j", "1", 1)))
	for _, q := range []storage.Query{{Index: "i", Value: "1"}, {Index: "i", Value: "2"}, {Index: "j", Value: "1"}} {
		s.finds(q, "a")
	}
	s.finds(storage.Query{Index: "j", Value: "2"})

	// One is kept, one moves, one goes, one comes.
	s.ok(s.store.Update(s.ctx, at(1, key("j", "2", 1), key("i", "1", 1), key("i", "2", 9))))
	s.finds(storage.Query{Index: "i", Value: "1"}, "a")
	s.finds(storage.Query{Index: "j", Value: "1"})
	s.finds(storage.Query{Index: "j", Value: "2"}, "a")
	s.finds(storage.Query{Index: "i", Value: "2", Range: &storage.Range{Min: 1, Max: 1}})
	s.finds(storage.Query{Index: "i", Value: "2", Range: &storage.Range{Min: 9, Max: 9}}, "a")
	s.stored(at(2, key("j", "2", 1), key("i", "1", 1), key("i", "2", 9)))

	s.ok(s.store.Update(s.ctx, at(2)))
	s.finds(storage.Query{Index: "i", Value: "1"})
	s.finds(storage.Query{Index: "i", Value: "2"})
	s.finds(storage.Query{Index: "j", Value: "2"})
}

// injective stores keys that a careless encoding would mix up.
func (s *suite) injective() {
	parts := []string{"", "\x00", "\x00\x00", "\x01", "a", "a\x00", "\x00a", "ab", "a/b", "a:b", "\x80", "\x81", "a\x80\xf8", "b\xf8", "\xff", "\xff\xff", "\x00\x01a", "aa", "b"}
	type pair struct{ index, value string }
	var pairs []pair
	var entries []storage.Entry
	for _, index := range parts[1:] {
		for _, value := range parts {
			pairs = append(pairs, pair{index, value})
			id := fmt.Sprintf("%q %q", index, value)
			entries = append(entries,
				storage.Entry{ID: id, Keys: []storage.Key{{Index: index, Value: value, Order: 1, Unique: true}}},
				storage.Entry{ID: id + " shared", Keys: []storage.Key{{Index: index, Value: value, Order: 2}}},
			)
		}
	}
	s.create(entries...)
	for _, p := range pairs {
		id := fmt.Sprintf("%q %q", p.index, p.value)
		s.finds(storage.Query{Index: p.index, Value: p.value}, id, id+" shared")
		s.finds(storage.Query{Index: p.index, Value: p.value, Descending: true}, id+" shared", id)
	}
}

func (s *suite) uniqueKeys() {
	unique := func(id string, version uint64, values ...string) storage.Entry {
		e := storage.Entry{ID: id, Version: version}
		for _, v := range values {
			e.Keys = append(e.Keys, storage.Key{Index: "u", Value: v, Unique: true})
		}
		return e
	}
	taken := func(err error, value, holder string) {
		s.Helper()
		got := (*storage.KeyTakenError)(nil)
		if !errors.As(err, &got) {
			s.Errorf("got %v, want a *KeyTakenError", err)
		} else if want := (storage.KeyTakenError{Index: "u", Value: value, Holder: holder}); *got != want {
			s.Errorf("got %+v, want %+v", *got, want)
		}
	}
	s.create(unique("a", 0, "1", "2"))
	taken(s.store.Create(s.ctx, unique("b", 0, "0", "2")), "2", "a")
	s.create(unique("b", 0, "3"))
	taken(s.store.Update(s.ctx, unique("b", 1, "3", "1")), "1", "a")

	// What an entry holds it may keep, reorder and change.
	e := unique("a", 1, "2", "1")
	e.Keys[0].Order = 5
	s.ok(s.store.Update(s.ctx, e))
	s.finds(storage.Query{Index: "u", Value: "2", Range: &storage.Range{Min: 5, Max: 5}}, "a")
	taken(s.store.Update(s.ctx, unique("b", 1, "2")), "2", "a")

	// Dropping and deleting frees.
	s.ok(s.store.Update(s.ctx, unique("a", 2, "1")))
	s.ok(s.store.Update(s.ctx, unique("b", 1, "2", "3")))
	taken(s.store.Update(s.ctx, unique("a", 3, "1", "2")), "2", "b")
	s.ok(s.store.Delete(s.ctx, "b", 2))
	s.ok(s.store.Update(s.ctx, unique("a", 3, "1", "2", "3")))

	// The other index is another key; a shared key claims nothing and is not hindered.
	s.create(storage.Entry{ID: "c", Keys: []storage.Key{{Index: "v", Value: "1", Unique: true}}})
	shared := storage.Entry{ID: "d", Keys: []storage.Key{{Index: "u", Value: "1"}, {Index: "u", Value: "9"}}}
	s.create(shared, unique("e", 0, "9"))
	s.finds(storage.Query{Index: "u", Value: "1"}, "a", "d")
	s.finds(storage.Query{Index: "u", Value: "9"}, "d", "e")

	// A shared key becomes unique and the other way round.
	shared.Version, shared.Keys[0].Unique = 1, true
	taken(s.store.Update(s.ctx, shared), "1", "a")
	keep := unique("a", 4, "1", "2", "3")
	keep.Keys[0].Unique = false
	s.ok(s.store.Update(s.ctx, keep))
	s.ok(s.store.Update(s.ctx, shared))
	keep.Version, keep.Keys[0].Unique = 5, true
	taken(s.store.Update(s.ctx, keep), "1", "d")
	s.finds(storage.Query{Index: "u", Value: "1"}, "a", "d")
}
