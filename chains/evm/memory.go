package evm

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/ethereum/go-ethereum/common"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/internal/bounds"
	"github.com/swapper-go/swapper/internal/evm/read"
	"github.com/swapper-go/swapper/internal/evm/wire"
	"github.com/swapper-go/swapper/internal/settle"
)

// buried is how many blocks below the newest final one something must lie to be
// remembered and never asked for again. Where a chain's newest block counts as
// final, a reorganisation can still undo it.
const buried = 64

// memory is what the chain cannot change any more, and where to look first, by
// contract set. Everything is bounded and can be asked for again. What only a node says is
// kept once it was settled twice.
type memory struct {
	params      *bounds.Cache[common.Hash, wire.VaultParams]   // by commitment, which is their hash
	escrows     *bounds.Cache[common.Hash, *chains.Escrow]     // by escrow hash, which is theirs
	parsed      *bounds.Cache[string, wire.SwapData]           // by their whole text
	decoded     *bounds.Cache[string, chains.Escrow]           // by the whole text of an LP
	shown       *bounds.Cache[string, json.RawMessage]         // what the API shows of it, by its whole text
	inits       *bounds.Cache[initKey, []wire.Call]            // never changed
	known       *settle.EscrowMemory[common.Hash]              // by escrow hash
	headers     *bounds.Cache[bitcoin.Hash, wire.StoredHeader] // by Bitcoin block; whether the relay still has it is asked
	unopened    *settle.Memory[string, uint64]                 // by [search.key]: from which height on to search
	withdrawals *settle.WithdrawalMemory[string]               // by [withdrawalKey]
}

func newMemory() memory {
	const entries = 16384
	return memory{
		parsed: bounds.NewCache[string, wire.SwapData](2048), decoded: bounds.NewCache[string, chains.Escrow](256),
		shown: bounds.NewCache[string, json.RawMessage](2048), inits: bounds.NewCache[initKey, []wire.Call](2048),
		params: bounds.NewCache[common.Hash, wire.VaultParams](4096), escrows: bounds.NewCache[common.Hash, *chains.Escrow](entries),
		known: settle.NewEscrowMemory[common.Hash](entries), unopened: settle.NewMemory[string](entries, settle.Later),
		headers: bounds.NewCache[bitcoin.Hash, wire.StoredHeader](1024), withdrawals: settle.NewWithdrawalMemory[string](entries),
	}
}

// parsedLen is the longest text of an escrow that is kept; usual ones have about 1 kB.
const parsedLen = 2048

// swapDataOf is [evmwire.SwapDataOf] for an escrow that is looked at many times. Only its
// Data counts, and is what it is kept by.
func (m *memory) swapDataOf(e chains.Escrow) (wire.SwapData, error) {
	if len(e.Data) > parsedLen {
		return wire.SwapDataOf(e)
	}
	text := string(e.Data)
	if s, ok := m.parsed.Get(text); ok {
		return s, nil
	}
	s, err := wire.SwapDataOf(e)
	if err == nil {
		m.parsed.Add(text, s)
	}
	return s, err
}

// noteText keeps the escrow that was written as a text.
func (m *memory) noteText(text []byte, s wire.SwapData) {
	if len(text) <= parsedLen {
		m.parsed.Add(string(text), s)
	}
}

// initKey is all that the calls follow from that open an escrow.
type initKey struct {
	escrow string // its whole text
	sender common.Address
	auth   chains.Auth
}

// initCalls is [evmwire.Deployment.Init] for an escrow that is shown many times before it is
// opened. s is what its text says.
func (k *contracts) initCalls(e chains.Escrow, s wire.SwapData, sender common.Address, auth chains.Auth) ([]wire.Call, error) {
	if len(e.Data) > parsedLen {
		return k.Init(s, sender, auth)
	}
	key := initKey{string(e.Data), sender, auth}
	if calls, ok := k.memory.inits.Get(key); ok {
		return slices.Clone(calls), nil
	}
	calls, err := k.Init(s, sender, auth)
	if err == nil {
		k.memory.inits.Add(key, slices.Clone(calls))
	}
	return calls, err
}

// buriedBelow returns what reports whether what happened at a height can be remembered.
func buriedBelow(final chains.Block) func(height uint64) bool {
	return func(height uint64) bool { return height != 0 && height+buried <= final.Height }
}

// searchedTo is the height from which on a search has to go on that found
// nothing up to the newest block.
func searchedTo(from uint64, heads chains.Heads) uint64 {
	return max(from, heads.Final.Height-min(buried, heads.Final.Height))
}

// noteVaults keeps what vaults were opened with.
func (m *memory) noteVaults(reads []read.VaultRead) {
	for _, r := range reads {
		if r.Err != nil || !r.Vault.Opened {
			continue
		}
		if hash, err := r.Vault.Params.Commitment(); err == nil {
			m.params.Add(hash, r.Vault.Params)
		}
	}
}

func withdrawalKey(l wire.WithdrawalLookup, from uint64) string {
	return fmt.Sprintf("%x %s %x %x %d", l.Vault.Owner, l.Vault.ID, l.Recipient, l.TxID[:], from)
}
