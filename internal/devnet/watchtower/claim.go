package watchtower

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/ethereum/go-ethereum"

	"github.com/swapper-go/swapper/internal/evm/wire"
)

// ready reports whether it is time to claim what can be claimed: the delay is over
// and no claim of it waits to be mined.
func (t *Tower) ready(ctx context.Context, what any, delay time.Duration) (bool, error) {
	since, ok := t.due[what]
	if !ok {
		since = time.Now()
		t.due[what] = since
	}
	if time.Since(since) < delay {
		return false, nil
	}
	id, ok := t.sent[what]
	if !ok {
		return true, nil
	}
	_, pending, err := t.node.TransactionByHash(ctx, id)
	if errors.Is(err, ethereum.NotFound) {
		// Dropped by the node, unless it is between the mempool and a block.
		gone, seen := t.gone[id]
		if !seen {
			gone = time.Now()
			t.gone[id] = gone
		}
		return time.Since(gone) > 500*time.Millisecond, nil
	}
	delete(t.gone, id)
	// One that is mined, and what it claims is still there: a reorganisation, or it
	// was refused.
	return err == nil && !pending, err
}

// send tries a claim, and sends it if the contract would take it. It does not wait
// for it to be mined.
func (t *Tower) send(ctx context.Context, what any, call wire.Call, c Claim) error {
	if _, err := t.options.EVM.Read(ctx, t.options.Account.Address, call); err != nil {
		return fmt.Errorf("the claim would fail: %w", err)
	}
	tx, err := t.options.Account.Submit(ctx, call)
	if err != nil {
		return fmt.Errorf("send the claim: %w", err)
	}
	c.Tx = tx.Hash().Hex()
	t.sent[what] = tx.Hash()
	t.done(c)
	return nil
}

// forget drops what is known about something that is over.
func (t *Tower) forget(what any) {
	delete(t.due, what)
	delete(t.sent, what)
}
