package solana

import (
	"context"
	"errors"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/internal/solana/rpc"
	"github.com/swapper-go/swapper/internal/solana/wire"
)

// VerifyInit takes one round trip: to read the block that the authorisation names, and
// the newest slot unless that was read in the last seconds. With both known it takes
// none. What is verified is the whole transaction, made here with our own fee rate.
// Where the signature does not verify and there are several nodes, the block is asked
// of all: a node that lies about it must not make an LP look bad.
func (k *contract) VerifyInit(ctx context.Context, e chains.Escrow, auth chains.Auth, feeRate, sender string) (time.Time, error) {
	d, err := k.SwapDataOf(e)
	if err != nil {
		return time.Time{}, &chains.AuthError{Reason: "is for an escrow of another program", Err: err}
	}
	from, err := address("signer", sender)
	if err != nil {
		return time.Time{}, err
	}
	needed, err := k.CheckInit(d, from, auth.Prefix, auth.Timeout, k.chain.env.Now())
	if err != nil {
		return time.Time{}, err
	}
	if !needed {
		return usable(nil, auth.Timeout, 0, k.chain.env.Now())
	}
	a, err := wire.ParseInitAuth(auth)
	if err != nil {
		return time.Time{}, err
	}
	rate, err := wire.ParseFeeRate(feeRate)
	if err != nil {
		return time.Time{}, fault.At("feeRate", err)
	}
	block, latest, err := k.chain.signedBlock(ctx, a.Slot)
	if err != nil {
		return time.Time{}, err
	}
	if err := a.CheckSlot(latest); err != nil {
		return time.Time{}, err
	}
	verify := func(h wire.Hash) error { return k.Programs.VerifyInit(d, from, a, rate, h) }
	if err := verify(block.Hash); err != nil {
		other, ok, agreed := k.chain.otherBlock(ctx, a.Slot, block.Hash, func(h wire.Hash) bool { return verify(h) == nil })
		if !ok {
			if bad, is := errors.AsType[*chains.AuthError](err); is && agreed {
				bad.Proven = true
			}
			return time.Time{}, err
		}
		block = other
	}
	k.chain.noteSigned(a.Slot, block)
	return usable(&a, auth.Timeout, latest, k.chain.env.Now())
}

// usable returns until when an authorisation can be used.
func usable(a *wire.InitAuth, timeout int64, latest uint64, now time.Time) (time.Time, error) {
	until := wire.UsableUntil(a, uint64(timeout), latest, now)
	if until.IsZero() {
		return time.Time{}, &chains.AuthError{Reason: "it cannot be used any more", Late: true}
	}
	return until, nil
}

// signedBlock returns the block of a slot that an LP has signed, and the newest slot.
func (c *chain) signedBlock(ctx context.Context, slot uint64) (block rpc.Block, latest uint64, err error) {
	latest, fresh := c.latest.get(c.env.Now())
	block, known := c.signed.Get(slot)
	if fresh && known {
		return block, latest, nil
	}
	var final uint64
	var missing error
	g, inner := errgroup.WithContext(ctx)
	if !known {
		g.Go(func() error {
			block, missing = c.ledger.Block(inner, slot)
			return inner.Err()
		})
	}
	g.Go(func() error {
		return rpc.AskAll(inner, c.node, []rpc.Request{rpc.SlotRequest(rpc.Processed, &latest), rpc.SlotRequest(rpc.Finalized, &final)})
	})
	if err := g.Wait(); err != nil {
		return block, 0, err
	}
	c.latest.note(latest, c.env.Now())
	switch {
	case missing == nil:
		return block, latest, nil
	case rpc.IsSkipped(missing) && slot <= final:
		return block, 0, &chains.AuthError{Reason: "it names a slot that has no block", Err: missing}
	case slot > latest+wire.TxSlots:
		return block, 0, &chains.AuthError{Reason: "it names a slot that is yet to come"}
	}
	return block, 0, fault.New(fault.Upstream, "the node does not have the block of slot %d: %w", slot, missing)
}

// noteSigned remembers a block whose hash an LP has signed, which proves it.
func (c *chain) noteSigned(slot uint64, b rpc.Block) {
	c.signed.Add(slot, b)
	c.hashes.end(b.Hash, *b.Height+wire.TxSlots)
}

// otherBlock returns the block of a slot as a node has it that says another hash than
// the first, one that good accepts. agreed reports whether at least two nodes say the
// first hash and none another.
func (c *chain) otherBlock(ctx context.Context, slot uint64, not wire.Hash, good func(wire.Hash) bool) (block rpc.Block, found, agreed bool) {
	if !c.nodes.Several() {
		return block, false, false
	}
	same, others := 0, 0
	ask := func() []rpc.Request {
		return []rpc.Request{rpc.BlockRequest(slot, rpc.Confirmed, new(rpc.Block))}
	}
	_ = c.nodes.Each(ctx, ask, func(r []rpc.Request) {
		if r[0].Err != nil {
			return
		}
		b := *r[0].Result.(*rpc.Block)
		if b.Hash == not {
			same++
			return
		}
		others++
		if good(b.Hash) {
			block, found = b, true
		}
	})
	return block, found, same > 1 && others == 0
}
