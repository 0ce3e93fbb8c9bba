package bolt

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"go.etcd.io/bbolt"

	"github.com/swapper-go/swapper/internal/trial"
	"github.com/swapper-go/swapper/storage"
)

// kept is entry i of a store of [small].
func kept(i int) storage.Entry {
	e := swap(i)
	e.Version, e.Body = 1, e.Body[:200]
	return e
}

// exercise opens a file that may be damaged anywhere, of a store with n swaps, and
// reads all of it. It must not crash, hang or change the file, whatever it answers.
func exercise(t testing.TB, path string, n int) (opened bool) {
	t.Helper()
	before := contents(t, path)
	s, err := Open(context.Background(), path, Options{})
	if err != nil {
		if !errors.Is(err, storage.ErrCorrupt) && !errors.Is(err, errForeign) && !errors.Is(err, errSchema) {
			t.Errorf("open: got %v, want ErrCorrupt, errForeign or errSchema", err)
		}
		unchanged(t, path, before)
		return false
	}
	readAll(t, s, n)
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	unchanged(t, path, before)
	return true
}

// readAll calls all that reads a store with n swaps. Every error must be ErrCorrupt,
// and whatever is read is what was stored. An entry that is not found is one that
// Verify misses.
func readAll(t testing.TB, s *Store, n int) {
	t.Helper()
	ctx := context.Background()
	byID := map[string]storage.Entry{}
	for i := range n {
		e := kept(i)
		byID[e.ID] = e
	}
	same := func(got storage.Entry) {
		if want := byID[got.ID]; got.Version != want.Version || !bytes.Equal(got.Body, want.Body) || !slices.Equal(got.Keys, want.Keys) {
			t.Errorf("read %s at version %d with %d bytes, stored were version %d and %d bytes", storage.Label(got.ID), got.Version, len(got.Body), want.Version, len(want.Body))
		}
	}
	missing := 0
	check := func(err error) {
		if err != nil && !errors.Is(err, storage.ErrCorrupt) && !errors.Is(err, storage.ErrNotFound) {
			t.Errorf("got %v, want ErrCorrupt", err)
		}
	}
	queries := []storage.Query{{Index: "watch"}, {Index: "watch", Descending: true}}
	for i := range n {
		e := kept(i)
		got, err := s.Get(ctx, e.ID)
		check(err)
		if err == nil {
			same(got)
		} else if errors.Is(err, storage.ErrNotFound) {
			missing++
		}
		queries = append(queries, storage.Query{Index: "signer", Value: e.Keys[0].Value}, storage.Query{Index: "event", Value: e.Keys[2].Value})
	}
	for _, q := range queries {
		for e, err := range s.Find(ctx, q) {
			check(err)
			if e.ID == "" && err == nil {
				t.Error("yielded an entry without an ID")
			} else if err == nil {
				same(e)
			}
		}
	}
	cursor, version, err := s.Note(ctx, "cursor")
	check(err)
	if err == nil && version != 0 && string(cursor) != "17" {
		t.Errorf("the note is %q at version %d", cursor, version)
	} else if err == nil && version == 0 {
		missing++
	}
	err = s.Verify(ctx)
	check(err)
	if missing > 0 && err == nil {
		t.Errorf("%d of %d are missing, and Verify finds nothing", missing, n)
	}
}

func TestTruncatedFile(t *testing.T) {
	t.Parallel()
	path := small(t, 60)
	whole := contents(t, path)
	m := trial.Must(currentMeta(bytes.NewReader(whole), int64(len(whole))))(t)
	page := int(m.pageSize)
	used := int(m.pages) * page
	for size := 1; size < used; size++ {
		if size > 200 && size%page > 1 && size%page < page-1 {
			continue // only around the boundaries
		}
		trial.Do(t, os.WriteFile(path, whole[:size], 0o600))
		if exercise(t, path, 60) {
			t.Fatalf("a file of %d bytes of %d was opened", size, used)
		}
	}
}

