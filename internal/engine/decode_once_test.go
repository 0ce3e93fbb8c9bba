package engine

import (
	"bytes"
	"testing"

	"github.com/swapper-go/swapper/internal/trial"
	"github.com/swapper-go/swapper/storage"
)

// A record that was decoded before is each caller's own, and what the store has counts:
// another version, and another body with the same version, are decoded anew.
func TestRecordsAreDecodedOnce(t *testing.T) {
	_, g := engineOn(t, done)
	create(t, g, "a")
	e := trial.Must(g.Store.Get(t.Context(), "a"))(t)
	first := trial.Must(g.decodeOnce(e))(t)
	state := first.State
	first.State, first.LP.URL = state+100, "changed"
	again, err := g.decodeOnce(e)
	if err != nil || again.State != state || again.LP.URL == "changed" || again == first {
		t.Errorf("%+v, %v", again, err)
	}
	for name, other := range map[string]storage.Entry{
		"another version": {ID: e.ID, Version: e.Version + 1, Body: e.Body},
		"another body":    {ID: e.ID, Version: e.Version, Body: bytes.Replace(e.Body, []byte(`"id":"a"`), []byte(`"id":"a","shared":["hash"]`), 1)},
	} {
		r, err := g.decodeOnce(other)
		if err != nil || r.Version != other.Version || (len(r.Shared) == 1) != (name == "another body") {
			t.Errorf("%s: version %d, shared %v, %v; body %s", name, r.Version, r.Shared, err, other.Body)
		}
	}
	if _, err := g.decodeOnce(storage.Entry{ID: "b", Version: e.Version, Body: e.Body}); err == nil {
		t.Error("read another swap's record")
	}
}
