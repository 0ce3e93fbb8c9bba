package engine

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"time"

	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/internal/swap"
	"github.com/swapper-go/swapper/storage"
)

// Turn is a pass over one swap, with the outside world left to its owner. The engine's
// passes are turns, and so are those of the exploration (package internal/swap/explore), whose
// world is a value.
type Turn struct {
	Flow func(t swap.Type) *swap.Flow // nil for a type that is not configured
	Now  func() time.Time
	Load func() (*swap.Record, error)
	// Observe puts answers into in.Obs until the flow asks for nothing more; [Observe]
	// does it with a [Reader].
	Observe func(f *swap.Flow, in swap.Decision)
	// Write stores next over r by compare-and-set, as [Write] does, and gives next its
	// version. An error that wraps [storage.ErrConflict] begins the pass again.
	Write func(r, next *swap.Record, move *swap.Move) error
}

// Pass runs the turn: it observes, decides and writes until nothing changes any more.
// due are the effects to start afterwards. Effects come last, when nothing more is written:
// the mark of an effect would otherwise conflict with a later step of its own pass.
//
// Errors: errNotTaken when no row of the table takes the input, or the contradiction of
// nodes that keeps it from being taken; those of Load and Write.
func (t Turn) Pass(input swap.Input) (res *Result, due []swap.Effect, err error) {
	r, err := t.Load()
	if err != nil {
		return nil, nil, err
	}
	obs, conflicts, taken := &swap.Observation{}, 0, input == nil
	for range maxSteps {
		f := t.Flow(r.Type)
		in := swap.Decision{R: r, Obs: obs, Input: input, Now: t.Now()}
		if f == nil {
			break // of a type that is not configured: shown, and left alone
		}
		t.Observe(f, in)
		next, move := f.Step(in)
		changed, err := t.save(r, next, move)
		if errors.Is(err, storage.ErrConflict) && conflicts < maxConflicts {
			conflicts++
			if r, err = t.Load(); err != nil {
				return nil, nil, err
			}
			obs = &swap.Observation{}
			continue
		}
		if err != nil {
			return nil, nil, err
		}
		if changed {
			r = next
		}
		if input != nil && (input.Kind() >= swap.OnOutcome || move != nil && move.On == input.Kind()) {
			taken, input = true, nil
		}
		if !changed {
			break
		}
	}
	if !taken {
		if err := obs.Contradiction(); err != nil {
			return nil, nil, fault.New(fault.Upstream, "%w", err)
		}
		return nil, nil, errNotTaken
	}
	if f := t.Flow(r.Type); f != nil && f.Effects != nil {
		due = f.Effects(swap.Decision{R: r, Obs: obs, Now: t.Now()})
	}
	return &Result{Record: r, Observation: obs, At: t.Now()}, due, nil
}

// save writes what one step changed, if anything.
func (t Turn) save(r, next *swap.Record, move *swap.Move) (changed bool, err error) {
	if reflect.DeepEqual(r, next) { // most often; what differs may still be stored alike
		return false, nil
	}
	before, err := r.Encode()
	if err != nil {
		return false, err
	}
	after, err := next.Encode()
	if err != nil {
		return false, err
	}
	if bytes.Equal(before, after) {
		return false, nil
	}
	now := t.Now()
	if next.Due = next.NextMoment(now); next.Due == 0 && move != nil {
		next.Due = swap.At(now) // more may be possible at once: a restart in between must not put it off
	}
	return true, t.Write(r, next, move)
}

// Observe asks until the flow knows enough, each round in parallel. rival answers
// from the store; see [Engine.Rival].
func Observe(ctx context.Context, w Reader, rival func(ctx context.Context, id string, q swap.RivalAsk) (bool, error), f *swap.Flow, in swap.Decision) {
	for range maxRounds {
		if !answer(ctx, passReader{w, rival}, in, f.Ask(in)) {
			return
		}
	}
}

// StillDue returns the effect e as the flow wants it by the facts of a pass, or false
// if it does not want it any more. ready reports whether it is time for it.
func StillDue(f *swap.Flow, res *Result, e swap.Effect, now time.Time, ready func(swap.Effect) bool) (swap.Effect, bool) {
	if f == nil || f.Effects == nil {
		return e, false
	}
	for _, due := range f.Effects(swap.Decision{R: res.Record, Obs: res.Observation, Now: now}) {
		if due.Key() == e.Key() && placeOf(due) == placeOf(e) && ready(due) {
			return due, true
		}
	}
	return e, false
}

// ViewOf is how a swap is shown, by the facts of a pass.
func ViewOf(f *swap.Flow, res *Result) swap.View {
	v := f.View(swap.Decision{R: res.Record, Obs: res.Observation, Now: res.At})
	if f.Over(res.Record, res.At) {
		v.End()
	}
	return v
}

// Write stores next over r with update, a compare-and-set, and gives next its version.
//
// What happened can always be stored: a unique key that another swap holds becomes a
// plain one, and next.Shared names its index. Only a submission, which has not happened
// yet, is refused for a key that it would claim: it would pay for the same thing twice.
func Write(f *swap.Flow, now time.Time, r, next *swap.Record, move *swap.Move, update func(storage.Entry) error) error {
	put := func(e storage.Entry) error {
		e.Version = r.Version
		return update(e)
	}
	err := store(f, now, next, put, func(taken *storage.KeyTakenError) bool {
		return move == nil || move.On != swap.OnSubmit || slices.ContainsFunc(keysOf(f, r, now), func(k storage.Key) bool {
			return k.Index == taken.Index && k.Value == taken.Value
		})
	})
	if err != nil {
		return stored("write", r.ID, err)
	}
	next.Version = r.Version + 1
	return nil
}

// store writes a record, dated, with plain keys in the place of unique ones that another
// swap holds, as far as share allows it. Each key is tried as a unique one again
// with every write: the other swap may have given it up.
func store(f *swap.Flow, now time.Time, r *swap.Record, write func(storage.Entry) error, share func(*storage.KeyTakenError) bool) error {
	r.Shared = nil
	r.Changed = max(r.Changed, swap.At(now))
	for {
		body, err := r.Encode()
		if err != nil {
			return fmt.Errorf("encode swap %s: %w", storage.Label(r.ID), err)
		}
		err = write(storage.Entry{ID: r.ID, Version: r.Version, Body: body, Keys: keysOf(f, r, now)})
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

// keysOf are the index keys of a record; f is nil for a type that is not configured.
func keysOf(f *swap.Flow, r *swap.Record, now time.Time) []storage.Key {
	var row swap.StateRow
	if f != nil {
		row, _ = f.State(r.State)
		row.Pending = row.Pending && !f.Over(r, now)
	}
	own := r.Keys(row)
	ks := make([]storage.Key, len(own))
	for i, k := range own {
		ks[i] = storage.Key(k)
	}
	return ks
}
