package storagetest_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/swapper-go/swapper/storage"
	"github.com/swapper-go/swapper/storage/storagetest"
)

// audited is a store of one's own: it keeps swaps in another store, and tells somebody
// of each write that was acknowledged. What it does not say otherwise, the other does.
type audited struct {
	storage.Store
	wrote func(what, id string)
}

func (s audited) Create(ctx context.Context, e storage.Entry) error {
	return s.tell("created", e.ID, s.Store.Create(ctx, e))
}

func (s audited) Update(ctx context.Context, e storage.Entry) error {
	return s.tell("updated", e.ID, s.Store.Update(ctx, e))
}

func (s audited) Delete(ctx context.Context, id string, version uint64) error {
	return s.tell("deleted", id, s.Store.Delete(ctx, id, version))
}

func (s audited) tell(what, id string, err error) error {
	if err == nil {
		s.wrote(what, id)
	}
	return err
}

// A store of one's own is held to the contract by a test that runs the suite. The one
// shown here wraps another; one that speaks to a database is tested in the same way,
// with an empty database for each call.
func ExampleRun() {
	testAudited := func(t *testing.T) {
		storagetest.Run(t, func(*testing.T) storage.Store {
			return audited{new(storage.Memory), func(string, string) {}}
		})
	}
	_ = testAudited // in a program: func TestAudited(t *testing.T)

	ctx := context.Background()
	store := audited{new(storage.Memory), func(what, id string) { fmt.Println(what, id) }}
	fmt.Println(store.Create(ctx, storage.Entry{ID: "swap", Body: []byte(`{}`)}))
	fmt.Println(store.Delete(ctx, "swap", 7) != nil, "and nothing was deleted")
	fmt.Println(store.Delete(ctx, "swap", 1))

	// Output:
	// created swap
	// <nil>
	// true and nothing was deleted
	// deleted swap
	// <nil>
}

// What the example shows passes the suite.
func TestAudited(t *testing.T) {
	storagetest.Run(t, func(*testing.T) storage.Store {
		return audited{new(storage.Memory), func(string, string) {}}
	})
}
