package read

import (
	"crypto/sha256"
	"log/slog"
	"reflect"
	"time"

	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/internal/bounds"
	"github.com/swapper-go/swapper/internal/settle"
	"github.com/swapper-go/swapper/internal/solana/rpc"
	"github.com/swapper-go/swapper/internal/solana/wire"
)

// Reader reads one deployment of the programs. It is safe for concurrent use.
type Reader struct {
	Programs wire.Programs
	ledger   *Ledger
	memory   memory
}

// Ledger is what all readers of one cluster share: its nodes, and the blocks that were
// read. It is safe for concurrent use.
type Ledger struct {
	Node     rpc.Node
	Now      func() time.Time
	Log      *slog.Logger
	blocks   *bounds.Cache[uint64, rpc.Block] // by slot
	prices   prices
	ahead    settle.Ahead // of the chain: the cursor of events
	pageSize int          // transactions in one page of a history
}

// NewLedger returns a ledger that nothing is known of.
func NewLedger(node rpc.Node, now func() time.Time, log *slog.Logger) *Ledger {
	return &Ledger{Node: node, Now: now, Log: log, blocks: bounds.NewCache[uint64, rpc.Block](4096), pageSize: rpc.SignaturesPerCall}
}

// New returns a reader of a deployment.
func New(p wire.Programs, l *Ledger) *Reader {
	return &Reader{Programs: p, ledger: l, memory: newMemory()}
}

// alone reports whether there is one node, whose word is all that can be had.
func (l *Ledger) alone() bool {
	n, ok := l.Node.(interface{ Several() bool })
	return !ok || !n.Several()
}

// memory is what was read before and stays true. Everything is bounded and can be read
// again. What only a node says is kept once it was settled twice.
type memory struct {
	addresses *bounds.Cache[[32]byte, wire.Key]              // escrow accounts, by payment hash: they take a while to derive
	txs       *settle.Memory[txKey, []wire.Occurrence]       // what happened in a transaction, newest first
	opened    *settle.Memory[[32]byte, settle.Opening]       // by [dataKey], of escrows that are open: their final opening
	headers   *bounds.Cache[bitcoin.Hash, wire.StoredHeader] // whether the relay still has it is asked
}

func newMemory() memory {
	const entries = 16384
	return memory{
		addresses: bounds.NewCache[[32]byte, wire.Key](entries), txs: settle.NewMemory[txKey](4*entries, sameOccurrences),
		opened:  settle.NewMemory[[32]byte](entries, settle.Equal[settle.Opening]),
		headers: bounds.NewCache[bitcoin.Hash, wire.StoredHeader](1024),
	}
}

func sameOccurrences(before, now []wire.Occurrence) bool { return reflect.DeepEqual(before, now) }

// txKey names an execution of a transaction: where the chain takes another course, the
// same transaction is executed in another slot.
type txKey struct {
	id   wire.Signature
	slot uint64
}

// dataKey names an escrow by all that it was agreed on. Its hash does not: anybody can
// open another escrow with the same hash.
func dataKey(d *wire.SwapData) [32]byte {
	h := sha256.New()
	h.Write(d.Terms().Bytes())
	for _, k := range []wire.Key{d.ProgramID, d.Offerer, d.Claimer, d.Token} {
		h.Write(k[:])
	}
	if d.ClaimerATA != nil {
		h.Write(d.ClaimerATA[:])
	}
	var n [16]byte
	for i := range 8 {
		n[i], n[8+i] = byte(d.SecurityDeposit>>(8*i)), byte(d.ClaimerBounty>>(8*i))
	}
	h.Write(n[:])
	return [32]byte(h.Sum(nil))
}

// escrowAddress is [wire.Programs.Escrow], remembered.
func (r *Reader) escrowAddress(paymentHash [32]byte) wire.Key {
	if k, ok := r.memory.addresses.Get(paymentHash); ok {
		return k
	}
	k := r.Programs.Escrow(paymentHash)
	r.memory.addresses.Add(paymentHash, k)
	return k
}
