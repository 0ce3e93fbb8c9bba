package engine

import (
	"context"
	"errors"

	"github.com/swapper-go/swapper/swap"
)

// lean is the reader of a routine pass: it leaves out what moves no swap and is only
// shown, until somebody waits for the pass.
type lean struct {
	Reader
	engine *Engine
	run    *passRun
}

// errNobodyAsked is the error of a question that nobody wants to know the answer of.
var errNobodyAsked = errors.New("not asked: nobody is waiting for the answer")

// Wait implements Reader.
func (l lean) Wait(ctx context.Context, q swap.WaitAsk) (seconds int, err error) {
	l.engine.mu.Lock()
	l.run.lean = l.run.lean || l.run.routine
	out := l.run.lean
	l.engine.mu.Unlock()
	if out {
		return 0, errNobodyAsked
	}
	return l.Reader.Wait(ctx, q)
}

// unanswered reports whether the chains were asked something by a pass and gave no
// answer: then what the swap's status says is as old as it was before. Providers may be
// silent on purpose, and are asked again in the swap's rhythm.
func unanswered(o *swap.Observation) bool {
	return o != nil && (silent(o.Escrow) || silent(o.Found) || silent(o.Payment) || silent(o.Spends) || silent(o.Vault) || silent(o.Withdrawal) ||
		silent(o.Txs) || silent(o.Received) || silent(o.Refunded) || silent(o.GasTx))
}

func silent[T any](f swap.Fact[T]) bool { return f.Asked && !f.Known() }
