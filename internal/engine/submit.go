package engine

import (
	"context"
	"errors"
	"time"

	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/internal/swap"
)

// Checker compares what a wallet signed with what it was asked to sign;
// *chainio.Reader is one.
type Checker interface {
	// IDs returns the ids of the signed transactions, without checking them.
	IDs(r *swap.Record, signed []string) ([]string, error)
	// Check compares the signed transactions with the action and returns the submission
	// to store. It errs on the side of refusing: nothing has been sent yet.
	Check(ctx context.Context, r *swap.Record, a swap.Action, signed []string) (swap.Submit, error)
}

// callerPatience is how long a submission waits for its outcome before it returns.
const callerPatience = 15 * time.Second

// Submit takes what the user signed for the current action, stores it, and waits
// until the swap has moved on, the submission has failed, or callerPatience has
// passed. It returns the ids of the transactions once the network has them, or when the time
// or ctx ends and they are stored: then they are sent without another call, and the status
// shows what becomes of them.
//
// Submitting the same transactions again joins the submission in progress, in every
// state. An error with the code fault.Timeout says that they are not stored, or that this is
// unknown, and that the caller must submit them again. Errors: fault.InvalidInput for
// transactions that are not what was asked for, or cannot be executed as they are;
// fault.InvalidState when the user has nothing to sign now, when another submission is in
// progress, or with the reason why this one failed.
func (g *Engine) Submit(ctx context.Context, check Checker, id string, signed []string) ([]string, error) {
	ctx, cancel := context.WithTimeout(ctx, callerPatience)
	defer cancel()
	ids, err := g.submit(ctx, check, id, signed)
	if err == nil || ctx.Err() == nil || g.base.Err() != nil {
		return ids, err
	}
	brief, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
	defer cancel()
	r, loadErr := g.Load(brief, id)
	switch {
	case loadErr != nil:
		return nil, fault.New(fault.Timeout, "it is not known whether the transactions were stored; submit them again: %w", err)
	case !r.UnderWay(ids) && !r.Knows(ids):
		return nil, fault.New(fault.Timeout, "the transactions were not stored; submit them again: %w", err)
	}
	return ids, nil
}

// submit also returns the ids, once they are known, beside an error.
func (g *Engine) submit(ctx context.Context, check Checker, id string, signed []string) ([]string, error) {
	res, err := g.Advance(ctx, id, nil)
	if err != nil {
		return nil, err
	}
	ids, err := check.IDs(res.Record, signed)
	if err != nil {
		return nil, err
	}
	r := res.Record
	had := r.Knows(ids) && !r.UnderWay(ids)
	// What a reorganisation took out of the chain is expected again, though it is known.
	if !r.UnderWay(ids) && (!had || r.Submitted(ids)) {
		in, err := g.expected(ctx, check, res, signed)
		switch {
		case err == nil:
			if res, err = g.accepted(ctx, id, in, ids); err != nil {
				return ids, err
			}
			had = false
		case ctx.Err() != nil || !had:
			return ids, err
		}
	}
	if err := g.await(ctx, id, res.Record, had); err != nil {
		return ids, err
	}
	return ids, nil
}

// expected compares what was signed with the current action.
func (g *Engine) expected(ctx context.Context, check Checker, res *Result, signed []string) (swap.Submit, error) {
	v := g.View(res)
	switch a := v.Signable().(type) {
	case *swap.Sign, *swap.Fund:
		return check.Check(ctx, res.Record, a, signed)
	}
	if v.Blocked != nil {
		return swap.Submit{}, v.Blocked
	}
	if f := g.Flows[res.Record.Type]; v.Row.Expired || f != nil && f.IsUnpaid(res.Record) && res.Record.Expiry.Reached(res.At) {
		return swap.Submit{}, fault.New(fault.InvalidState, "the quote has expired; create a new swap")
	}
	return swap.Submit{}, fault.New(fault.InvalidState, "no transactions are expected at the moment; check the swap's status")
}

