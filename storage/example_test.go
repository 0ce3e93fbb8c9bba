package storage_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/swapper-go/swapper/storage"
	"github.com/swapper-go/swapper/storage/bolt"
)

func Example() {
	dir, err := os.MkdirTemp("", "swaps")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)

	ctx := context.Background()
	var store storage.Store
	file, err := bolt.Open(ctx, filepath.Join(dir, "swaps"), bolt.Options{})
	if err != nil {
		panic(err)
	}
	defer file.Close()
	store = file

	// Two swaps of one signer; the invoice of the first may be paid once only.
	for i, e := range []storage.Entry{
		{ID: "first", Body: []byte(`{"state":0}`), Keys: []storage.Key{
			{Index: "signer", Value: "alice", Order: 1}, {Index: "paying", Value: "payment hash", Unique: true}}},
		{ID: "second", Body: []byte(`{"state":0}`), Keys: []storage.Key{
			{Index: "signer", Value: "alice", Order: 2}, {Index: "paying", Value: "payment hash", Unique: true}}},
	} {
		err := store.Create(ctx, e)
		if taken := (*storage.KeyTakenError)(nil); errors.As(err, &taken) {
			fmt.Printf("%s: already paid by %s\n", e.ID, taken.Holder)
			e.Keys = e.Keys[:1]
			err = store.Create(ctx, e)
		}
		if err != nil {
			panic(fmt.Sprint(i, err))
		}
	}

	// Of two who read the same version one wins.
	mine, _ := store.Get(ctx, "first")
	yours, _ := store.Get(ctx, "first")
	mine.Body = []byte(`{"state":1}`)
	yours.Body = []byte(`{"state":2}`)
	fmt.Println(store.Update(ctx, mine))
	fmt.Println(errors.Is(store.Update(ctx, yours), storage.ErrConflict))

	// The newest swap first.
	for e, err := range store.Find(ctx, storage.Query{Index: "signer", Value: "alice", Descending: true}) {
		if err != nil {
			panic(err)
		}
		fmt.Printf("%s at version %d: %s\n", e.ID, e.Version, e.Body)
	}

	// Output:
	// second: already paid by first
	// <nil>
	// true
	// second at version 1: {"state":0}
	// first at version 2: {"state":1}
}

// A list is shown page by page, each starting where the one before ended.
func ExampleQuery_Position() {
	dir, err := os.MkdirTemp("", "swaps")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	ctx := context.Background()
	store, err := bolt.Open(ctx, filepath.Join(dir, "swaps"), bolt.Options{})
	if err != nil {
		panic(err)
	}
	defer store.Close()
	for i := range 5 {
		e := storage.Entry{ID: fmt.Sprint("swap ", i), Keys: []storage.Key{{Index: "signer", Value: "alice", Order: int64(i)}}}
		if err := store.Create(ctx, e); err != nil {
			panic(err)
		}
	}

	page := func(after *storage.Position) (last *storage.Position) {
		q := storage.Query{Index: "signer", Value: "alice", After: after}
		shown := 0
		for e, err := range store.Find(ctx, q) {
			if err != nil {
				panic(err)
			}
			fmt.Println(e.ID)
			if shown++; shown == 3 {
				at, _ := q.Position(e)
				return &at
			}
		}
		return nil
	}
	last := page(nil)
	fmt.Println("next page")
	page(last)

	// Output:
	// swap 0
	// swap 1
	// swap 2
	// next page
	// swap 3
	// swap 4
}
