package swapper

import (
	"reflect"
	"testing"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/internal/bounds"
	"github.com/swapper-go/swapper/internal/trial"
	"github.com/swapper-go/swapper/storage"
)

// A chain gets its own notes and no way to the swaps.
func TestNotesHideTheStore(t *testing.T) {
	store := new(storage.Memory)
	var n chains.Notes = bounds.NotesOf(store, "chain/CITREA/")
	if _, ok := n.(storage.Store); ok {
		t.Error("a chain can take its notes for the store")
	}
	for m := range reflect.TypeOf(n).Methods() {
		if m.Name != "Note" && m.Name != "SetNote" {
			t.Errorf("a chain can call %s", m.Name)
		}
	}
	trial.Do(t, n.SetNote(t.Context(), "events", []byte("here"), 0))
	other := bounds.NotesOf(store, "chain/ALPEN/")
	if data, version, err := other.Note(t.Context(), "events"); err != nil || data != nil || version != 0 {
		t.Errorf("another chain reads %q, version %d, %v", data, version, err)
	}
}
