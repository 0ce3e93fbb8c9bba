package bolt

import (
	"path/filepath"
	"testing"

	"github.com/swapper-go/swapper/storage"
)

func TestReopen(t *testing.T) {
	path := filepath.Join(t.TempDir(), "swaps")
	s, err := Open(t.Context(), path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	want := storage.Entry{ID: "a", Body: []byte("body"), Keys: []storage.Key{{Index: "signer", Value: "v", Order: -1}, {Index: "event", Value: "h", Unique: true}}}
	if err := s.Create(t.Context(), want); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if s, err = Open(t.Context(), path, Options{}); err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	got, err := s.Get(t.Context(), "a")
	if err != nil || got.Version != 1 || string(got.Body) != "body" {
		t.Fatalf("got %v, %v", got, err)
	}
	if err := s.Verify(t.Context()); err != nil {
		t.Fatal(err)
	}
}
