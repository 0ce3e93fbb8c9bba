package bolt

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"go.etcd.io/bbolt"

	"github.com/swapper-go/swapper/internal/trial"
	"github.com/swapper-go/swapper/storage"
)

func openTest(t testing.TB, path string, options Options) *Store {
	t.Helper()
	s := trial.Must(Open(t.Context(), path, options))(t)
	t.Cleanup(func() { s.Close() })
	return s
}

// small returns the path of a closed store with n swaps, in a file with branch pages.
func small(t testing.TB, n int) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "swaps")
	s := openTest(t, path, Options{})
	err := s.db.Update(func(tx *bbolt.Tx) error {
		k := bucketsOf(tx)
		for i := range n {
			e := kept(i)
			if err := k.replace(e.ID, encodeEntry(e), nil, placesOf(e.ID, e.Keys)); err != nil {
				return err
			}
		}
		return k.notes.Put([]byte("cursor"), encodeNote("cursor", []byte("17"), 1))
	})
	if err != nil {
		t.Fatal(err)
	}
	trial.Do(t, s.Verify(t.Context()))
	trial.Do(t, s.Close())
	return path
}

func TestReopen(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "swaps")
	s := openTest(t, path, Options{})
	e := storage.Entry{ID: "a", Body: []byte("body"), Keys: []storage.Key{{Index: "signer", Value: "v", Order: -1}, {Index: "event", Value: "h", Unique: true}}}
	trial.Do(t, s.Create(t.Context(), e))
	trial.Do(t, s.SetNote(t.Context(), "cursor", []byte("17"), 0))
	trial.Do(t, s.Close())
	for _, options := range []Options{{}, {ReadOnly: true}} {
		s := openTest(t, path, options)
		if s.Path() != path {
			t.Errorf("path is %q, want %q", s.Path(), path)
		}
		got, err := s.Get(t.Context(), "a")
		if err != nil || got.Version != 1 || string(got.Body) != "body" || len(got.Keys) != 2 {
			t.Errorf("got %v, %v", got, err)
		}
		if data, version, err := s.Note(t.Context(), "cursor"); string(data) != "17" || version != 1 || err != nil {
			t.Errorf("note: got %q, %d, %v", data, version, err)
		}
		if err := s.Verify(t.Context()); err != nil {
			t.Error(err)
		}
		trial.Do(t, s.Close())
	}
}

func TestOpenCreates(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "swaps")
	openTest(t, path, Options{})
	info, err := os.Stat(path)
	if err != nil || info.Mode() != 0o600 {
		t.Errorf("mode is %v, %v, want -rw-------", info.Mode(), err)
	}
	files, err := os.ReadDir(dir)
	if err != nil || len(files) != 1 {
		t.Errorf("the directory has %v, %v, want only the store", files, err)
	}
	for _, path := range []string{filepath.Join(dir, "missing", "swaps"), ""} {
		if _, err := Open(t.Context(), path, Options{}); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("open %q: got %v, want fs.ErrNotExist", path, err)
		}
	}
	path = filepath.Join(dir, "absent")
	if _, err := Open(t.Context(), path, Options{ReadOnly: true}); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("got %v, want fs.ErrNotExist", err)
	}
	if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("opening for reading has made a file: %v", err)
	}
}

// Several may find no file at once: all must end up with the same one.
func TestOpenCreatesOnce(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "swaps")
	errs := make(chan error)
	const openers = 8
	for i := range openers {
		go func() {
			errs <- func() error {
				s, err := Open(t.Context(), path, Options{LockTimeout: 30 * time.Second})
				if err != nil {
					return err
				}
				return errors.Join(s.Create(t.Context(), storage.Entry{ID: fmt.Sprint(i)}), s.Close())
			}()
		}()
	}
	for range openers {
		if err := <-errs; err != nil {
			t.Error(err)
		}
	}
	s := openTest(t, path, Options{})
	for i := range openers {
		if _, err := s.Get(t.Context(), fmt.Sprint(i)); err != nil {
			t.Error(err)
		}
	}
}

func TestOpenInUse(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "swaps")
		openTest(t, path, Options{})
		soon := func() context.Context {
			ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
			t.Cleanup(cancel)
			return ctx
		}
		for name, open := range map[string]func() (*Store, error){
			"timeout": func() (*Store, error) { return Open(t.Context(), path, Options{LockTimeout: 50 * time.Millisecond}) },
			"context": func() (*Store, error) { return Open(soon(), path, Options{LockTimeout: time.Hour}) },
			"read-only": func() (*Store, error) {
				return Open(t.Context(), path, Options{LockTimeout: 50 * time.Millisecond, ReadOnly: true})
			},
		} {
			start := time.Now()
			if _, err := open(); !errors.Is(err, ErrInUse) || !strings.Contains(err.Error(), path) {
				t.Errorf("%s: got %v, want ErrInUse with the path", name, err)
			}
			if took := time.Since(start); took > 30*time.Second {
				t.Errorf("%s: took %v", name, took)
			}
		}
		ended, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := Open(ended, path, Options{}); !errors.Is(err, context.Canceled) {
			t.Errorf("got %v, want context.Canceled", err)
		}
	})
}

// One who waits gets the store when the other closes it.
func TestOpenWaits(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "swaps")
	first := openTest(t, path, Options{})
	go func() {
		time.Sleep(100 * time.Millisecond)
		first.Close()
	}()
	openTest(t, path, Options{LockTimeout: time.Minute})
}