// Each damage must be found when the file is opened, for these stores are small.
func TestDamagedStructure(t *testing.T) {
	t.Parallel()
	path := small(t, 120)
	whole := contents(t, path)
	m := trial.Must(currentMeta(bytes.NewReader(whole), int64(len(whole))))(t)
	var branch, leaf uint64
	s := openTest(t, path, Options{})
	trial.Do(t, s.db.View(func(tx *bbolt.Tx) error {
		for id := uint64(2); id < m.pages; id++ {
			switch p, err := tx.Page(int(id)); {
			case err != nil:
				return err
			case p.Type == "branch":
				branch = id
			case p.Type == "leaf" && id != m.root:
				leaf = id
			}
		}
		return nil
	}))
	s.Close()
	if branch == 0 || leaf == 0 {
		t.Fatal("the store has no branch page or no leaf page")
	}
	put16 := func(v uint16) func([]byte) { return func(b []byte) { native.PutUint16(b, v) } }
	put32 := func(v uint32) func([]byte) { return func(b []byte) { native.PutUint32(b, v) } }
	put64 := func(v uint64) func([]byte) { return func(b []byte) { native.PutUint64(b, v) } }
	page := uint64(m.pageSize)
	for _, c := range []struct {
		name   string
		offset uint64
		change func([]byte)
	}{
		{"magic of the first meta page", 16, put32(1)},
		{"magic of the second meta page", page + 16, put32(1)},
		{"transaction of the first meta page", 16 + 48, put64(1 << 40)},
		{"checksum of the second meta page", page + 16 + 56, put64(1)},
		{"meta page of another type", page + 8, put16(leafPage)},
		{"id of a branch", branch * page, put64(branch + 1)},
		{"type of a branch", branch*page + 8, put16(leafPage)},
		{"no known type", branch*page + 8, put16(0x77)},
		{"branch without children", branch*page + 10, put16(0)},
		{"branch with too many children", branch*page + 10, put16(0xffff)},
		{"overflow of a branch", branch*page + 12, put32(1 << 31)},
		{"branch that is its own child", branch*page + pageHeader + 8, put64(branch)},
		{"branch whose child is the root", branch*page + pageHeader + 8, put64(m.root)},
		{"branch whose child is far away", branch*page + pageHeader + 8, put64(1 << 60)},
		{"branch whose child is a meta page", branch*page + pageHeader + 8, put64(1)},
		{"key outside of a branch", branch*page + pageHeader, put32(1 << 30)},
		{"empty key in a branch", branch*page + pageHeader + 4, put32(0)},
		{"type of a leaf", leaf*page + 8, put16(branchPage)},
		{"leaf with too many elements", leaf*page + 10, put16(0xfff0)},
		{"leaf that hides elements", leaf*page + 10, put16(0)},
		{"leaf that hides its last element", leaf*page + 10, put16(native.Uint16(whole[leaf*page+10:]) - 1)},
		{"branch that hides its last child", branch*page + 10, put16(native.Uint16(whole[branch*page+10:]) - 1)},
		{"value outside of a leaf", leaf*page + pageHeader + 12, put32(1 << 31)},
		{"bucket in a leaf", leaf*page + pageHeader, func(b []byte) { b[0] ^= bucketLeaf }},
		{"type of the free list", m.freelist*page + 8, put16(leafPage)},
		{"free list without end", m.freelist*page + 10, put16(0xffff)},
		{"free list with a live page", m.freelist*page + pageHeader, put64(leaf)},
		{"free list with a page outside", m.freelist*page + pageHeader, put64(m.pages)},
	} {
		t.Run(c.name, func(t *testing.T) {
			damaged := bytes.Clone(whole)
			c.change(damaged[c.offset:])
			path := filepath.Join(t.TempDir(), "swaps")
			trial.Do(t, os.WriteFile(path, damaged, 0o600))
			want := error(storage.ErrCorrupt)
			if c.offset == 16 {
				want = errForeign
			}
			refused(t, path, want)
		})
	}
}

// A page that is neither used nor free is only lost, so the store can be used,
// but Verify says so.
func TestLostPage(t *testing.T) {
	t.Parallel()
	path := small(t, 120)
	whole := contents(t, path)
	m := trial.Must(currentMeta(bytes.NewReader(whole), int64(len(whole))))(t)
	count := whole[int64(m.freelist)*m.pageSize+10:]
	if native.Uint16(count) == 0 {
		t.Fatal("no page is free")
	}
	native.PutUint16(count, 0)
	trial.Do(t, os.WriteFile(path, whole, 0o600))
	s := openTest(t, path, Options{})
	if err := s.Verify(t.Context()); !errors.Is(err, storage.ErrCorrupt) {
		t.Errorf("got %v, want ErrCorrupt", err)
	}
	if err := s.Create(t.Context(), storage.Entry{ID: "a"}); err != nil {
		t.Error(err)
	}
}

