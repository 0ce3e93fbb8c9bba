package engine

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/storage"
	"github.com/swapper-go/swapper/swap"
)

// write stores next over r by compare-and-set and tells subscribers. Then next
// carries its new version.
//
// What happened can always be stored: a unique key that another swap holds
// becomes a plain one, and next.Shared names its index. Only a submission, which
// has not happened yet, is refused for a key that it would claim: it would pay
// for the same thing twice.
func (g *Engine) write(ctx context.Context, r, next *swap.Record, move *swap.Move) error {
	put := func(e storage.Entry) error {
		e.Version = r.Version
		return g.Store.Update(ctx, e)
	}
	if err := g.put(next, put, func(taken *storage.KeyTakenError) bool {
		return move == nil || move.On != swap.OnSubmit || slices.ContainsFunc(g.keys(r), func(k storage.Key) bool {
			return k.Index == taken.Index && k.Value == taken.Value
		})
	}); err != nil {
		return stored("write", r.ID, err)
	}
	next.Version = r.Version + 1
	g.feed.publish(Change{Record: next, From: r.State})
	return nil
}

// put writes a record, dated, with plain keys in the place of unique ones that another
// swap holds, as far as share allows it. Each key is tried as a unique one again
// with every write: the other swap may have given it up.
func (g *Engine) put(r *swap.Record, write func(storage.Entry) error, share func(*storage.KeyTakenError) bool) error {
	r.Shared = nil
	r.Changed = max(r.Changed, swap.At(g.Now()))
	for {
		body, err := r.Encode()
		if err != nil {
			return fmt.Errorf("encode swap %s: %w", storage.Label(r.ID), err)
		}
		err = write(storage.Entry{ID: r.ID, Version: r.Version, Body: body, Keys: g.keys(r)})
		taken, ok := errors.AsType[*storage.KeyTakenError](err)
		switch {
		case !ok || slices.Contains(r.Shared, taken.Index):
			return err
		case !share(taken):
			return swap.ErrTaken(taken.Index, err)
		}
		r.Shared = append(r.Shared, taken.Index)
	}
}

// stored says which write failed; a refusal speaks for itself.
func stored(what, id string, err error) error {
	if fault.CodeOf(err) == fault.InvalidState {
		return err
	}
	return fmt.Errorf("%s swap %s: %w", what, storage.Label(id), err)
}

func (g *Engine) keys(r *swap.Record) []storage.Key {
	var row swap.StateRow
	if f := g.Flows[r.Type]; f != nil {
		row, _ = f.State(r.State)
		row.Pending = row.Pending && !f.Over(r, g.Now())
	}
	own := r.Keys(row)
	ks := make([]storage.Key, len(own))
	for i, k := range own {
		ks[i] = storage.Key(k)
	}
	return ks
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
	if err := g.put(r, func(e storage.Entry) error { return g.Store.Create(ctx, e) }, share); err != nil {
		return stored("store", r.ID, err)
	}
	r.Version = version + 1
	g.feed.publish(Change{Record: r, From: r.State})
	return nil
}

// foreign begins the ids of entries that others keep beside the swaps, as package
// httpapi/webhook does.
const foreign = "\x00"

// Load reads a record. Where its LP is, is looked up if the record does not say so.
// Unknown ids are fault.NotFound.
func (g *Engine) Load(ctx context.Context, id string) (*swap.Record, error) {
	if strings.HasPrefix(id, foreign) {
		return nil, fault.New(fault.NotFound, "no swap has the id %.120q", id)
	}
	e, err := g.Store.Get(ctx, id)
	if errors.Is(err, storage.ErrNotFound) || errors.Is(err, storage.ErrInvalid) {
		return nil, fault.New(fault.NotFound, "no swap has the id %.120q", id)
	}
	if err != nil {
		return nil, fmt.Errorf("read swap %s: %w", storage.Label(id), err)
	}
	r, err := decode(e)
	if err == nil && r.LP.URL == "" && g.lpAt != nil {
		r.LP.URL = g.lpAt(r.Chain, r.LP.Address)
	}
	return r, err
}

// decode reads an entry; its error names the swap by a label.
func decode(e storage.Entry) (*swap.Record, error) {
	r, err := swap.Decode(e.ID, e.Version, e.Body)
	if err != nil {
		return nil, fmt.Errorf("swap %s: %w", storage.Label(e.ID), err)
	}
	return r, nil
}