// accepted stores a submission. Another caller may have handed in the same at the
// same moment.
func (g *Engine) accepted(ctx context.Context, id string, in swap.Submit, ids []string) (*Result, error) {
	res, err := g.Advance(ctx, id, in)
	if !errors.Is(err, errNotTaken) {
		return res, err
	}
	r, loadErr := g.Load(ctx, id)
	switch {
	case loadErr != nil || !r.Submission.Open():
		return nil, err
	case !r.UnderWay(ids):
		return nil, errUnderWay
	}
	return &Result{Record: r, Observation: &swap.Observation{}, At: g.Now()}, nil
}

// errUnderWay refuses a submission beside a fresh one.
var errUnderWay = fault.New(fault.InvalidState, "another submission is in progress: wait a few minutes for its outcome, or have the swap's owner sign")

// await returns when what was handed in has had its effect. had says that it had the effect
// before the call: then a failure of the last submission, which is another one, does not count.
func (g *Engine) await(ctx context.Context, id string, from *swap.Record, had bool) error {
	already := !from.Submission.Open()
	settled := func(r *swap.Record) (bool, error) {
		switch {
		case r.Type != swap.SPVFromBTC:
		case r.State == swap.SPVDeclined:
			return true, fault.New(fault.InvalidState, "the liquidity provider refused the transaction: %s; create a new swap", r.Problem)
		case r.State == swap.SPVCreated && from.State != swap.SPVCreated:
			return true, fault.New(fault.Upstream, "the transaction was not taken, and another one can be signed: %s", r.Problem)
		}
		if r.Type == swap.SPVFromBTC && r.State == swap.SPVSigned {
			return false, nil
		}
		if s := r.Submission; s != nil && s.PSBT != [32]byte{} && s.Reason == "" && (s.Closed || r.Tried[string(swap.Broadcast)].Outcome == swap.Done) {
			return true, nil
		}
		if r.State != from.State {
			return true, nil
		}
		if s := from.Submission; s.Open() && (r.Submission == nil || r.Submission.Since != s.Since) {
			return true, fault.New(fault.InvalidState, "this submission was replaced by another one")
		}
		if s := r.Submission; s != nil && s.Closed && s.Reason != "" && !had {
			return true, fault.New(fault.InvalidState, "the submission failed: %s", s.Reason)
		}
		return already && !r.Submission.Open(), nil
	}
	var failure error
	done := false
	sub := g.feed.add()
	if sub == nil {
		return ErrClosed
	}
	wait, cancel := context.WithCancel(ctx)
	defer cancel()
	// What happened between the pass and the subscription is in the record.
	r, err := g.Load(ctx, id)
	if err != nil {
		g.feed.remove(sub)
		return err
	}
	if done, failure = settled(r); done {
		g.feed.remove(sub)
		return failure
	}
	poll := make(chan struct{})
	go func() { // without Run nothing else would make a pass
		defer close(poll)
		g.poll(wait, id)
	}()
	g.deliver(wait, sub, func(c Change) bool {
		if c.Record.ID == id {
			done, failure = settled(c.Record)
		}
		return !done
	})
	cancel()
	<-poll
	switch {
	case done:
		return failure
	case g.base.Err() != nil:
		return ErrClosed
	}
	return context.Cause(ctx)
}

// poll looks at a swap until ctx ends: every second at first, because somebody
// waits, then ever slower, at last as often as its state asks for. The first wait is a
// little longer than the facts of the pass before it serve, so that it ends with new ones.
func (g *Engine) poll(ctx context.Context, id string) {
	for wait := g.freshFor + g.freshFor/8; ; wait += wait / 8 {
		res, err := g.Advance(ctx, id, nil)
		every := 5 * time.Second
		if err == nil {
			if f := g.Flows[res.Record.Type]; f != nil {
				if row, ok := f.State(res.Record.State); ok && row.Every > 0 {
					every = min(every, row.Every)
				}
			}
		}
		wait = min(wait, every)
		rest := wait
		if err == nil { // what an earlier pass has found is as old as that pass
			rest = max(wait/4, wait-max(g.Now().Sub(res.At), 0))
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(rest):
		}
	}
}
