package chainreader

import (
	"context"
	"fmt"
	"reflect"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/swap"
)

// Ahead is an action that is being built beside the pass which decides whether it
// is the one to show, so that a status takes one trip and not two. Only what shows
// nothing to anybody is built ahead: a claim that carries a preimage is not.
type Ahead struct {
	reader *Reader
	caller swap.Caller
	record *swap.Record
	action swap.Action
	done   chan struct{} // nil: nothing is under way
	cancel context.CancelFunc
	todo   Todo
	err    error
}

// Ahead begins to build the action that the record alone suggests. Drop it when
// its Todo was taken.
func (rd *Reader) Ahead(ctx context.Context, r *swap.Record, a swap.Action, c swap.Caller) *Ahead {
	p := &Ahead{reader: rd, caller: c, record: r, action: a, cancel: func() {}}
	if !asksToBuild(a, c) {
		return p
	}
	ctx, p.cancel = context.WithCancel(ctx)
	p.done = make(chan struct{})
	go func() {
		defer close(p.done)
		p.todo, p.err = rd.Todo(ctx, r, a, c)
	}()
	return p
}

// Todo returns the action of the record as it is now: what was built ahead if
// that is the same, else what is built for it.
func (p *Ahead) Todo(ctx context.Context, r *swap.Record, a swap.Action) (Todo, error) {
	if p.done == nil || r.Version != p.record.Version || !reflect.DeepEqual(a, p.action) {
		return p.reader.Todo(ctx, r, a, p.caller)
	}
	<-p.done // it ends with the caller's context
	return p.todo, p.err
}

// Drop ends what is under way.
func (p *Ahead) Drop() { p.cancel() }

// asksToBuild reports whether an action takes questions to build, and may be
// built before it is known to be safe.
func asksToBuild(a swap.Action, c swap.Caller) bool {
	switch a := a.(type) {
	case *swap.Sign:
		for _, s := range a.Plan.Steps {
			if s.Kind == chains.StepClaimSecret {
				return false
			}
		}
		return true
	case *swap.Fund:
		return c.Wallet != nil
	case *swap.Pay:
		return a.Fund != nil && c.Wallet != nil
	}
	return false
}

// todoKey names an action that is built for a caller. Within one version of a
// record the kinds of its steps say what it is.
func todoKey(r *swap.Record, a swap.Action, c swap.Caller) string {
	key := fmt.Sprintf("%s %d %T %q %v", r.ID, r.Version, a, c.Signer, c.FeeRate)
	if c.Wallet != nil {
		key += fmt.Sprintf(" %s %x", c.Wallet.Address(), c.Wallet.PublicKey())
	}
	if s, ok := a.(*swap.Sign); ok {
		for _, step := range s.Plan.Steps {
			key += " " + step.Kind.String()
		}
		for _, tx := range s.Plan.Replaces {
			key += " " + tx.ID
		}
		key += " " + s.Waiting
	}
	return key
}
