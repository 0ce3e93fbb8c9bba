package read

import (
	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/internal/bounds"
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
	escrows     *bounds.Cache[wire.Felt, *chains.Escrow] // by escrow hash, which is theirs
	known       *settle.EscrowMemory[wire.Felt]          // by escrow hash
	unopened    *settle.Memory[search, uint64]           // from which height on to search
	withdrawals *settle.WithdrawalMemory[withdrawalKey]
	headers     *bounds.Cache[bitcoin.Hash, wire.StoredHeader] // by Bitcoin block; whether the relay still has it is asked
	tips        *bounds.Cache[wire.Felt, wire.StoredHeader]    // by commitment, which is their hash
}

func newMemory() memory {
	const entries = 16384
	return memory{
		escrows: bounds.NewCache[wire.Felt, *chains.Escrow](entries), known: settle.NewEscrowMemory[wire.Felt](entries),
		unopened: settle.NewMemory[search](entries, settle.Later), withdrawals: settle.NewWithdrawalMemory[withdrawalKey](entries),
		headers: bounds.NewCache[bitcoin.Hash, wire.StoredHeader](1024),
		tips:    bounds.NewCache[wire.Felt, wire.StoredHeader](64),
	}
}

// buriedBelow returns what reports whether what happened at a height can be remembered.
func buriedBelow(head chains.Block) func(height uint64) bool {
	return func(height uint64) bool { return height != 0 && height+buried <= head.Height }
}

// searchedTo is the height from which on a search has to go on that found nothing up to
// the newest block.
func searchedTo(from uint64, head chains.Block) uint64 {
	return max(from, head.Height-min(buried, head.Height))
}
