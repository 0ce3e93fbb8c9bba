package serve

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// What a file says counts from the moment it changes; a version that cannot be used
// changes nothing, and is tried again when the file changes once more.
func TestReadAgain(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	at := time.Now().Add(-time.Hour)
	write := func(text string) {
		t.Helper()
		at = at.Add(time.Minute)
		if err := errors.Join(os.WriteFile(path, []byte(text), 0o600), os.Chtimes(path, at, at)); err != nil {
			t.Fatal(err)
		}
	}
	read := func() (string, error) {
		text, err := os.ReadFile(path)
		if string(text) == "bad" {
			err = errors.New("bad")
		}
		return string(text), err
	}
	if _, err := Watch(nil, read, path); err == nil {
		t.Error("a file that is not there")
	}
	write("one")
	v, err := Watch(nil, read, path)
	if err != nil {
		t.Fatal(err)
	}
	now := time.Now()
	v.Now = func() time.Time { return now }
	get := func(want string) {
		t.Helper()
		now = now.Add(time.Second)
		if got := v.Get(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	get("one")
	write("two")
	if got := v.Get(); got != "one" {
		t.Errorf("%q within a second of the last look", got)
	}
	get("two")
	write("bad")
	get("two")
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	get("two")
	write("three")
	get("three")
}
