package relay

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/internal/btc/rawtx"
)

// CheckProof reports whether a merkle proof leads from a transaction, serialised with or
// without witness, to a header. What a relay says of the header is not part of it. The code of
// its errors is [fault.Upstream]: proofs come from the Bitcoin backend.
func CheckProof(raw []byte, proof bitcoin.MerkleProof, header bitcoin.Header) error {
	tx, err := rawtx.Decode(raw)
	if err != nil {
		return err
	}
	if id := tx.TxHash(); id != proof.TxID {
		return fault.New(fault.Upstream, "the merkle proof is for transaction %s instead of %s", proof.TxID, id)
	}
	if err := proof.Verify(header); err != nil {
		return fault.New(fault.Upstream, "merkle proof of %s: %w", proof.TxID, err)
	}
	return nil
}

// Kept are the stored forms of the headers that a [Relay] returned. It is safe for concurrent
// use.
type Kept[S any] struct {
	mu   sync.Mutex
	byID map[bitcoin.Hash]S
}

// Keep keeps the stored form of h, and returns h.
func (k *Kept[S]) Keep(stored S, h Header) Header {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.byID == nil {
		k.byID = map[bitcoin.Hash]S{}
	}
	k.byID[h.Header.Hash()] = stored
	return h
}

// StoredForm returns the stored form of a header that was kept.
func (k *Kept[S]) StoredForm(h Header) (stored S, ok bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	stored, ok = k.byID[h.Header.Hash()]
	return stored, ok
}

// Forks says for each batch of a plan which fork it belongs to, for relays that keep forks by
// sender and number.
type Forks struct {
	Rand   io.Reader
	number uint64
}

// Of returns whether a batch is a short fork, and the number of its fork if it is one that
// lasts over several transactions, else 0. The number is drawn once; it need not be unique.
func (f *Forks) Of(op Op) (short bool, number uint64) {
	switch op {
	case SaveShortFork:
		return true, 0
	case SaveNewFork, SaveFork:
		if f.number == 0 {
			f.number = 1 // 0 would mean none
			var b [8]byte
			if _, err := io.ReadFull(f.Rand, b[2:]); err == nil {
				f.number = max(1, binary.BigEndian.Uint64(b[:]))
			}
		}
		return false, f.number
	}
	return false, 0
}

// Syncer finds the headers of blocks as a relay stores them, which proofs contain, and plans the
// transactions by which the relay gets those that it does not have. The headers that it will have
// then are computed here and used in proofs at once, so that all goes out in one row. S is a
// stored header, T a transaction to the relay.
type Syncer[S, T any] struct {
	Chain   string // the smart chain, as errors name it
	Bitcoin proofSource
	Network bitcoin.Network
	Rules   Rules

	// Header is the header in its usual form.
	Header func(S) bitcoin.Header
	// Find looks for a block in the relay's main chain, and says how far that goes.
	Find func(ctx context.Context, block bitcoin.Hash, height uint32) (stored S, tip uint32, found bool, err error)
	// View is the relay as it is asked for a plan. It keeps what it returns.
	View func(ctx context.Context) (View[S], error)
	// Submit makes the transaction of a batch on top of a header that the relay has by then, and
	// returns the headers as it stores them.
	Submit func(b Batch, on S) (T, []S, error)

	// Txs are the transactions that come before the proofs.
	Txs     []T
	planned map[uint32]S // by height, after Txs; nil until Settled
}

// View is a relay that keeps the stored forms of the headers that it returns.
type View[S any] interface {
	Relay
	StoredForm(Header) (S, bool)
}

// Settled reports whether the plan, if there is one, is made.
func (s *Syncer[S, T]) Settled() bool { return s.planned != nil }

// Each calls prove for each of n proofs, of which the last one needs the highest header, so that
// one plan serves all: for the last one first, then for the others, several at once.
func (s *Syncer[S, T]) Each(ctx context.Context, n, atOnce int, prove func(ctx context.Context, i int) error) error {
	if err := prove(ctx, n-1); err != nil {
		return err
	}
	if s.planned == nil {
		s.planned = map[uint32]S{}
	}
	g, inner := errgroup.WithContext(ctx)
	g.SetLimit(atOnce)
	for i := range n - 1 {
		g.Go(func() error { return prove(inner, i) })
	}
	return g.Wait()
}

