package solana

import (
	"sync"
	"time"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/internal/bounds"
	"github.com/swapper-go/swapper/internal/solana/rpc"
	"github.com/swapper-go/swapper/internal/solana/wire"
)

// hashes is what this process knows of block hashes: until which block height
// transactions that carry one can be executed. What it does not know it takes to be
// longer.
type hashes struct {
	ends *bounds.Cache[wire.Hash, uint64]
	met  *bounds.Cache[wire.Hash, uint64] // of others: the newest height when they were met
	sent *bounds.Cache[string, struct{}]  // ids of transactions that a node took

	mu     sync.Mutex
	height uint64 // of the newest block that was heard of
}

func newHashes() *hashes {
	const entries = 8192
	return &hashes{ends: bounds.NewCache[wire.Hash, uint64](entries), met: bounds.NewCache[wire.Hash, uint64](entries), sent: bounds.NewCache[string, struct{}](entries)}
}

// heightOf is the height of the block whose hash a node names.
func heightOf(l rpc.LatestBlockhash) uint64 {
	return l.LastValid - min(l.LastValid, wire.HashBlocks)
}

func (h *hashes) note(l rpc.LatestBlockhash) {
	h.end(l.Hash, l.LastValid)
	h.mu.Lock()
	defer h.mu.Unlock()
	h.height = max(h.height, heightOf(l))
}

// end remembers the last block height of a hash. The later of two counts: a node that
// names an early end would have a transaction called dead that is not.
func (h *hashes) end(hash wire.Hash, last uint64) {
	if known, ok := h.ends.Get(hash); !ok || last > known {
		h.ends.Add(hash, last)
	}
}

// meet remembers when a hash was first seen whose end is not known, as after a
// restart.
func (h *hashes) meet(hash wire.Hash) {
	if _, ok := h.ends.Get(hash); ok {
		return
	}
	if _, ok := h.met.Get(hash); ok {
		return
	}
	h.mu.Lock()
	height := h.height
	h.mu.Unlock()
	if height > 0 {
		h.met.Add(hash, height)
	}
}

// lateNodes is by how many blocks the node may have been behind that told how far the
// chain was when a hash was met.
const lateNodes = 200

// last returns the block height up to which transactions with a hash may be executed;
// false if nothing is known of it.
func (h *hashes) last(hash wire.Hash) (uint64, bool) {
	if end, ok := h.ends.Get(hash); ok {
		return end, true
	}
	met, ok := h.met.Get(hash)
	return met + wire.TxSlots + lateNodes, ok
}

// over reports whether no transaction with a hash can be executed after a block
// height.
func (h *hashes) over(hash wire.Hash, height uint64) bool {
	end, ok := h.last(hash)
	return ok && height > end
}

// excludes demands that transactions which replace others cannot be executed beside
// them: they must not carry the same block hash, unless they are the same to the byte,
// as one is that an LP has signed.
func excludes(plan chains.Plan, txs []chains.Signed) error {
	for i, tx := range txs {
		p, err := wire.ParseTx(tx.Raw)
		if err != nil {
			return err
		}
		for _, old := range plan.Replaces {
			if old.From != tx.From || old.ID == tx.ID {
				continue
			}
			o, err := wire.ParseTx(old.Raw)
			if err == nil && o.Blockhash == p.Blockhash && old.Step == tx.Step {
				return fault.Invalid(fieldOf(i), "has the block hash of the pending transaction that it replaces: sign the one with the newer block hash")
			}
		}
	}
	return nil
}

// latest is the newest slot that was read lately. It spares a quote the trip that
// would read it once more.
type latest struct {
	mu   sync.Mutex
	slot wire.SlotAt
}

func (l *latest) note(slot uint64, now time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if known, ok := l.slot.Now(now); !ok || slot >= known {
		l.slot = wire.SlotAt{Slot: slot, Time: now, Runs: true}
	}
}

// get returns the newest slot, reckoned on from what was read; false if that is too
// long ago.
func (l *latest) get(now time.Time) (uint64, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.slot.Slot == 0 {
		return 0, false
	}
	return l.slot.Now(now)
}
