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
)

// outlook is what the chain shows of a record.
type outlook struct {
	state outlookState
	step  chains.Step // that claims it
	pay   [][]amount  // for whoever claims, by claim: a withdrawal brings those before it
	cost  []expense
	until time.Time // while it may still come; of what is absent
}

// expense is a part of what a claim costs.
type expense struct {
	chains.Cost
	times int64
}

type outlookState int

const (
	absent outlookState = iota // not there, or not any more
	early                      // there, but it cannot be claimed yet, or the nodes do not agree yet
	open                       // it can be claimed, by the word of enough nodes
	over                       // it cannot be claimed any more, by the word of enough nodes, and finally
)

// amount is of a token, in its base units.
type amount struct {
	Token string   `json:"token"`
	N     *big.Int `json:"n"`
}

// lateOpening is how long after its expiry an escrow is waited for that is not there.
const lateOpening = time.Hour

// outlooks asks the chain about escrows of one version, at most perLook of them. What would
// be acted upon is asked of all nodes.
func (c *claimer) outlooks(ctx context.Context, k chains.Contract, escrows []chains.Escrow) ([]outlook, error) {
	queries := make([]chains.EscrowQuery, len(escrows))
	for i := range escrows {
		queries[i] = chains.EscrowQuery{Escrow: &escrows[i]}
	}
	facts, err := k.Escrows(ctx, queries)
	if err != nil {
		return nil, err
	}
	var places []int
	var again []chains.EscrowQuery
	for i, f := range facts {
		if f.Err == nil && f.Unsettled && f.State != chains.EscrowNone {
			queries[i].Settled = true
			places, again = append(places, i), append(again, queries[i])
		}
	}
	if len(again) > 0 {
		settled, err := k.Escrows(ctx, again)
		if err != nil {
			return nil, err
		}
		for n, i := range places {
			facts[i] = settled[n]
		}
	}
	all := make([]outlook, len(escrows))
	for i, e := range escrows {
		all[i] = c.outlook(e, facts[i])
	}
	return all, nil
}

// outlook reads what the chain says of an escrow.
func (c *claimer) outlook(e chains.Escrow, f chains.EscrowFact) outlook {
	o := outlook{state: early, until: time.Unix(e.Expiry, 0).Add(lateOpening),
		step: chains.Step{Kind: chains.StepClaimSecret, Escrow: e}, pay: bounty(e),
		cost: []expense{{chains.Cost{Kind: chains.StepClaimSecret, Token: e.Token, Payer: c.self}, 1}}}
	if _, contradiction := errors.AsType[*chains.ContradictionError](f.Err); contradiction {
		c.log.Warn("the nodes contradict each other, nothing is claimed", "err", f.Err)
	}
	switch {
	case f.Err != nil:
	case f.State == chains.EscrowNone:
		o.state = absent
	case f.Unsettled || !f.Final:
	case f.State == chains.EscrowOpen:
		o.state = open
	default:
		o.state = over
	}
	return o
}

// bounty is what the claim of an escrow earns.
func bounty(e chains.Escrow) [][]amount { return [][]amount{{{e.DepositToken, e.ClaimerBounty}}} }

// each does something with those of each version of the contracts, some at a time.
func each[T any](c *claimer, all []T, version func(T) string, do func(chains.Contract, []T) error) (failed error) {
	for _, v := range c.info.Versions {
		k, ok := c.chain.Contract(v.Name)
		if !ok {
			continue
		}
		var some []T
		for _, one := range all {
			if version(one) == v.Name {
				some = append(some, one)
			}
		}
		for chunk := range slices.Chunk(some, perLook) {
			clear(c.costs)
			failed = errors.Join(failed, do(k, chunk))
		}
	}
	return failed
}

// admit stores what was heard from others if the chain shows it, and if its claim pays.
func (c *claimer) admit(ctx context.Context) (failed error) {
	for left := min(c.heard.size(), perRound); left > 0 && !c.pressed() && ctx.Err() == nil; left -= perLook {
		failed = errors.Join(failed, c.admitSome(ctx, c.heard.take(c.now(), min(left, perLook))))
	}
	return failed
}

func (c *claimer) admitSome(ctx context.Context, all []*heard) error {
	return each(c, all, func(h *heard) string { return h.escrow.Version }, func(k chains.Contract, some []*heard) error {
		escrows := make([]chains.Escrow, len(some))
		for i, h := range some {
			escrows[i] = h.escrow
		}
		all, err := c.outlooks(ctx, k, escrows)
		if err != nil {
			return err
		}
		var failed error
		for i, h := range some {
			if c.pressed() {
				break
			}
			failed = errors.Join(failed, c.admitOne(ctx, k, h, all[i]))
		}
		return failed
	})
}

