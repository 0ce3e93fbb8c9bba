package bolt_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/swapper-go/swapper/storage"
	"github.com/swapper-go/swapper/storage/bolt"
)

// A store is one file, which one process has open. A client is given it as
// swapper.Config's Store; here an operator lists what is in it.
func ExampleOpen() {
	dir, err := os.MkdirTemp("", "swaps")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	ctx, path := context.Background(), filepath.Join(dir, "swaps.db")

	store, err := bolt.Open(ctx, path, bolt.Options{})
	if err != nil {
		panic(err)
	}
	for i, id := range []string{"first", "second", "third"} {
		e := storage.Entry{ID: id, Body: []byte(`{}`), Keys: []storage.Key{{Index: "signer", Value: "alice", Order: int64(i)}}}
		if err := store.Create(ctx, e); err != nil {
			panic(err)
		}
	}

	_, err = bolt.Open(ctx, path, bolt.Options{LockTimeout: time.Millisecond})
	fmt.Println("opened twice:", errors.Is(err, bolt.ErrInUse))

	// What was acknowledged is there when the file is opened again.
	if err := store.Close(); err != nil {
		panic(err)
	}
	if store, err = bolt.Open(ctx, path, bolt.Options{}); err != nil {
		panic(err)
	}
	defer store.Close()
	for e, err := range store.Find(ctx, storage.Query{Index: "signer", Value: "alice", Descending: true}) {
		if err != nil {
			panic(err)
		}
		fmt.Println(e.ID, "version", e.Version)
	}
	fmt.Println("damaged:", store.Verify(ctx))

	// Output:
	// opened twice: true
	// third version 1
	// second version 1
	// first version 1
	// damaged: <nil>
}
