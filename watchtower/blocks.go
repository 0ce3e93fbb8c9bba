package watchtower

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/btcsuite/btcd/wire"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/internal/btc/rawtx"
)

// Bounds of what is read of Bitcoin. A block has up to 4 MB, and some thousand outputs.
const (
	maxBlocks   = 288              // that are searched: two days
	blocksRound = 24               // that are read in a round
	blocksLeast = 6                // that are searched in any case, since clocks differ
	blockSlack  = 2 * time.Hour    // by which the time of one may be wrong
	blockTime   = 20 * time.Second // for the reading of one
)

// blocks are the newest of Bitcoin's best chain, as far as something waits for a payment in
// them. Each is read once. Of its outputs eight bytes are kept, by which it is read once more if an
// escrow that is heard of later seems to be paid there.
type blocks struct {
	read map[bitcoin.Hash]*block
	tip  uint32
}

type block struct {
	hash, prev bitcoin.Hash
	height     uint32
	time       int64
	outputs    []uint64 // beginnings of their hashes, sorted
}

func beginning(output [32]byte) uint64 { return binary.BigEndian.Uint64(output[:]) }

// deep reports whether a block has so many confirmations.
func (b *blocks) deep(height uint32, confirmations uint16) bool {
	return height <= b.tip && b.tip-height+1 >= uint32(confirmations)
}

// oldest is the time that the block of a payment to an escrow has at least; a block says when it was found to within
// two hours, which Bitcoin's rules allow. 0 if it is not known when the escrow was opened.
func (a *awaited) oldest() int64 { return max(0, a.Opened.Time-int64(blockSlack/time.Second)) }

// search reads what it has not read of the best chain, the newest blocks first, down to the lowest
// one that can hold a payment to an escrow whose claim pays.
func (c *claimer) search(ctx context.Context, from bitcoin.BlockReader, all []*awaited) error {
	b := &c.blocks
	if !slices.ContainsFunc(all, func(a *awaited) bool { return a.pays }) {
		b.read = nil
		return nil
	}
	tip, err := c.config.Bitcoin.TipHeight(ctx)
	if err != nil {
		return err
	}
	hash, err := from.BlockHash(ctx, tip)
	if err != nil {
		return err
	}
	if b.read[hash] != nil && tip < b.tip {
		return nil // a server is behind
	}
	b.tip = tip
	oldest := int64(math.MaxInt64)
	wanted := map[[32]byte][]*awaited{}
	for _, a := range all {
		if a.pays {
			oldest = min(oldest, a.oldest())
		}
		wanted[a.Output] = append(wanted[a.Output], a)
	}
	best, left, complete, err := c.follows(ctx, from, hash, oldest, wanted)
	b.forget(best, all)
	missed, failed := c.late(ctx, from, best, left, all)
	if complete && failed == nil { // or a block that was read before may be one that was not reached
		for _, a := range all {
			a.searched = !missed[a]
		}
	}
	return errors.Join(err, failed)
}

// follows returns the best chain from its tip down to a time, or as far as it is read, how many
// blocks may still be read, and whether it is complete.
func (c *claimer) follows(ctx context.Context, from bitcoin.BlockReader, at bitcoin.Hash, oldest int64, wanted map[[32]byte][]*awaited) (best []*block, left int, complete bool, err error) {
	b := &c.blocks
	if b.read == nil {
		b.read = map[bitcoin.Hash]*block{}
	}
	left = blocksRound
	for height := b.tip; ; height-- {
		one := b.read[at]
		if one == nil {
			if left == 0 || c.pressed() {
				return best, left, false, nil
			}
			left--
			whole, err := c.whole(ctx, from, at)
			if err != nil {
				return best, left, false, err
			}
			one = &block{hash: at, prev: whole.Header.PrevBlock, height: height, time: whole.Header.Timestamp.Unix(), outputs: c.match(at, height, whole, wanted)}
			b.read[at] = one
		}
		best = append(best, one)
		at = one.prev
		if n := b.tip - height + 1; height == 0 || n >= maxBlocks || n >= blocksLeast && one.time < oldest {
			return best, left, true, nil
		}
	}
}