// Prove returns the stored form of the header of a transaction's block and the proof that the
// transaction is in it, which fit. The relay is brought to the height required.
func (s *Syncer[S, T]) Prove(ctx context.Context, raw []byte, id, block bitcoin.Hash, height, required uint32) (stored S, proof bitcoin.MerkleProof, err error) {
	g, inner := errgroup.WithContext(ctx)
	g.Go(func() (err error) {
		stored, err = s.StoredHeader(inner, block, height, required)
		return err
	})
	g.Go(func() (err error) {
		if proof, err = s.Bitcoin.MerkleProof(inner, id, block); err != nil {
			err = fmt.Errorf("merkle proof of %s: %w", id, err)
		}
		return err
	})
	if err := g.Wait(); err != nil {
		return stored, proof, err
	}
	return stored, proof, CheckProof(raw, proof, s.Header(stored))
}

// ProveTx is [Syncer.Prove] for a transaction that must have so many confirmations, which the
// relay is brought up to. raw is the transaction without its witnesses.
func (s *Syncer[S, T]) ProveTx(ctx context.Context, tx *bitcoin.Tx, confirmations uint32) (raw []byte, stored S, proof bitcoin.MerkleProof, err error) {
	if tx.Confirmations < confirmations {
		return nil, stored, proof, fault.New(fault.InvalidState, "transaction %s has %d of the required %d confirmations", tx.ID, tx.Confirmations, confirmations)
	}
	if raw, err = rawtx.Strip(tx.Msg); err != nil {
		return nil, stored, proof, err
	}
	stored, proof, err = s.Prove(ctx, raw, tx.ID, tx.BlockHash, tx.Height, tx.Height+confirmations-1)
	return raw, stored, proof, err
}

// headerTimeSlack is by how much a Bitcoin block's time may be ahead of the clocks of those who
// store its header, in seconds.
const headerTimeSlack = 3 * 60 * 60

// StoredSince is the earliest time, in Unix seconds, at which a relay can have stored a header.
func StoredSince(h bitcoin.Header) int64 { return int64(h.Time) - headerTimeSlack }

// StoredHeader returns the header of a block in its stored form: the relay's if it has it, else
// that of a plan that brings the relay to the height required. Calls that are made at the same
// time must come from [Syncer.Each].
func (s *Syncer[S, T]) StoredHeader(ctx context.Context, block bitcoin.Hash, height, required uint32) (none S, err error) {
	if h, ok := s.planned[height]; ok {
		return h, s.is(h, block)
	}
	h, tip, found, err := s.Find(ctx, block, height)
	switch {
	case err != nil:
		return none, err
	case found && (tip >= required || s.planned != nil):
		return h, nil
	case s.planned == nil:
		if err := s.plan(ctx, required); err != nil {
			return none, err
		}
		if h, ok := s.planned[height]; ok {
			return h, s.is(h, block)
		}
	}
	if !found {
		return none, fault.New(fault.Upstream, "the Bitcoin relay does not have block %s", block)
	}
	return h, nil // only confirmations were missing
}

func (s *Syncer[S, T]) is(h S, block bitcoin.Hash) error {
	if s.Header(h).Hash() != block {
		return fault.New(fault.Upstream, "block %s is not in Bitcoin's best chain", block)
	}
	return nil
}

// plan brings the relay to the given height.
func (s *Syncer[S, T]) plan(ctx context.Context, until uint32) error {
	view, err := s.View(ctx)
	if err != nil {
		return err
	}
	plan, err := syncUp(ctx, view, s.Bitcoin, s.Network, s.Rules, until)
	if errors.Is(err, bitcoin.ErrNotFound) {
		return fault.New(fault.Upstream, "the Bitcoin relay on %s is not initialised, or shares no block with Bitcoin's best chain", s.Chain)
	}
	if err != nil {
		return err
	}
	if plan.Top.Header.Height < until {
		return fault.New(fault.Upstream, "Bitcoin is at height %d, but the proof requires height %d", plan.Top.Header.Height, until)
	}
	on, ok := view.StoredForm(plan.Base)
	if !ok {
		return fault.New(fault.Upstream, "the relay's header %s is unknown", plan.Base.Header.Hash())
	}
	s.planned = map[uint32]S{}
	for _, b := range plan.Batches {
		tx, stored, err := s.Submit(b, on)
		if err != nil {
			return err
		}
		s.Txs = append(s.Txs, tx)
		for _, h := range stored {
			s.planned[s.Header(h).Height] = h
		}
		on = stored[len(stored)-1]
	}
	return nil
}
