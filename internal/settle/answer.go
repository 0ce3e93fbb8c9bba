package settle

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/internal/httpx"
)

// Escrows answers queries, in their order: the settled ones by what all nodes of a panel
// say, each asked by one, the others as plain does, which asks one of the nodes. With one
// node plain answers all.
func Escrows[R any](ctx context.Context, p *Panel[R], queries []chains.EscrowQuery, plain func(context.Context, []chains.EscrowQuery) ([]chains.EscrowFact, error),
	one func(R, context.Context, []chains.EscrowQuery) ([]chains.EscrowFact, error)) ([]chains.EscrowFact, error) {
	return answer(ctx, p, escrowRules, queries, func(q *chains.EscrowQuery) (bool, string) {
		if q.Escrow == nil {
			return q.Settled, fmt.Sprintf("the escrow with the claim hash %x", q.ClaimHash)
		}
		return q.Settled, fmt.Sprintf("escrow %x", q.Escrow.Hash)
	}, func(f *chains.EscrowFact) { f.Unsettled, f.Final, f.Witnesses = true, false, 0 }, plain, one)
}

// Vaults is [Escrows] for vaults, of which every query is settled.
func Vaults[R any](ctx context.Context, p *Panel[R], queries []chains.VaultID, plain func(context.Context, []chains.VaultID) ([]chains.VaultFact, error),
	one func(R, context.Context, []chains.VaultID) ([]chains.VaultFact, error)) ([]chains.VaultFact, error) {
	return answer(ctx, p, vaultRules, queries, func(q *chains.VaultID) (bool, string) {
		return true, fmt.Sprintf("vault %v of %s", q.ID, q.Owner)
	}, nil, plain, one)
}

// Withdrawals is [Escrows] for withdrawals.
func Withdrawals[R any](ctx context.Context, p *Panel[R], queries []chains.WithdrawalQuery, plain func(context.Context, []chains.WithdrawalQuery) ([]chains.WithdrawalFact, error),
	one func(R, context.Context, []chains.WithdrawalQuery) ([]chains.WithdrawalFact, error)) ([]chains.WithdrawalFact, error) {
	return answer(ctx, p, withdrawalRules, queries, func(q *chains.WithdrawalQuery) (bool, string) {
		return q.Settled, "the withdrawal of Bitcoin transaction " + q.TxID.String()
	}, func(f *chains.WithdrawalFact) { f.Unsettled, f.Final, f.Witnesses = true, false, 0 }, plain, one)
}

// Paid returns what all nodes of a panel say that an executed transaction pays.
func Paid[R any](ctx context.Context, p *Panel[R], tx string, one func(R, context.Context) (Payment, error)) (chains.Payout, error) {
	if len(p.Seats) == 1 {
		paid, err := httpx.Retry(ctx, p.Retry, func(ctx context.Context) (Payment, error) { return one(p.Seats[0].Reader, ctx) })
		return chains.Payout{Amount: paid.Amount}, err
	}
	fact := settledOne(ctx, p, paymentRules, "transaction "+tx, one)
	if fact.err != nil {
		return chains.Payout{}, fact.err
	}
	out := chains.Payout{Amount: fact.Amount}
	if fact.Height != 0 {
		out.Witnesses = fact.witnesses
	}
	return out, nil
}

// Signed reports what all nodes of a panel say of a signature, and how many say so.
func Signed[R any](ctx context.Context, p *Panel[R], about string, one func(R, context.Context) (Signature, error)) (good bool, witnesses int, err error) {
	fact := settledOne(ctx, p, signatureRules, about, one)
	return fact.Good, fact.witnesses, fact.err
}

// settledOne is [settled] for one question.
func settledOne[R, F any](ctx context.Context, p *Panel[R], r rules[F], about string, one func(R, context.Context) (F, error)) F {
	return settled(ctx, p, r, []string{about}, func(ctx context.Context, reader R) ([]F, error) {
		f, err := one(reader, ctx)
		return []F{f}, err
	})[0]
}