func (c *claimer) whole(ctx context.Context, from bitcoin.BlockReader, hash bitcoin.Hash) (*wire.MsgBlock, error) {
	ctx, cancel := context.WithTimeout(ctx, blockTime)
	defer cancel()
	whole, err := from.Block(ctx, hash)
	if err != nil {
		return nil, fmt.Errorf("block %s: %w", hash, err)
	}
	return whole, nil
}

// forget drops what is not in the best chain, or deeper than anything waits for, and the payments in
// what is not in the best chain any more.
func (b *blocks) forget(best []*block, all []*awaited) {
	if len(best) == 0 {
		return
	}
	lowest := best[len(best)-1].height
	kept := map[bitcoin.Hash]bool{}
	for _, one := range best {
		kept[one.hash] = true
	}
	for hash, one := range b.read {
		if !kept[hash] && (one.height >= lowest || b.tip-one.height >= maxBlocks) {
			delete(b.read, hash)
		}
	}
	for _, a := range all {
		if a.found != nil && !kept[a.found.block] && a.found.height >= lowest {
			a.found, a.searched = nil, false
		}
	}
}

// late searches blocks that were read before something was known to wait, and returns for what that could not be done.
func (c *claimer) late(ctx context.Context, from bitcoin.BlockReader, best []*block, left int, all []*awaited) (missed map[*awaited]bool, err error) {
	missed = map[*awaited]bool{}
	for _, one := range best {
		wanted := map[[32]byte][]*awaited{}
		for _, a := range all {
			if a.found != nil || a.searched {
				continue
			}
			if _, hit := slices.BinarySearch(one.outputs, beginning(a.Output)); hit {
				wanted[a.Output] = append(wanted[a.Output], a)
			}
		}
		if len(wanted) == 0 {
			continue
		}
		var whole *wire.MsgBlock
		if left--; left >= 0 && !c.pressed() {
			whole, err = c.whole(ctx, from, one.hash)
		}
		if whole != nil {
			c.match(one.hash, one.height, whole, wanted)
			continue
		}
		for _, some := range wanted {
			for _, a := range some {
				missed[a] = true
			}
		}
		if err != nil {
			return missed, err
		}
	}
	return missed, nil
}

// match notes what a block pays of what is wanted, and returns the beginnings of its outputs' hashes.
func (c *claimer) match(hash bitcoin.Hash, height uint32, whole *wire.MsgBlock, wanted map[[32]byte][]*awaited) []uint64 {
	var all []uint64
	for _, tx := range whole.Transactions {
		for vout, out := range tx.TxOut {
			output := rawtx.TxoHash(out.Value, out.PkScript)
			all = append(all, beginning(output))
			for _, a := range wanted[output] {
				if a.found == nil {
					a.found = c.paidBy(a, hash, height, tx, uint32(vout))
				}
			}
		}
	}
	slices.Sort(all)
	return all
}

// paidBy returns the payment by which an escrow can be claimed, nil if it cannot by this output: what
// its opener published need not be what it waits for.
func (c *claimer) paidBy(a *awaited, hash bitcoin.Hash, height uint32, tx *wire.MsgTx, vout uint32) *found {
	k, ok := c.chain.Contract(a.Escrow.Version)
	if !ok {
		return nil
	}
	at := chains.Condition{Kind: a.Escrow.Kind, Script: tx.TxOut[vout].PkScript, Sats: uint64(tx.TxOut[vout].Value), Nonce: a.Nonce, Confirmations: a.Confirmations}
	if at.Kind == chains.OnchainNonced {
		if n, err := rawtx.TxNonce(tx, false); err != nil || n != a.Nonce {
			return nil
		}
	}
	if lock, err := k.ClaimHash(at); err != nil || string(lock) != string(a.Escrow.ClaimHash) {
		return nil
	}
	return &found{hash, height, Payment{Chain: c.id, Escrow: a.Escrow.Data, TxID: tx.TxHash(), Vout: vout, Condition: at}}
}
