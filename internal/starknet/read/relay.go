package read

import (
	"context"
	"fmt"
	"iter"
	"slices"

	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/internal/starknet/rpc"
	"github.com/swapper-go/swapper/internal/starknet/wire"
)

// RelayTip returns the height up to which the relay has Bitcoin's headers. It takes one
// round trip. With several nodes it is what most of them say, the higher of two:
// watchtowers are paid for what the relay lacks.
func (r *Reader) RelayTip(ctx context.Context) (uint32, error) {
	if r.ledger.Nodes.Several() {
		var tips []uint32
		err := r.ledger.Nodes.Each(ctx, r.tipQuestions, func(q []rpc.Request) {
			if tip, err := readTip(q); err == nil {
				tips = append(tips, tip)
			}
		})
		if err == nil && len(tips) > 0 {
			slices.Sort(tips)
			return tips[len(tips)/2], nil
		}
	}
	return r.relayTip(ctx)
}

// relayTip is the height that one node says.
func (r *Reader) relayTip(ctx context.Context) (uint32, error) {
	q := r.tipQuestions()
	if err := r.ledger.Nodes.Batch(ctx, q); err != nil {
		return 0, err
	}
	tip, err := readTip(q)
	if err == nil {
		r.ledger.heads(q[0].Result.(*rpc.Head))
	}
	return tip, err
}

func (r *Reader) tipQuestions() []rpc.Request {
	return []rpc.Request{rpc.HeadRequest(new(rpc.Head)), r.call(r.BtcRelay, wire.EntryBlockHeight, nil, rpc.Latest, new(rpc.Felts))}
}

// readTip takes the answers to tipQuestions.
func readTip(q []rpc.Request) (uint32, error) {
	for _, one := range q {
		if one.Err != nil {
			return 0, upstream(one)
		}
	}
	return relayHeight(*q[1].Result.(*rpc.Felts))
}

func relayHeight(answer []wire.Felt) (uint32, error) {
	tip, err := wire.ReadRelayNumber(answer)
	if err != nil {
		return 0, fault.New(fault.Upstream, "height of the relay: %w", err)
	}
	return tip, nil
}

// Header finds the stored header of a Bitcoin block that the relay's main chain holds, and
// the height of the relay's tip; found is false if the relay does not have it, any more
// or yet. The tip may be too low for the confirmations that a claim needs. Blocks of
// Starknet from before notBefore, Unix seconds, are not searched; 0 searches all back to
// the relay's deployment.
//
// It takes one round trip for a header that was read before. For others it takes two,
// one more if nothing was read from this network yet, and one for each stretch of blocks
// further back, each four times as long as the one before. A header is what the relay's
// commitment hashes to; that the relay has it now only the node says (protocol:
// chain-starknet.md §14.3, §20.15).
func (r *Reader) Header(ctx context.Context, block bitcoin.Hash, notBefore int64) (header wire.StoredHeader, tip uint32, found bool, err error) {
	if h, ok := r.memory.headers.Get(block); ok {
		tip, held, err := r.holds(ctx, h)
		if err != nil {
			return wire.StoredHeader{}, 0, false, err
		}
		if held[0] {
			return h, tip, true, nil
		}
	}
	keys := []wire.Felt{wire.BlockHashPoseidon(block)}
	asked := false
	for headers, err := range r.stored(ctx, nil, keys, notBefore) {
		if err != nil {
			return wire.StoredHeader{}, tip, false, err
		}
		headers = slices.DeleteFunc(headers, func(h wire.StoredHeader) bool { return h.Header.Hash() != block })
		if len(headers) == 0 {
			continue
		}
		// It may have been stored on several branches.
		var held []bool
		if tip, held, err = r.holds(ctx, headers...); err != nil {
			return wire.StoredHeader{}, tip, false, err
		}
		asked = true
		if i := slices.Index(held, true); i >= 0 {
			r.memory.headers.Add(block, headers[i])
			return headers[i], tip, true, nil
		}
	}
	if !asked {
		tip, err = r.relayTip(ctx)
	}
	return wire.StoredHeader{}, tip, false, err
}

// holds asks, in one round trip, how high the relay's tip is and which headers its main
// chain has.
func (r *Reader) holds(ctx context.Context, headers ...wire.StoredHeader) (tip uint32, held []bool, err error) {
	var head rpc.Head
	var height rpc.Felts
	commits := make([]rpc.Felts, len(headers))
	requests := []rpc.Request{rpc.HeadRequest(&head), r.call(r.BtcRelay, wire.EntryBlockHeight, nil, rpc.Latest, &height)}
	for i, h := range headers {
		requests = append(requests, r.call(r.BtcRelay, wire.EntryCommitHash, []wire.Felt{wire.FeltOf(uint64(h.Header.Height))}, rpc.Latest, &commits[i]))
	}
	if err := r.ledger.Nodes.Batch(ctx, requests); err != nil {
		return 0, nil, err
	}
	for _, one := range requests[:2] {
		if one.Err != nil {
			return 0, nil, upstream(one)
		}
	}
	r.ledger.heads(&head)
	if tip, err = relayHeight(height); err != nil {
		return 0, nil, err
	}
	held = make([]bool, len(headers))
	for i, h := range headers {
		switch one := requests[i+2]; {
		case rpc.IsReverted(one.Err): // above the tip
			continue
		case one.Err != nil:
			return 0, nil, upstream(one)
		}
		commit, err := wire.ReadCommitHash(commits[i])
		if err != nil {
			return 0, nil, fault.New(fault.Upstream, "header %d of the relay: %w", h.Header.Height, err)
		}
		held[i] = commit == h.CommitHash()
	}
	return tip, held, nil
}