// A large file is opened without reading its leaves, so their damage is met
// later. Here it is put there once the store is open.
func TestDamageMetLater(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(page []byte, id int){
		"zeros":       func(page []byte, id int) { clear(page) },
		"other page":  func(page []byte, id int) { native.PutUint64(page, uint64(id+1)) },
		"many":        func(page []byte, id int) { native.PutUint16(page[10:], 0xfff0) },
		"far offsets": func(page []byte, id int) { native.PutUint32(page[pageHeader+4:], 1<<31) },
		"long values": func(page []byte, id int) { native.PutUint32(page[pageHeader+12:], 1<<31) },
	} {
		t.Run(name, func(t *testing.T) {
			path := small(t, 60)
			s := openTest(t, path, Options{})
			file := trial.Must(os.OpenFile(path, os.O_RDWR, 0))(t)
			defer file.Close()
			m := trial.Must(currentMeta(file, 1<<30))(t)
			page := make([]byte, m.pageSize)
			for id := 2; id < int(m.pages); id++ {
				if _, err := file.ReadAt(page, int64(id)*m.pageSize); err != nil {
					t.Fatal(err)
				}
				if uint64(id) == m.root || native.Uint16(page[8:]) != leafPage {
					continue
				}
				change(page, id)
				if _, err := file.WriteAt(page, int64(id)*m.pageSize); err != nil {
					t.Fatal(err)
				}
			}
			readAll(t, s, 60)
			if err := s.Verify(t.Context()); !errors.Is(err, storage.ErrCorrupt) {
				t.Errorf("verify: got %v, want ErrCorrupt", err)
			}
			before := contents(t, path)
			e := swap(5)
			e.Version = 1
			if err := s.Update(t.Context(), e); err == nil {
				t.Error("an entry that cannot be read was updated")
			}
			unchanged(t, path, before)
			if err := s.Close(); err != nil {
				t.Error(err)
			}
		})
	}
}

// The file is cut under an open store, as a careless copy onto it does.
func TestFileCutWhileOpen(t *testing.T) {
	t.Parallel()
	for _, size := range []int64{0, 1, 4096, 3 * 4096, 10 * 4096} {
		path := small(t, 400)
		s := openTest(t, path, Options{})
		trial.Do(t, os.Truncate(path, size))
		readAll(t, s, 400)
		if _, err := s.Get(t.Context(), swap(0).ID); !errors.Is(err, storage.ErrCorrupt) {
			t.Errorf("cut to %d: get: got %v, want ErrCorrupt", size, err)
		}
		if err := s.Create(t.Context(), storage.Entry{ID: "a"}); !errors.Is(err, storage.ErrCorrupt) {
			t.Errorf("cut to %d: create: got %v, want ErrCorrupt", size, err)
		}
		if err := s.Close(); err != nil {
			t.Errorf("cut to %d: close: %v", size, err)
		}
	}
}

// A record that is damaged is reported by ID, is not overwritten, and hinders
// no other.
func TestDamagedRecord(t *testing.T) {
	t.Parallel()
	path := small(t, 60)
	s := openTest(t, path, Options{})
	bad := swap(7)
	tamper(t, s, func(b buckets) error {
		record := bytes.Clone(b.entries.Get([]byte(bad.ID)))
		record[len(record)/2] ^= 1
		return b.entries.Put([]byte(bad.ID), record)
	})
	ctx := t.Context()
	if _, err := s.Get(ctx, bad.ID); !errors.Is(err, storage.ErrCorrupt) {
		t.Errorf("get: got %v, want ErrCorrupt", err)
	}
	found, damaged := 0, 0
	for e, err := range s.Find(ctx, storage.Query{Index: "watch"}) {
		found++
		if err != nil {
			damaged++
			if e.ID != bad.ID || e.Body != nil || !errors.Is(err, storage.ErrCorrupt) {
				t.Errorf("got %v, %v, want the id of the damaged entry and ErrCorrupt", e, err)
			}
		}
	}
	if found != 60 || damaged != 1 {
		t.Errorf("found %d and %d damaged, want 60 and 1", found, damaged)
	}
	bad.Version = 1
	for name, err := range map[string]error{
		"create": s.Create(ctx, swap(7)),
		"update": s.Update(ctx, bad),
		"delete": s.Delete(ctx, bad.ID, 1),
	} {
		if !errors.Is(err, storage.ErrCorrupt) && !errors.Is(err, storage.ErrExists) {
			t.Errorf("%s: got %v, want a refusal", name, err)
		}
	}
	good := swap(8)
	good.Version = 1
	if err := s.Update(ctx, good); err != nil {
		t.Errorf("another entry: %v", err)
	}
	if err := s.Verify(ctx); !errors.Is(err, storage.ErrCorrupt) {
		t.Errorf("verify: got %v, want ErrCorrupt", err)
	}
}

// tamper changes the file past the store.
func tamper(t testing.TB, s *Store, f func(buckets) error) {
	t.Helper()
	trial.Do(t, s.db.Update(func(tx *bbolt.Tx) error { return f(bucketsOf(tx)) }))
}