func (c *claimer) admitOne(ctx context.Context, k chains.Contract, h *heard, o outlook) error {
	switch o.state {
	case over:
		c.heard.drop(h)
	case open:
		if _, known := c.token(h.escrow.Token); !known {
			c.heard.drop(h)
			return nil
		}
		_, v, err := c.estimate(ctx, k, o, false)
		if err != nil {
			return err
		}
		c.heard.refuse(h, v == wait)
		if v == leave {
			c.heard.drop(h)
		}
		if v != claim {
			return nil
		}
		adopted, err := c.adoptForeign(ctx, record{Version: h.escrow.Version, Escrow: h.escrow.Data, Preimage: h.preimage}, h.escrow.Hash)
		if err != nil || !adopted {
			return err
		}
		c.heard.drop(h)
	}
	return nil
}

// adoptForeign stores a record of others, if there are not too many.
func (c *claimer) adoptForeign(ctx context.Context, r record, hash []byte) (bool, error) {
	n, err := c.foreign(ctx, maxForeign)
	if err != nil {
		return false, err
	}
	if n >= maxForeign {
		c.log.Warn("a claim for others is left: too many are waiting", "waiting", n)
		return false, nil
	}
	return true, c.adopt(ctx, r, hash)
}

// pays is what a claim earns, in base units of the native token.
func (c *claimer) pays(ctx context.Context, o outlook) (*big.Int, error) {
	pay := new(big.Int)
	for _, of := range o.pay {
		for _, a := range of {
			n, err := c.worth(ctx, a.Token, a.N)
			if err != nil {
				return nil, err
			}
			pay.Add(pay, n)
		}
	}
	return pay, nil
}

// estimate judges a claim by what the chain says that it costs.
func (c *claimer) estimate(ctx context.Context, k chains.Contract, o outlook, own bool) (offer, verdict, error) {
	pay, err := c.pays(ctx, o)
	if err != nil {
		return offer{}, wait, err
	}
	if pay.Sign() == 0 && !own {
		c.log.Debug("a claim offers nothing")
		return offer{}, leave, nil
	}
	cost := new(big.Int)
	for _, e := range o.cost {
		n, known := c.costs[e.Cost]
		if !known {
			if n, err = k.Estimate(ctx, e.Cost, ""); err != nil {
				return offer{}, wait, err
			}
			c.costs[e.Cost] = n
		}
		cost.Add(cost, new(big.Int).Mul(n, big.NewInt(e.times)))
	}
	made := offer{pay, cost, own}
	return made, c.judge(made), nil
}

func (c *claimer) judge(o offer) verdict {
	v := c.policy.judge(o)
	if v != claim {
		c.log.Debug("a claim does not pay", "verdict", v, "pay", o.pay, "cost", o.cost, "own", o.own)
	}
	return v
}

// look follows records until it is to stop.
func (c *claimer) look(ctx context.Context, due []*record, stop func() bool) error {
	return each(c, due, func(r *record) string { return r.Version }, func(k chains.Contract, some []*record) (failed error) {
		var of []*record
		var escrows []chains.Escrow
		for _, r := range some {
			if stop() {
				return failed
			}
			if r.Withdrawal != nil {
				failed = errors.Join(failed, c.lookAt(ctx, k, r, outlook{}))
				continue
			}
			e, err := k.Decode(r.Escrow)
			if err != nil {
				failed = errors.Join(failed, c.shelve(ctx, r, fmt.Errorf("a stored escrow: %w", err)))
				continue
			}
			of, escrows = append(of, r), append(escrows, e)
		}
		if len(of) == 0 {
			return failed
		}
		all, err := c.outlooks(ctx, k, escrows)
		if err != nil {
			return errors.Join(failed, err)
		}
		for i, r := range of {
			if stop() {
				break
			}
			failed = errors.Join(failed, c.lookAt(ctx, k, r, all[i]))
		}
		return failed
	})
}

// lookAt follows one record. The outlook is that of its escrow, if it has one.
func (c *claimer) lookAt(ctx context.Context, k chains.Contract, r *record, o outlook) (err error) {
	switch {
	case r.Withdrawal != nil:
		o, err = c.withdrawal(ctx, k, r)
	case r.Payment != nil:
		o, err = c.paid(ctx, k, r, o)
	default:
		o.step.Preimage, o.step.Public = r.Preimage, !r.Own || len(r.Attempts) > 0
	}
	if err != nil && r.Withdrawal != nil && c.now().Sub(time.UnixMilli(r.Since)) > bitcoinLife {
		o, err = outlook{}, nil // what is absent for so long is given up
	}
	if err == nil {
		err = c.follow(ctx, k, r, o)
	}
	c.mark(r)
	if err != nil {
		return c.shelve(ctx, r, err)
	}
	return nil
}

// shelve puts a record off after a failure.
func (c *claimer) shelve(ctx context.Context, r *record, failure error) error {
	r.failed(c.now(), c.config.Every)
	if err := c.save(ctx, r); err != nil {
		return errors.Join(failure, err)
	}
	if fault.CodeOf(failure) == fault.InvalidState {
		c.log.Info("a claim is put off", "record", r.label(), "err", failure)
		return nil
	}
	return failure
}
