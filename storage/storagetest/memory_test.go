package storagetest_test

import (
	"testing"

	"github.com/swapper-go/swapper/storage"
	"github.com/swapper-go/swapper/storage/storagetest"
)

func TestMemory(t *testing.T) {
	t.Parallel()
	storagetest.Run(t, func(*testing.T) storage.Store { return new(storage.Memory) })
}

func TestLeasesInMemory(t *testing.T) {
	t.Parallel()
	storagetest.RunLeases(t, func(*testing.T) storage.Leaser { return new(storagetest.MemoryLeases) })
}

// Side by side they are a store that several clients share.
var _ interface {
	storage.Store
	storage.Leaser
} = (*struct {
	storage.Memory
	storagetest.MemoryLeases
})(nil)
