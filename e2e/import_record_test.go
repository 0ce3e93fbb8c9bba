package e2e

import "github.com/swapper-go/swapper/internal/flowtest"

// theirs is a stored swap as the reference service would have stored it.
func (w *world) theirs(id string) []byte {
	w.t.Helper()
	e, err := w.store.Get(w.t.Context(), id)
	if err != nil {
		w.t.Fatal(err)
	}
	record, err := flowtest.ReferenceRecord(id, e.Version, e.Body)
	if err != nil {
		w.t.Fatal(err)
	}
	return record
}
