package simulate

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"time"

	"github.com/swapper-go/swapper/storage"
	"github.com/swapper-go/swapper/storage/storagetest"
)

// disk is what outlives the processes. A write that is under way when its process dies
// is on it, or lost: nobody was told.
type disk struct {
	storage.Memory
	storagetest.MemoryLeases
}

var errDead = errors.New("the process is dead")

// handle is the store as one process has it.
type handle struct {
	disk *disk
	p    *process
}

// sharedHandle is a handle of a store that several processes use.
type sharedHandle struct{ handle }

func (h handle) Get(ctx context.Context, id string) (storage.Entry, error) {
	if h.p.dead() {
		return storage.Entry{}, errDead
	}
	return h.disk.Get(ctx, id)
}

// write makes a write that takes time, and may be cut off by death or get no answer.
func (h handle) write(ctx context.Context, what, id string, do func(context.Context) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	h.p.point(what + " before")
	if h.p.dead() {
		return fmt.Errorf("%w: %w", errDead, storage.ErrUnknown)
	}
	d := h.p.w.dice("disk", what, id)
	time.Sleep(time.Duration(1+d.IntN(8)) * time.Millisecond)
	if h.p.dead() { // within the write
		if d.IntN(2) == 0 {
			_ = do(context.WithoutCancel(ctx)) // nobody hears of it
		}
		return fmt.Errorf("%w: %w", errDead, storage.ErrUnknown)
	}
	if trouble := h.p.diskTrouble.Load(); trouble > 0 && d.IntN(100) < int(trouble) {
		if d.IntN(2) == 0 {
			_ = do(ctx) // made, and not acknowledged
		}
		return fmt.Errorf("the disk does not answer: %w", storage.ErrUnknown)
	}
	err := do(ctx)
	h.p.point(what + " after")
	if h.p.dead() {
		return fmt.Errorf("%w: %w", errDead, storage.ErrUnknown)
	}
	return err
}

func (h handle) Create(ctx context.Context, e storage.Entry) error {
	h.p.w.promises.stored(e)
	return h.write(ctx, "create", e.ID, func(ctx context.Context) error { return h.disk.Create(ctx, e) })
}

func (h handle) Update(ctx context.Context, e storage.Entry) error {
	h.p.w.promises.stored(e)
	return h.write(ctx, "update", e.ID, func(ctx context.Context) error { return h.disk.Update(ctx, e) })
}

func (h handle) Delete(ctx context.Context, id string, version uint64) error {
	return h.write(ctx, "delete", id, func(ctx context.Context) error { return h.disk.Delete(ctx, id, version) })
}

func (h handle) SetNote(ctx context.Context, name string, data []byte, version uint64) error {
	return h.write(ctx, "note", name, func(ctx context.Context) error { return h.disk.SetNote(ctx, name, data, version) })
}

func (h handle) Find(ctx context.Context, q storage.Query) iter.Seq2[storage.Entry, error] {
	if h.p.dead() {
		return func(yield func(storage.Entry, error) bool) { yield(storage.Entry{}, errDead) }
	}
	return h.disk.Find(ctx, q)
}

func (h handle) Note(ctx context.Context, name string) ([]byte, uint64, error) {
	if h.p.dead() {
		return nil, 0, errDead
	}
	return h.disk.Note(ctx, name)
}

func (h sharedHandle) Lease(ctx context.Context, owner string, ttl time.Duration, names ...string) ([]string, error) {
	if h.p.dead() {
		return nil, errDead
	}
	return h.disk.Lease(ctx, owner, ttl, names...)
}

func (h sharedHandle) Release(ctx context.Context, owner string, names ...string) error {
	if h.p.dead() {
		return errDead
	}
	return h.disk.Release(ctx, owner, names...)
}

func (h sharedHandle) Leases(ctx context.Context, prefix string) (map[string]string, error) {
	if h.p.dead() {
		return nil, errDead
	}
	return h.disk.Leases(ctx, prefix)
}
