package engine

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"slices"
	"time"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/internal/swap"
	"github.com/swapper-go/swapper/storage"
)

// StatusRequest asks for a swap's state and what its user has to do next.
type StatusRequest struct {
	ID string
	// Preimage is stored before the status is made, and must be that of the swap; it
	// may be given again. nil: none.
	Preimage *chains.Preimage
	// Caller says for which wallet the action is built. Its error ends the request
	// before anything is done.
	Caller func(*swap.Record) (swap.Caller, error)
	// Pushed is for a status that goes to subscribers, who have not asked for it: an
	// action that carries a preimage comes without its transactions.
	Pushed bool
}

// Status is a swap's record, its view, and what to do next.
type Status struct {
	Record *swap.Record
	View   swap.View
	Built  swap.BuiltAction
	AsOf   map[string]uint64 // of the [Result]
	// Problem says why the action could not be built, or should not be done now. Record
	// and View are correct in that case too.
	Problem error
}

// Status brings a swap up to date, and builds what its user has to do. A pass that
// takes longer than patience goes on without the caller, who gets what the store has.
//
// Errors: fault.NotFound for an unknown id; fault.InvalidInput for another swap's
// preimage, and for a wallet or fee rate for which the action cannot be built.
func (g *Engine) Status(ctx context.Context, b Builder, q StatusRequest) (*Status, error) {
	r := g.recent(q.ID)
	if r == nil || q.Preimage != nil {
		var err error
		if r, err = g.Load(ctx, q.ID); err != nil {
			return nil, err
		}
	}
	caller, err := q.Caller(r)
	if err != nil {
		return nil, err
	}
	if q.Preimage != nil {
		if err := g.reveal(ctx, r, *q.Preimage); err != nil {
			return nil, err
		}
	}
	if q.Pushed {
		b = withoutPreimage{b}
	}
	shown := func(v swap.View) swap.View {
		if caller.Discreet {
			return v.Discreet()
		}
		return v
	}
	pre := prebuild(ctx, b, r, shown(g.StoredView(r)).Action, caller)
	defer pre.drop()
	res, err := g.latest(ctx, q.ID)
	if err != nil {
		return nil, err
	}
	v := shown(g.View(res))
	todo, err := pre.BuildAction(ctx, res.Record, v.Action)
	switch {
	case err == nil:
		return &Status{Record: res.Record, View: v, Built: todo, AsOf: res.AsOf, Problem: v.Blocked}, nil
	case ofCaller(err):
		return nil, err
	case fault.CodeOf(err) == fault.Internal:
		g.log.Warn("building the swap's action failed", "swap", storage.Label(q.ID), "err", err)
		err = fault.New(fault.Internal, "the transactions to sign could not be built; try again later")
	}
	if _, ok := errors.AsType[*chains.ContradictionError](v.Blocked); ok { // it explains more than an error of one node about the same step
		err = v.Blocked
	}
	s := &Status{Record: res.Record, View: v, AsOf: res.AsOf, Problem: err}
	if sign, ok := v.Action.(*swap.Sign); ok && sign.For != swap.ActionInit { // none would mean that nothing is left to do
		s.Built = swap.BuiltAction{Action: sign.Delayed()}
	}
	return s, nil
}

// latest returns what a pass finds or, when that takes too long, what the store has.
func (g *Engine) latest(ctx context.Context, id string) (*Result, error) {
	waiting, cancel := context.WithTimeoutCause(ctx, patience, errSilent)
	defer cancel()
	res, err := g.Advance(waiting, id, nil)
	if err == nil || waiting.Err() == nil || ctx.Err() != nil {
		return res, err
	}
	r, err := g.Load(ctx, id)
	if err != nil {
		return nil, err
	}
	return &Result{Record: r, Observation: &swap.Observation{}, At: g.Now()}, nil
}

// reveal stores a preimage, if it is that of the swap.
func (g *Engine) reveal(ctx context.Context, r *swap.Record, preimage chains.Preimage) error {
	sum := sha256.Sum256(preimage[:])
	if r.Lightning == nil || r.Lightning.Hash != hex.EncodeToString(sum[:]) {
		return fault.Invalid("secret", "is not the preimage of the swap's payment hash")
	}
	if r.Lightning.Preimage == preimage {
		return nil
	}
	_, err := g.Advance(ctx, r.ID, swap.Reveal{Preimage: preimage})
	return err
}

// ofCaller reports whether an action cannot be built for the wallet or at the rate
// that the caller names, and could be for another.
func ofCaller(err error) bool {
	e, ok := errors.AsType[*fault.Error](err)
	return ok && e.Code == fault.InvalidInput && slices.Contains([]string{"bitcoinAddress", "bitcoinPublicKey", "bitcoinFeeRate", "signer"}, e.Field)
}

// patience is how long a status waits for the outside world, and again for what
// its action is built from. A pass that takes longer goes on without it.
const patience = 5 * time.Second

// errSilent is why waiting ended.
var errSilent = fault.New(fault.Upstream, "the chain or the Bitcoin backend did not answer within %s; try again later", patience)
