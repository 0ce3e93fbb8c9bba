package bolt

import (
	"context"
	"path/filepath"
	"testing"

	"github.com/swapper-go/swapper/internal/trial"
	"github.com/swapper-go/swapper/storage"
	"github.com/swapper-go/swapper/storage/storagetest"
)

// TestSuite does not wait for the disk, which takes most of the suite's time
// and cannot be seen by it; TestCrash does.
func TestSuite(t *testing.T) {
	t.Parallel()
	storagetest.Run(t, func(t *testing.T) storage.Store {
		store := trial.Must(Open(t.Context(), filepath.Join(t.TempDir(), "swaps"), Options{}))(t)
		store.db.NoSync, store.db.NoGrowSync = true, true
		t.Cleanup(func() {
			if err := store.Verify(context.Background()); err != nil {
				t.Error(err)
			}
			if err := store.Close(); err != nil {
				t.Error(err)
			}
		})
		return store
	})
}
