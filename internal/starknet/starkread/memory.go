package starkread

import (
	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/internal/lru"
	"github.com/swapper-go/swapper/internal/starknet/wire"
)

// buried is how many blocks below the newest one something must lie to be remembered and
// never asked for again: an hour and more. What is accepted on L2 counts as final, and
// the sequencer has undone minutes of it before.
const buried = 1800

// memory is what was read before and stays true, and where to look first. Everything is
// bounded and can be read again.
type memory struct {
	escrows     *lru.Cache[wire.Felt, *chains.Escrow]    // by escrow hash, which is theirs
	opened      *lru.Cache[wire.Felt, opening]           // by escrow hash
	ended       *lru.Cache[wire.Felt, chains.EscrowFact] // by escrow hash
	likely      *lru.Cache[wire.Felt, likely]            // by escrow hash; not believed, but worth asking about at once
	unopened    *lru.Cache[search, uint64]               // from which height on to search
	withdrawals *lru.Cache[withdrawalKey, chains.WithdrawalFact]
	unpaid      *lru.Cache[withdrawalKey, uint64]           // from which height on to search
	headers     *lru.Cache[bitcoin.Hash, wire.StoredHeader] // by Bitcoin block; whether the relay still has it is asked
	tips        *lru.Cache[wire.Felt, wire.StoredHeader]    // by commitment, which is their hash
}

func newMemory() memory {
	const entries = 16384
	return memory{
		escrows: lru.New[wire.Felt, *chains.Escrow](entries), opened: lru.New[wire.Felt, opening](entries), ended: lru.New[wire.Felt, chains.EscrowFact](entries),
		likely: lru.New[wire.Felt, likely](entries), unopened: lru.New[search, uint64](entries), withdrawals: lru.New[withdrawalKey, chains.WithdrawalFact](entries),
		unpaid: lru.New[withdrawalKey, uint64](entries), headers: lru.New[bitcoin.Hash, wire.StoredHeader](1024),
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
func isBuried(height uint64, heads chains.Heads) bool {
	return height != 0 && height+buried <= heads.Latest.Height
}

// searchedTo is the height from which on a search has to go on that found nothing up to
// the newest block.
func searchedTo(from uint64, heads chains.Heads) uint64 {
	return max(from, heads.Latest.Height-min(buried, heads.Latest.Height))
}

// noteEscrow keeps the parts of a fact that stay.
func (m *memory) noteEscrow(hash wire.Felt, f chains.EscrowFact, heads chains.Heads) {
	if f.Err != nil {
		return
	}
	var l likely
	if isBuried(f.Opened.Height, heads) {
		m.opened.Add(hash, opening{f.InitTx, f.Opened})
	} else {
		l.opened = f.Opened.Height
	}
	if isBuried(f.Finished.Height, heads) {
		f.Escrow = nil
		m.ended.Add(hash, f)
	} else {
		l.ended = f.Finished.Height
	}
	if _, had := m.likely.Get(hash); had || l != (likely{}) {
		m.likely.Add(hash, l)
	}
}
