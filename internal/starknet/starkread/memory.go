package starkread

import (
	"time"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/internal/lru"
	"github.com/swapper-go/swapper/internal/settle"
	"github.com/swapper-go/swapper/internal/starknet/wire"
)

// buried is how many blocks below the newest one something must lie to be remembered and
// never asked for again: an hour and more. What is accepted on L2 counts as final, and
// the sequencer has undone minutes of it before.
const buried = 1800

// memory is what was read before and stays true, and where to look first. Everything is
// bounded and can be read again. What only a node says is kept once it was settled twice.
type memory struct {
	escrows     *lru.Cache[wire.Felt, *chains.Escrow]        // by escrow hash, which is theirs
	opened      *settle.Memory[wire.Felt, opening]           // by escrow hash
	ended       *settle.Memory[wire.Felt, chains.EscrowFact] // by escrow hash
	likely      *lru.Cache[wire.Felt, likely]                // by escrow hash; not believed, but worth asking about at once
	unopened    *settle.Memory[search, uint64]               // from which height on to search
	withdrawals *settle.Memory[withdrawalKey, chains.WithdrawalFact]
	unpaid      *settle.Memory[withdrawalKey, uint64]       // from which height on to search
	headers     *lru.Cache[bitcoin.Hash, wire.StoredHeader] // by Bitcoin block; whether the relay still has it is asked
	tips        *lru.Cache[wire.Felt, wire.StoredHeader]    // by commitment, which is their hash
}

func newMemory() memory {
	const entries = 16384
	return memory{
		escrows: lru.New[wire.Felt, *chains.Escrow](entries), likely: lru.New[wire.Felt, likely](entries),
		opened: settle.NewMemory[wire.Felt](entries, settle.Equal[opening]), ended: settle.NewMemory[wire.Felt](entries, settle.SameEnd),
		unopened: settle.NewMemory[search](entries, settle.Later), unpaid: settle.NewMemory[withdrawalKey](entries, settle.Later),
		withdrawals: settle.NewMemory[withdrawalKey](entries, settle.SamePayout), headers: lru.New[bitcoin.Hash, wire.StoredHeader](1024),
		tips: lru.New[wire.Felt, wire.StoredHeader](64),
	}
}

// opening is what stays true of an escrow once its opening is buried.
type opening struct {
	tx string
	at chains.Block
}

// likely are the heights at which an escrow was seen to be opened and ended, 0 for what
// has not happened.
type likely struct{ opened, ended uint64 }

// isBuried reports whether what happened at a height can be remembered.
func isBuried(height uint64, head chains.Block) bool {
	return height != 0 && height+buried <= head.Height
}

// searchedTo is the height from which on a search has to go on that found nothing up to
// the newest block.
func searchedTo(from uint64, head chains.Block) uint64 {
	return max(from, head.Height-min(buried, head.Height))
}

// noteEscrow keeps the parts of a fact that stay. asked is when the node was asked.
func (m *memory) noteEscrow(hash wire.Felt, f chains.EscrowFact, head chains.Block, asked time.Time, settled bool) {
	if f.Err != nil {
		return
	}
	if isBuried(f.Opened.Height, head) {
		m.opened.Note(hash, opening{f.InitTx, f.Opened}, asked, settled)
	} else if settled {
		m.opened.Forget(hash)
	}
	if isBuried(f.Finished.Height, head) {
		f.Escrow = nil
		m.ended.Note(hash, f, asked, settled)
	} else if settled {
		m.ended.Forget(hash)
	}
	l := likely{f.Opened.Height, f.Finished.Height}
	if _, kept := m.opened.Kept(hash); kept {
		l.opened = 0
	}
	if _, had := m.likely.Get(hash); had || l != (likely{}) {
		m.likely.Add(hash, l)
	}
}
