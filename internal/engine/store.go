package engine

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/internal/swap"
	"github.com/swapper-go/swapper/storage"
)

// write stores next over r by compare-and-set (see [Write]) and tells subscribers.
func (g *Engine) write(ctx context.Context, r, next *swap.Record, move *swap.Move) error {
	if err := Write(g.Flows[r.Type], g.Now(), r, next, move, func(e storage.Entry) error { return g.Store.Update(ctx, e) }); err != nil {
		return err
	}
	g.publish(Change{Record: next, From: r.State})
	return nil
}

// stored says which write failed; a refusal speaks for itself.
func stored(what, id string, err error) error {
	if fault.CodeOf(err) == fault.InvalidState {
		return err
	}
	return fmt.Errorf("%s swap %s: %w", what, storage.Label(id), err)
}

// Doubt looks again at a swap of which something shows that it ended otherwise, or did not
// end: also at one that is not looked at any more. The facts decide, as in [Engine.Advance].
func (g *Engine) Doubt(ctx context.Context, id string) (*Result, error) {
	for conflicts := 0; ; conflicts++ {
		r, err := g.Load(ctx, id)
		if err != nil {
			return nil, err
		}
		if !r.Settled {
			break
		}
		next := r.Clone()
		next.Settled = false
		err = g.write(ctx, r, next, nil)
		g.forget(id)
		if err != nil && (!errors.Is(err, storage.ErrConflict) || conflicts == maxConflicts) {
			return nil, stored("store", id, err)
		}
	}
	return g.Advance(ctx, id, nil)
}

// Create stores a new record. It is durable when Create returns, so that what
// it holds may be shown to the user.
//
// Errors: *storage.KeyTakenError, wrapped, if another swap holds the same payment
// hash or idempotency key.
func (g *Engine) Create(ctx context.Context, r *swap.Record) error {
	return g.insert(ctx, r, func(*storage.KeyTakenError) bool { return false })
}

// Restore is Create for a swap that is already in progress, so that it is
// stored whatever keys others hold.
func (g *Engine) Restore(ctx context.Context, r *swap.Record) error {
	return g.insert(ctx, r, func(*storage.KeyTakenError) bool { return true })
}

func (g *Engine) insert(ctx context.Context, r *swap.Record, share func(*storage.KeyTakenError) bool) error {
	r.Due = r.NextMoment(g.Now())
	version := r.Version
	if err := store(g.Flows[r.Type], g.Now(), r, func(e storage.Entry) error { return g.Store.Create(ctx, e) }, share); err != nil {
		return stored("store", r.ID, err)
	}
	r.Version = version + 1
	g.publish(Change{Record: r, From: r.State})
	return nil
}

// foreign begins the ids of entries that others keep beside the swaps, as package
// httpapi/webhook does.
const foreign = "\x00"

// Load reads a record. Where its LP is, is looked up if the record does not say so.
// Unknown ids are fault.NotFound.
func (g *Engine) Load(ctx context.Context, id string) (*swap.Record, error) {
	if strings.HasPrefix(id, foreign) {
		return nil, fault.New(fault.NotFound, "Swap not found: no swap has the id %.120q", id)
	}
	e, err := g.Store.Get(ctx, id)
	if errors.Is(err, storage.ErrNotFound) || errors.Is(err, storage.ErrInvalid) {
		return nil, fault.New(fault.NotFound, "Swap not found: no swap has the id %.120q", id)
	}
	if err != nil {
		return nil, fmt.Errorf("read swap %s: %w", storage.Label(id), err)
	}
	r, err := g.decodeOnce(e)
	if err == nil && r.LP.URL == "" && g.lpAt != nil {
		r.LP.URL = g.lpAt(r.Chain, r.LP.Address)
	}
	return r, err
}

// read is a record that was decoded, and what from.
type read struct {
	version uint64
	body    []byte
	record  *swap.Record // never changed
}

// readKept is how many requested swaps stay decoded: a status reads its record twice,
// and a caller who waits asks repeatedly.
const readKept = 2048

// decodeOnce is [decode] for a swap that may be read again soon. The record is the
// caller's own.
func (g *Engine) decodeOnce(e storage.Entry) (*swap.Record, error) {
	if known, ok := g.read.Get(e.ID); ok && known.version == e.Version && bytes.Equal(known.body, e.Body) {
		return known.record.Clone(), nil
	}
	r, err := decode(e)
	if err != nil {
		return nil, err
	}
	g.read.Add(e.ID, read{e.Version, e.Body, r.Clone()})
	return r, nil
}

// decode reads an entry; its error names the swap by a label.
func decode(e storage.Entry) (*swap.Record, error) {
	r, err := swap.Decode(e.ID, e.Version, e.Body)
	if err != nil {
		return nil, fmt.Errorf("swap %s: %w", storage.Label(e.ID), err)
	}
	return r, nil
}
