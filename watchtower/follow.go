package watchtower

import (
	"context"
	"errors"
	"fmt"
	"math/big"
	"slices"
	"time"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/storage"
)

// stuckAfter is how long a claim may wait to be executed before it is replaced by one that
// offers more. It doubles with each.
const stuckAfter = time.Minute

func (r *record) label() string { return storage.Label(r.id[len(index)+1:]) }

// follow does the next thing for a record.
func (c *claimer) follow(ctx context.Context, k chains.Contract, r *record, o outlook) error {
	statuses, err := c.chain.Status(ctx, r.sent())
	if err != nil {
		return err
	}
	now := c.now()
	switch {
	case o.state != open:
		r.Open, r.Refused = 0, false
	case r.Open == 0:
		r.Open = now.UnixMilli()
	}
	switch o.state {
	case absent:
		if now.After(o.until) && !waiting(statuses) {
			return c.close(ctx, r, statuses)
		}
	case over:
		if !waiting(statuses) || now.Sub(time.UnixMilli(r.Since)) > longestWait {
			return c.close(ctx, r, statuses)
		}
	case open:
		return c.pursue(ctx, k, r, o, statuses)
	}
	r.later(now, c.pause(now, r))
	return c.save(ctx, r)
}

// longestWait is how long transactions of what has ended are waited for.
const longestWait = 72 * time.Hour

// pause is between two looks at something that cannot be claimed at the moment: the longer it
// has waited, the longer.
func (c *claimer) pause(now time.Time, r *record) time.Duration {
	return max(c.config.Every, min(now.Sub(time.UnixMilli(r.Since))/20, longestPause))
}

// waiting reports whether a transaction may still be executed, or taken back.
func waiting(all []chains.TxStatus) bool {
	for _, s := range all {
		switch s.State {
		case chains.TxPending:
			return true
		case chains.TxConfirmed, chains.TxReverted:
			if !s.Final {
				return true
			}
		}
	}
	return false
}

// pursue claims what is open: it sends what was signed, or signs a claim.
func (c *claimer) pursue(ctx context.Context, k chains.Contract, r *record, o outlook, statuses []chains.TxStatus) error {
	reverts := count(statuses, chains.TxReverted)
	statuses = r.prune(statuses)
	if r.executed(statuses) { // the chain shows its effect soon, or takes it back
		r.later(c.now(), c.config.Every)
		return c.save(ctx, r)
	}
	live := r.live()
	if live == nil {
		switch {
		case reverts >= maxReverts: // it is kept, or the next message would begin anew
			c.log.Error("a claim fails again and again, and is left", "record", r.label())
			r.later(c.now(), longestPause)
			return c.save(ctx, r)
		case c.taken(r):
			r.later(c.now(), c.config.Every)
			return c.save(ctx, r)
		}
		return c.claim(ctx, k, r, o, nil)
	}
	for i, s := range statuses[len(statuses)-len(live.Txs):] {
		switch s.State {
		case chains.TxConfirmed:
			continue
		case chains.TxReverted, chains.TxReplaced:
			c.log.Info("a claim was not executed", "record", r.label(), "tx", live.Txs[i].ID, "state", s.State, "reason", s.Reason)
			live.Dead = true
			r.failed(c.now(), c.config.Every)
			return c.save(ctx, r)
		case chains.TxPending:
			if age := c.now().Sub(time.UnixMilli(live.At)); age > stuckAfter<<len(r.Attempts) {
				return c.claim(ctx, k, r, o, live.Txs[i:])
			}
		default:
			return c.send(ctx, r, live, i)
		}
		break
	}
	r.later(c.now(), c.config.Every)
	return c.save(ctx, r)
}

// executed reports whether the last transaction of an attempt was.
func (r *record) executed(statuses []chains.TxStatus) bool {
	at := -1
	for _, a := range r.Attempts {
		if at += len(a.Txs); statuses[at].State == chains.TxConfirmed {
			return true
		}
	}
	return false
}

func count(all []chains.TxStatus, state chains.TxState) (n int) {
	for _, s := range all {
		if s.State == state {
			n++
		}
	}
	return n
}