func TestVerifyFinds(t *testing.T) {
	t.Parallel()
	e, other := swap(1), swap(2)
	other.Version = 1
	shared, unique := placesOf(e.ID, e.Keys)[0], placesOf(e.ID, e.Keys)[2]
	for name, f := range map[string]func(buckets) error{
		"missing key":        func(b buckets) error { return b.index.Delete(shared.bucket) },
		"missing unique key": func(b buckets) error { return b.unique.Delete(unique.bucket) },
		"key of another entry": func(b buckets) error {
			return b.unique.Put(unique.bucket, appendPlace(nil, storage.Position{ID: other.ID}))
		},
		"left over key": func(b buckets) error {
			return b.index.Put(appendPlace(scope("i", "v"), storage.Position{ID: e.ID}), present)
		},
		"left over unique key": func(b buckets) error {
			return b.unique.Put(scope("i", "v"), appendPlace(nil, storage.Position{ID: e.ID}))
		},
		"key of no form": func(b buckets) error { return b.index.Put([]byte("x"), present) },
		"unique key of no form": func(b buckets) error {
			return b.unique.Put(append(scope("i", "v"), 0), []byte("x"))
		},
		"missing entry":     func(b buckets) error { return b.entries.Delete([]byte(e.ID)) },
		"misplaced entry":   func(b buckets) error { return b.entries.Put([]byte(e.ID), encodeEntry(other)) },
		"short record":      func(b buckets) error { return b.entries.Put([]byte(e.ID), []byte{1}) },
		"misplaced note":    func(b buckets) error { return b.notes.Put([]byte("n"), encodeNote("m", nil, 1)) },
		"note without head": func(b buckets) error { return b.notes.Put([]byte("n"), seal(nil, "n")) },
	} {
		t.Run(name, func(t *testing.T) {
			s := openTest(t, small(t, 20), Options{})
			tamper(t, s, f)
			if err := s.Verify(t.Context()); !errors.Is(err, storage.ErrCorrupt) {
				t.Errorf("got %v, want ErrCorrupt", err)
			}
			readAll(t, s, 20)
		})
	}
}

func TestManyProblems(t *testing.T) {
	t.Parallel()
	s := openTest(t, filepath.Join(t.TempDir(), "swaps"), Options{})
	tamper(t, s, func(b buckets) error {
		for i := range uint64(10_000) {
			if err := b.entries.Put(binary.BigEndian.AppendUint64(nil, i), []byte("nonsense")); err != nil {
				return err
			}
		}
		return nil
	})
	if err := s.Verify(t.Context()); !errors.Is(err, errEnough) || len(err.Error()) > 100*maxProblems {
		t.Errorf("got %v, want a short list", err)
	}
}

// TestRandomDamage is the fuzz target with random input, so that every run of
// the tests does a little of it.
func TestRandomDamage(t *testing.T) {
	t.Parallel()
	path := small(t, 120)
	whole := contents(t, path)
	r := rand.New(rand.NewPCG(1, 2))
	opened := 0
	for range 100 {
		damaged := bytes.Clone(whole)
		for range 1 + r.IntN(4) {
			at := r.IntN(len(damaged))
			switch r.IntN(3) {
			case 0:
				damaged[at] = byte(r.Uint32())
			case 1:
				at = at / 4096 * 4096
				damaged[at+r.IntN(64)] ^= 1 << r.IntN(8)
			default:
				from, to := r.IntN(len(damaged)/4096)*4096, at/4096*4096
				copy(damaged[to:min(to+4096, len(damaged))], whole[from:])
			}
		}
		trial.Do(t, os.WriteFile(path, damaged, 0o600))
		if exercise(t, path, 120) {
			opened++
		}
	}
	t.Logf("%d of 100 damaged files were opened", opened)
}

// FuzzOpen puts the input over a good file at some place.
func FuzzOpen(f *testing.F) {
	whole := contents(f, small(f, 120))
	m := trial.Must(currentMeta(bytes.NewReader(whole), int64(len(whole))))(f)
	f.Add(uint32(0), []byte("text"), uint32(len(whole)))
	f.Add(uint32(len(whole)), []byte{}, uint32(4096))
	for id := uint64(0); id < m.pages; id += 1 + id/4 {
		at := uint32(int64(id) * m.pageSize)
		f.Add(at, whole[at:at+64], uint32(len(whole)))
	}
	f.Fuzz(func(t *testing.T, at uint32, patch []byte, size uint32) {
		damaged := bytes.Clone(whole)
		copy(damaged[int(at)%len(damaged):], patch)
		damaged = damaged[:min(int(size), len(damaged))]
		path := filepath.Join(t.TempDir(), "swaps")
		trial.Do(t, os.WriteFile(path, damaged, 0o600))
		exercise(t, path, 120)
	})
}