// TipHeader returns the stored header of the relay's tip. It takes one round trip, and
// those of a search as [Reader.Header] makes it where the tip was not read before.
// [bitcoin.ErrNotFound] says that the relay was never initialised.
func (r *Reader) TipHeader(ctx context.Context) (wire.StoredHeader, error) {
	var head rpc.Head
	var answer rpc.Felts
	requests := []rpc.Request{rpc.HeadRequest(&head), r.call(r.BtcRelay, wire.EntryTipCommitHash, nil, rpc.Latest, &answer)}
	if err := rpc.AskAll(ctx, r.ledger.Nodes, requests); err != nil {
		return wire.StoredHeader{}, err
	}
	r.ledger.heads(&head)
	commit, err := wire.ReadCommitHash(answer)
	if err != nil {
		return wire.StoredHeader{}, fault.New(fault.Upstream, "tip of the relay: %w", err)
	}
	if commit.IsZero() {
		return wire.StoredHeader{}, bitcoin.ErrNotFound
	}
	if h, ok := r.memory.tips.Get(commit); ok {
		return h, nil
	}
	for headers, err := range r.stored(ctx, []wire.Felt{commit}, nil, 0) {
		if err != nil {
			return wire.StoredHeader{}, err
		}
		for _, h := range headers {
			if h.CommitHash() == commit {
				r.memory.tips.Add(commit, h)
				return h, nil
			}
		}
	}
	return wire.StoredHeader{}, fault.New(fault.Upstream, "the node does not have the event by which the relay stored its tip")
}

// LatestHeader returns the newest header that the relay's main chain holds and for which
// inMain says so of Bitcoin's. It takes two round trips where one was stored lately, one
// more if nothing was read from this network yet, and two for each stretch of blocks
// further back, as in [Reader.Header]. [bitcoin.ErrNotFound] says that there is none.
func (r *Reader) LatestHeader(ctx context.Context, inMain func(context.Context, bitcoin.Hash) (bool, error)) (wire.StoredHeader, error) {
	for headers, err := range r.stored(ctx, nil, nil, 0) {
		if err != nil {
			return wire.StoredHeader{}, err
		}
		for some := range slices.Chunk(headers, holdsMost) {
			_, held, err := r.holds(ctx, some...)
			if err != nil {
				return wire.StoredHeader{}, err
			}
			for i, h := range some {
				if !held[i] {
					continue
				}
				r.memory.headers.Add(h.Header.Hash(), h)
				in, err := inMain(ctx, h.Header.Hash())
				if err != nil {
					return wire.StoredHeader{}, fmt.Errorf("block %s: %w", h.Header.Hash(), err)
				}
				if in {
					return h, nil
				}
			}
		}
	}
	return wire.StoredHeader{}, bitcoin.ErrNotFound
}

// holdsMost is how many headers the relay is asked for together.
const holdsMost = 32

// Stretches of a search that goes backwards.
const (
	firstStretch = 2000 // blocks
	growth       = 4    // each is so many times as long as the one before
)

// stored yields the headers that the relay stored, newest first, a stretch of blocks at a
// time: of some commitments, of some blocks (their hashes as events name them), or all.
// Only what hashes to its commitment comes out.
func (r *Reader) stored(ctx context.Context, commits, blocks []wire.Felt, notBefore int64) iter.Seq2[[]wire.StoredHeader, error] {
	filter := rpc.Filter{From: r.BtcRelay.Address, Keys: [][]wire.Felt{{wire.SelectorStored, wire.SelectorStoredFork}, commits, blocks}}
	return func(yield func([]wire.StoredHeader, error) bool) {
		last, err := r.ledger.height(ctx)
		if err != nil {
			yield(nil, err)
			return
		}
		top := true
		for size := uint64(firstStretch); ; size *= growth {
			f := filter
			f.Blocks = rpc.Range{First: max(r.BtcRelay.Height, last-min(last, size-1)), Last: last}
			if f.Blocks.First > last {
				f.Blocks.First = last
			}
			if top { // blocks have come since
				f.Blocks.Last = rpc.Newest
			}
			top = false
			s := newScan(f)
			var begin rpc.Block
			var along []rpc.Request
			if notBefore > 0 {
				along = append(along, rpc.BlockRequest(rpc.AtHeight(f.Blocks.First), &begin))
			}
			err := r.ledger.run(ctx, along, []*scan{s})
			if err == nil {
				err = s.err
			}
			if err != nil {
				yield(nil, err)
				return
			}
			var headers []wire.StoredHeader
			for _, e := range slices.Backward(s.found) {
				if said, err := r.DecodeLog(e.Log); err == nil {
					if h, ok := said.(wire.StoredHeaderEvent); ok {
						headers = append(headers, h.Header)
					}
				}
			}
			if !yield(headers, nil) {
				return
			}
			if f.Blocks.First <= r.BtcRelay.Height || notBefore > 0 && along[0].Err == nil && begin.Time < notBefore {
				return
			}
			last = f.Blocks.First - 1
		}
	}
}

// height returns a height that the chain had lately. It takes one round trip if nothing
// was read yet.
func (l *Ledger) height(ctx context.Context) (uint64, error) {
	if h := l.tip.Load(); h > 0 {
		return h, nil
	}
	heads, err := l.Heads(ctx)
	return heads.Latest.Height, err
}
