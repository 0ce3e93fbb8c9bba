package engine

import (
	"context"
	"errors"

	"github.com/swapper-go/swapper/internal/swap"
)

// routineReader is the reader of a routine pass: until a caller waits for the pass, it does not
// ask what is only shown and moves no swap.
type routineReader struct {
	Reader
	engine *Engine
	run    *passRun
}

// errNotShown is the error of a question whose answer is only shown, in a pass without a caller.
var errNotShown = errors.New("not asked: no caller waits for the answer")

// ETA implements Reader.
func (l routineReader) ETA(ctx context.Context, q swap.ETAAsk) (seconds int, err error) {
	if l.unseen() {
		return 0, errNotShown
	}
	return l.Reader.ETA(ctx, q)
}

// unseen reports whether no caller waits for the pass, which then is not for those either
// who come later.
func (l routineReader) unseen() bool {
	l.engine.mu.Lock()
	defer l.engine.mu.Unlock()
	l.run.partial = l.run.partial || l.run.routine
	return l.run.partial
}

// unanswered reports whether the chains were asked something by a pass and gave no
// answer: then what the swap's status says is as old as it was before. Providers may be
// silent on purpose, and are asked again in the swap's rhythm.
func unanswered(o *swap.Observation) bool {
	return o != nil && (silent(o.Escrow) || silent(o.Found) || silent(o.Payment) || silent(o.Spends) || silent(o.Vault) || silent(o.Withdrawal) ||
		silent(o.Txs) || silent(o.Received) || silent(o.Refunded) || silent(o.GasTx))
}

func silent[T any](f swap.Fact[T]) bool { return f.Asked && !f.Known() }