func TestReadOnly(t *testing.T) {
	t.Parallel()
	path := small(t, 10)
	before := contents(t, path)
	s, other := openTest(t, path, Options{ReadOnly: true}), openTest(t, path, Options{ReadOnly: true})
	e := swap(3)
	for _, s := range []*Store{s, other} {
		if _, err := s.Get(t.Context(), e.ID); err != nil {
			t.Error(err)
		}
		if err := s.Verify(t.Context()); err != nil {
			t.Error(err)
		}
	}
	e.Version = 1
	for name, err := range map[string]error{
		"create":  s.Create(t.Context(), storage.Entry{ID: "new"}),
		"update":  s.Update(t.Context(), e),
		"delete":  s.Delete(t.Context(), e.ID, 1),
		"setnote": s.SetNote(t.Context(), "n", nil, 0),
	} {
		if !errors.Is(err, storage.ErrReadOnly) {
			t.Errorf("%s: got %v, want ErrReadOnly", name, err)
		}
	}
	if _, err := Open(t.Context(), path, Options{LockTimeout: time.Millisecond}); !errors.Is(err, ErrInUse) {
		t.Errorf("open for writing: got %v, want ErrInUse", err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if err := s.Create(t.Context(), e); !errors.Is(err, storage.ErrClosed) {
		t.Errorf("got %v, want ErrClosed", err)
	}
	unchanged(t, path, before)
}

func contents(t testing.TB, path string) []byte {
	t.Helper()
	return trial.Must(os.ReadFile(path))(t)
}

func unchanged(t testing.TB, path string, before []byte) {
	t.Helper()
	if !bytes.Equal(contents(t, path), before) {
		t.Error("the file has been modified")
	}
}

// refused demands that a file cannot be opened and stays as it is.
func refused(t testing.TB, path string, want error) {
	t.Helper()
	before := contents(t, path)
	for _, options := range []Options{{}, {ReadOnly: true}} {
		s, err := Open(t.Context(), path, options)
		if err == nil {
			s.Close()
		}
		if !errors.Is(err, want) || !strings.Contains(err.Error(), path) {
			t.Errorf("got %v, want %v with the path", err, want)
		}
	}
	unchanged(t, path, before)
}

func TestOpenRefusesOtherFiles(t *testing.T) {
	t.Parallel()
	bolt := func(fill func(*bbolt.Tx) error) func(string) error {
		return func(path string) error {
			db, err := bbolt.Open(path, 0o600, nil)
			if err != nil {
				return err
			}
			return errors.Join(db.Update(fill), db.Close())
		}
	}
	raw := func(b []byte) func(string) error {
		return func(path string) error { return os.WriteFile(path, b, 0o600) }
	}
	head := func(format string, schema []byte, buckets ...[]byte) func(*bbolt.Tx) error {
		return func(tx *bbolt.Tx) error {
			b, err := tx.CreateBucket(headBucket)
			if err != nil {
				return err
			}
			for _, name := range buckets {
				if _, err := tx.CreateBucket(name); err != nil {
					return err
				}
			}
			return errors.Join(b.Put(formatKey, []byte(format)), b.Put(schemaKey, schema))
		}
	}
	number := func(n uint64) []byte { return binary.BigEndian.AppendUint64(nil, n) }
	for _, c := range []struct {
		name string
		make func(path string) error
		want error
	}{
		{"empty", raw(nil), storage.ErrCorrupt},
		{"short", raw([]byte("x")), errForeign},
		{"text", raw(bytes.Repeat([]byte("to be or not to be\n"), 1000)), errForeign},
		{"zeros", raw(make([]byte, 1<<20)), errForeign},
		{"empty bbolt file", bolt(func(*bbolt.Tx) error { return nil }), errForeign},
		{"bbolt file of another program", bolt(func(tx *bbolt.Tx) error {
			for i := range 300 {
				b, err := tx.CreateBucket(fmt.Appendf(nil, "bucket %d", i))
				if err != nil {
					return err
				}
				if err := b.Put([]byte("key"), bytes.Repeat([]byte("value"), 100)); err != nil {
					return err
				}
			}
			return nil
		}), errForeign},
		{"bbolt file with our buckets only", bolt(func(tx *bbolt.Tx) error {
			_, err := tx.CreateBucket(entriesBucket)
			return err
		}), errForeign},
		{"other format", bolt(head("something", number(schemaNumber), dataBuckets...)), errForeign},
		{"newer schema", bolt(head(formatName, number(schemaNumber+1), []byte("unheard of"))), errSchema},
		{"schema 0", bolt(head(formatName, number(0), dataBuckets...)), errSchema},
		{"schema of no length", bolt(head(formatName, nil, dataBuckets...)), storage.ErrCorrupt},
		{"missing bucket", bolt(head(formatName, number(schemaNumber), dataBuckets[1:]...)), storage.ErrCorrupt},
		{"unknown bucket", bolt(head(formatName, number(schemaNumber), append(dataBuckets[:4:4], []byte("more"))...)), storage.ErrCorrupt},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "swaps")
			trial.Do(t, c.make(path))
			refused(t, path, c.want)
		})
	}
	path := filepath.Join(t.TempDir(), "swaps")
	trial.Do(t, bolt(head(formatName, number(7), dataBuckets...))(path))
	if _, err := Open(t.Context(), path, Options{}); err == nil || !strings.Contains(err.Error(), "its layout is 7 and this version reads up to 1; open it with the version that wrote it or a newer one") {
		t.Errorf("got %v, which does not say what to do", err)
	}
	if _, err := Open(t.Context(), t.TempDir(), Options{}); !errors.Is(err, errForeign) {
		t.Errorf("directory: got %v, want errForeign", err)
	}
}