// answer puts plain queries to plain and settled ones to all nodes, at the same time. ask
// says of a query whether it is settled and what it is about. mark is for the word of one node.
func answer[R, Q, F any](ctx context.Context, p *Panel[R], r rules[F], queries []Q, ask func(*Q) (settled bool, about string), mark func(*F),
	plain func(context.Context, []Q) ([]F, error), one func(R, context.Context, []Q) ([]F, error)) ([]F, error) {
	if len(p.Seats) < 2 {
		return plain(ctx, queries)
	}
	var easy, hard []Q
	var easyAt, hardAt []int
	var about []string
	for i := range queries {
		if is, what := ask(&queries[i]); is {
			hard, hardAt, about = append(hard, queries[i]), append(hardAt, i), append(about, what)
		} else {
			easy, easyAt = append(easy, queries[i]), append(easyAt, i)
		}
	}
	facts := make([]F, len(queries))
	var failed error
	var both sync.WaitGroup
	if len(easy) > 0 {
		both.Go(func() {
			some, err := plain(ctx, easy)
			for n, i := range easyAt {
				if err != nil {
					*r.err(&facts[i]) = err
					continue
				}
				facts[i] = some[n]
				mark(&facts[i])
			}
			failed = err
		})
	}
	if len(hard) > 0 {
		for n, f := range settled(ctx, p, r, about, func(ctx context.Context, reader R) ([]F, error) { return one(reader, ctx, hard) }) {
			facts[hardAt[n]] = f
		}
	}
	both.Wait()
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	if len(hard) == 0 && failed != nil {
		return nil, failed
	}
	return facts, nil
}

// errOpen is why a node is asked again that answered, but not all.
var errOpen = errors.New("a question is left open")

// settled returns what all nodes say together, one fact for each text of what it is about.
func settled[R, F any](ctx context.Context, p *Panel[R], r rules[F], about []string, one func(context.Context, R) ([]F, error)) []F {
	by := make([][]F, len(p.Seats)) // each written by who asks that node
	p.ask(ctx, func(ctx context.Context, seat int) error {
		facts, err := one(ctx, p.Seats[seat].Reader)
		if err != nil {
			return err
		}
		by[seat] = facts
		for i := range facts {
			if err := *r.err(&facts[i]); err != nil && fault.CodeOf(err) != fault.InvalidInput {
				return errOpen
			}
		}
		return nil
	})
	out := make([]F, len(about))
	for i := range out {
		said := make([]*F, len(p.Seats))
		var why error
		for n, facts := range by {
			if facts == nil {
				continue
			}
			if err := *r.err(&facts[i]); err != nil {
				why = err
			} else {
				said[n] = &facts[i]
			}
		}
		if fault.CodeOf(why) == fault.InvalidInput { // whichever node is asked
			*r.err(&out[i]) = why
			continue
		}
		v := decide(said, p.need(), p.Now(), r)
		switch out[i] = v.fact; {
		case v.contradicted:
			*r.err(&out[i]) = contradiction(p, r, about[i], said, v)
		case v.err != nil && why != nil:
			*r.err(&out[i]) = fmt.Errorf("%w (%w)", v.err, why)
		default:
			*r.err(&out[i]) = v.err
		}
	}
	return out
}

// contradiction tells of one, and takes the places of those who lose them.
func contradiction[R, F any](p *Panel[R], r rules[F], about string, said []*F, v verdict[F]) error {
	e := &chains.ContradictionError{About: about}
	told := []any{"about", about}
	for i, f := range said {
		if f == nil {
			continue
		}
		e.Open = e.Open || r.open != nil && r.open(f)
		told = append(told, p.Seats[i].Node.Name(), r.says(f))
	}
	for _, i := range v.disputed {
		p.Seats[i].Node.Contradicts(v.loses[i])
	}
	p.Log.Warn("the nodes of the chain contradict each other: nothing that cannot be undone is done until they agree", told...)
	return fault.New(fault.Upstream, "%w", e)
}