// prune forgets attempts that are dead and of which nothing was executed, if there are many,
// and returns the states of the transactions of the others.
func (r *record) prune(statuses []chains.TxStatus) (left []chains.TxStatus) {
	kept := r.Attempts[:0:0]
	for _, a := range r.Attempts {
		of := statuses[:len(a.Txs)]
		statuses = statuses[len(a.Txs):]
		if a.Dead && len(r.Attempts) > maxAttempts/2 && count(of, chains.TxUnknown)+count(of, chains.TxReplaced) == len(of) {
			continue
		}
		kept, left = append(kept, a), append(left, of...)
	}
	r.Attempts = kept
	return left
}

// send sends a transaction that is stored already. Sending it again does no harm.
func (c *claimer) send(ctx context.Context, r *record, a *attempt, i int) error {
	err := c.chain.Send(ctx, a.Txs[i])
	if fault.CodeOf(err) == fault.InvalidState {
		a.Dead = true
	}
	if err != nil {
		return fmt.Errorf("send a claim: %w", err)
	}
	c.log.Info("a claim was sent", "record", r.label(), "tx", a.Txs[i].ID)
	r.later(c.now(), c.config.Every)
	return c.save(ctx, r)
}

// claim signs a claim, if it pays, stores it and sends it. It may replace transactions that
// are stuck.
func (c *claimer) claim(ctx context.Context, k chains.Contract, r *record, o outlook, stuck []chains.Signed) error {
	if len(r.Attempts) >= maxAttempts {
		return fault.New(fault.InvalidState, "%d claims wait to be executed", maxAttempts)
	}
	made, v, err := c.estimate(ctx, k, o, r.Own)
	if err != nil {
		return err
	}
	if ask := c.config.Approve; v == claim && ask != nil && !ask(Claim{ID: r.id[len(index)+1:], Chain: c.id, Kind: o.step.Kind, Own: r.Own, Pay: made.pay, Cost: made.cost, Replaces: len(stuck) > 0}) {
		v = wait
	}
	if v == claim {
		var a attempt
		if a, err = c.sign(ctx, k, chains.Plan{SwapID: r.id, Seed: r.Seed, Signer: c.self, Steps: []chains.Step{o.step}, Replaces: stuck}); err != nil {
			return err
		}
		if v, err = c.affordable(ctx, o, a.Txs, r.Own); err != nil {
			return err
		}
		if v == claim {
			r.Refused = false
			a.Pay = o.payOf(len(a.Txs))
			r.Attempts = append(r.Attempts, a)
			c.mark(r)
			r.Failures = 0
			r.later(c.now(), c.config.Every)
			if err := c.save(ctx, r); err != nil { // before anything of it is sent
				return err
			}
			return c.send(ctx, r, r.live(), 0)
		}
	}
	r.Refused = true
	r.later(c.now(), c.pause(c.now(), r))
	return c.save(ctx, r)
}

// sign builds a plan, has it signed, and checks what came back.
func (c *claimer) sign(ctx context.Context, k chains.Contract, plan chains.Plan) (attempt, error) {
	built, err := k.Build(ctx, plan)
	if err != nil {
		return attempt{}, fmt.Errorf("build a claim: %w", err)
	}
	signed, err := c.signer.Sign(ctx, built.Txs)
	if err != nil {
		return attempt{}, fmt.Errorf("sign a claim: %w", err)
	}
	txs, err := k.Check(plan, signed)
	if err != nil {
		return attempt{}, fmt.Errorf("check what the signer returned: %w", err)
	}
	if len(txs) == 0 {
		return attempt{}, errors.New("the signer returned no transaction")
	}
	if err := k.Admit(ctx, plan, txs); fault.CodeOf(err) == fault.InvalidInput || fault.CodeOf(err) == fault.InvalidState {
		return attempt{}, fmt.Errorf("a claim would fail: %w", err)
	}
	return attempt{At: c.now().UnixMilli(), Txs: txs}, nil
}

// affordable judges signed transactions by the most that they can cost.
func (c *claimer) affordable(ctx context.Context, o outlook, txs []chains.Signed, own bool) (verdict, error) {
	pay, err := c.pays(ctx, o)
	if err != nil {
		return wait, err
	}
	cost := new(big.Int)
	for _, tx := range txs {
		cost.Add(cost, tx.MaxFee)
	}
	return c.judge(offer{pay, cost, own}), nil
}

// payOf says what each of the last transactions of a claim earns: each claim has its own, or
// the last has all.
func (o outlook) payOf(txs int) [][]amount {
	if len(o.pay) <= txs {
		return o.pay
	}
	return [][]amount{slices.Concat(o.pay...)}
}
