package engine

import (
	"context"
	"reflect"
	"slices"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/internal/swap"
)

// Builder builds what a wallet is to sign, and compares what it signed with that;
// [*chainio.Reader] is one.
type Builder interface {
	Checker
	// BuildAction builds the action of a view. Errors that name a member of the caller's
	// request are about the caller's wallet or fee rate.
	BuildAction(ctx context.Context, r *swap.Record, a swap.Action, c swap.Caller) (swap.BuiltAction, error)
}

// prebuilt is an action that is built while the pass decides whether it is the one to
// show, so that a status takes one trip and not two. An action that carries a preimage is
// never prebuilt.
type prebuilt struct {
	build  Builder
	caller swap.Caller
	record *swap.Record
	action swap.Action
	done   chan struct{} // nil: nothing is in progress
	drop   context.CancelFunc
	todo   swap.BuiltAction
	err    error
}

// prebuild begins to build the action that the record by itself suggests. Call drop
// once its BuildAction was called.
func prebuild(ctx context.Context, b Builder, r *swap.Record, a swap.Action, c swap.Caller) *prebuilt {
	p := &prebuilt{build: b, caller: c, record: r, action: a, drop: func() {}}
	if !asksToBuild(a, c) {
		return p
	}
	ctx, p.drop = context.WithTimeoutCause(ctx, patience, errSilent)
	p.done = make(chan struct{})
	go func() {
		defer close(p.done)
		p.todo, p.err = b.BuildAction(ctx, r, a, c)
	}()
	return p
}

// BuildAction returns the action of the record as it is now: what was prebuilt if
// that is the same, else what is built for it. Either takes no longer than patience.
func (p *prebuilt) BuildAction(ctx context.Context, r *swap.Record, a swap.Action) (swap.BuiltAction, error) {
	if p.done != nil && r.Version == p.record.Version && reflect.DeepEqual(a, p.action) {
		<-p.done // it ends with the caller's context
		return p.todo, p.err
	}
	if sign, ok := a.(*swap.Sign); ok && reveals(sign) || asksToBuild(a, p.caller) {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, patience, errSilent)
		defer cancel()
	}
	return p.build.BuildAction(ctx, r, a, p.caller)
}

// asksToBuild reports whether an action takes questions to build, and may be
// built before it is known to be safe.
func asksToBuild(a swap.Action, c swap.Caller) bool {
	switch a := a.(type) {
	case *swap.Sign:
		return !reveals(a)
	case *swap.Fund:
		return c.Wallet != nil
	case *swap.Pay:
		return a.Fund != nil && c.Wallet != nil
	}
	return false
}

// reveals reports whether the transactions to sign carry a preimage.
func reveals(a *swap.Sign) bool {
	return slices.ContainsFunc(a.Plan.Steps, func(s chains.Step) bool { return s.Kind == chains.StepClaimSecret })
}

// withoutPreimage is a Builder that builds no transaction that carries a preimage. The
// action then has no transactions, but says what to do and who signs.
type withoutPreimage struct{ Builder }

func (d withoutPreimage) BuildAction(ctx context.Context, r *swap.Record, a swap.Action, c swap.Caller) (swap.BuiltAction, error) {
	s, ok := a.(*swap.Sign)
	if !ok || !reveals(s) {
		return d.Builder.BuildAction(ctx, r, a, c)
	}
	named := *s
	named.Chain = r.Chain
	return swap.BuiltAction{Action: &named, Signer: s.PlanFor(c).Signer}, nil
}
