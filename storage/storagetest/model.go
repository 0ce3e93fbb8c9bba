package storagetest

import (
	"errors"
	"fmt"
	"math"

	"pgregory.net/rapid"

	"github.com/swapper-go/swapper/storage"
)

// model runs random sequences of calls against the store and against Memory,
// and demands the same answers.
func (s *suite) model() {
	round := 0
	rapid.Check(s.T, func(t *rapid.T) {
		// Each round has ids, indexes and names of its own, so that one store serves all.
		round++
		m := &comparison{suite: s, model: &storage.Memory{}, prefix: fmt.Sprintf("%d ", round)}
		t.Repeat(map[string]func(*rapid.T){
			"create": m.create,
			"update": m.update,
			"delete": m.delete,
			"note":   m.note,
			"find":   m.find,
			"":       m.get,
		})
	})
}

type comparison struct {
	*suite
	model  *storage.Memory
	prefix string
}

var (
	someString = rapid.SampledFrom([]string{"", "\x00", "\x00\x00", "a", "a\x00", "ab", "b", "\xff"})
	someID     = rapid.SampledFrom([]string{"1", "2", "3", "4"})
	someOrder  = rapid.OneOf(rapid.Int64Range(-2, 2), rapid.SampledFrom([]int64{math.MinInt64, math.MaxInt64, -256, 255, 256}))
	someBody   = rapid.SliceOfN(rapid.Byte(), 0, 40)
)

// key draws only two indexes, and values that often meet.
func (m *comparison) key(t *rapid.T) (index, value string) {
	index = m.prefix + rapid.SampledFrom([]string{"i", "j"}).Draw(t, "index")
	return index, someString.Draw(t, "value")
}

func (m *comparison) entry(t *rapid.T) storage.Entry {
	e := storage.Entry{ID: m.prefix + someID.Draw(t, "id"), Body: someBody.Draw(t, "body")}
	for range rapid.IntRange(0, 4).Draw(t, "keys") {
		k := storage.Key{Order: someOrder.Draw(t, "order"), Unique: rapid.Bool().Draw(t, "unique")}
		k.Index, k.Value = m.key(t)
		if _, twice := (storage.Query{Index: k.Index, Value: k.Value}).Position(e); !twice {
			e.Keys = append(e.Keys, k)
		}
	}
	return e
}

// version draws the stored version, mostly.
func (m *comparison) version(t *rapid.T, id string) uint64 {
	e, err := m.model.Get(m.ctx, id)
	if err != nil || rapid.IntRange(0, 4).Draw(t, "stale") == 0 {
		return rapid.Uint64Range(0, 3).Draw(t, "version")
	}
	return e.Version
}

func (m *comparison) create(t *rapid.T) {
	e := m.entry(t)
	m.agree(t, m.model.Create(m.ctx, e), m.store.Create(m.ctx, e))
}

func (m *comparison) update(t *rapid.T) {
	e := m.entry(t)
	e.Version = m.version(t, e.ID)
	m.agree(t, m.model.Update(m.ctx, e), m.store.Update(m.ctx, e))
}

func (m *comparison) delete(t *rapid.T) {
	id := m.prefix + someID.Draw(t, "id")
	version := m.version(t, id)
	m.agree(t, m.model.Delete(m.ctx, id, version), m.store.Delete(m.ctx, id, version))
}

func (m *comparison) note(t *rapid.T) {
	name := m.prefix + someString.Draw(t, "name")
	data, version := someBody.Draw(t, "data"), rapid.Uint64Range(0, 2).Draw(t, "version")
	m.agree(t, m.model.SetNote(m.ctx, name, data, version), m.store.SetNote(m.ctx, name, data, version))
	wantData, wantVersion, wantErr := m.model.Note(m.ctx, name)
	gotData, gotVersion, gotErr := m.store.Note(m.ctx, name)
	m.agree(t, wantErr, gotErr)
	if diff := same(wantData, gotData); diff != "" || wantVersion != gotVersion {
		t.Fatalf("note %q: versions %d and %d (-want +got):\n%s", name, wantVersion, gotVersion, diff)
	}
}

// get compares all entries; it runs after every other call.
func (m *comparison) get(t *rapid.T) {
	for _, id := range []string{"1", "2", "3", "4"} {
		want, wantErr := m.model.Get(m.ctx, m.prefix+id)
		got, gotErr := m.store.Get(m.ctx, m.prefix+id)
		m.agree(t, wantErr, gotErr)
		if diff := same(want, got); diff != "" {
			t.Fatalf("entry %q (-want +got):\n%s", id, diff)
		}
	}
}

func (m *comparison) find(t *rapid.T) {
	q := storage.Query{Descending: rapid.Bool().Draw(t, "descending")}
	q.Index, q.Value = m.key(t)
	if rapid.Bool().Draw(t, "ranged") {
		q.Range = &storage.Range{Min: someOrder.Draw(t, "min"), Max: someOrder.Draw(t, "max")}
	}
	if rapid.Bool().Draw(t, "resumed") {
		q.After = &storage.Position{Order: someOrder.Draw(t, "after"), ID: m.prefix + someID.Draw(t, "after id")}
	}
	var want, got []storage.Entry
	for e, err := range m.model.Find(m.ctx, q) {
		m.agree(t, nil, err)
		want = append(want, e)
	}
	for e, err := range m.store.Find(m.ctx, q) {
		m.agree(t, nil, err)
		got = append(got, e)
	}
	if diff := same(want, got); diff != "" {
		t.Fatalf("find %+v (-want +got):\n%s", q, diff)
	}
}

// agree demands errors that mean the same.
func (m *comparison) agree(t *rapid.T, want, got error) {
	for _, target := range []error{storage.ErrNotFound, storage.ErrExists, storage.ErrConflict, storage.ErrInvalid} {
		if errors.Is(want, target) != errors.Is(got, target) {
			t.Fatalf("got %v, want %v", got, want)
		}
	}
	wantTaken, gotTaken := (*storage.KeyTakenError)(nil), (*storage.KeyTakenError)(nil)
	if errors.As(want, &wantTaken) != errors.As(got, &gotTaken) || (want == nil) != (got == nil) {
		t.Fatalf("got %v, want %v", got, want)
	}
	if diff := same(wantTaken, gotTaken); diff != "" {
		t.Fatalf("taken key (-want +got):\n%s", diff)
	}
}
