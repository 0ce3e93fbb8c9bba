package engine

import (
	"errors"
	"time"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/internal/swap"
)

// maxFutureHead is how far ahead of our clock the time of a block may be.
const maxFutureHead = 2 * time.Hour

// errFutureHead says that the time of a node's head lies in the future. Nothing else
// that it says counts then.
var errFutureHead = fault.New(fault.Upstream, "the timestamp of the chain's newest block is more than %s ahead of this server's clock; one of them is wrong", maxFutureHead)

// inOurTime turns an answer that was read at a head in the future into an error.
func inOurTime[T any](now time.Time, head func(T) chains.Block) func(T, error) (T, error) {
	return func(f T, err error) (T, error) {
		if err == nil && head(f).Time > now.Add(maxFutureHead).Unix() {
			err = errFutureHead
		}
		return f, err
	}
}

func escrowHead(f chains.EscrowFact) chains.Block         { return f.Head }
func vaultHead(f chains.VaultFact) chains.Block           { return f.Head }
func withdrawalHead(f chains.WithdrawalFact) chains.Block { return f.Head }

// errLagging is the error of a node that has not reached a block on which a
// decision was already based: its negative answers mean nothing.
var errLagging = errors.New("the node is behind a state that was already seen")

// notLagging turns a negative answer from below r.Seen, or one that carries its
// own failure, into an error.
func notLagging(r *swap.Record) func(chains.EscrowFact, error) (chains.EscrowFact, error) {
	return func(f chains.EscrowFact, err error) (chains.EscrowFact, error) {
		switch {
		case err != nil:
		case f.Err != nil:
			err = f.Err
		case f.State == chains.EscrowNone && !r.Seen.Reached(f.Head):
			err = errLagging
		}
		return f, err
	}
}
