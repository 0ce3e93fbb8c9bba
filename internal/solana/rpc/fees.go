package rpc

import (
	"fmt"

	"github.com/swapper-go/swapper/internal/solana/wire"
)

// RecentFee is the least that a transaction paid in a slot to write to some accounts.
type RecentFee struct {
	Slot uint64 `json:"slot"`
	Fee  uint64 `json:"prioritizationFee"` // micro-lamports for a compute unit
}

// FeeAccounts is how many accounts [RecentFeesRequest] takes.
const FeeAccounts = 128

// RecentFeesRequest asks what was paid in the last slots to write to all of some
// accounts.
func RecentFeesRequest(accounts []wire.Key, result *[]RecentFee) Request {
	return Request{Method: "getRecentPrioritizationFees", Params: []any{texts(accounts)}, Result: result}
}

// feeLevels is what a service estimates that it takes, in micro-lamports for a compute
// unit, by the name of the level.
type feeLevels map[string]float64

// FeeLevelsRequest asks a service for its estimate, which most nodes do not have
// (protocol: chain-solana.md §12). level must be among those of the answer.
func FeeLevelsRequest(accounts []wire.Key, level string, result *FeeEstimate) Request {
	ask := options{"accountKeys": texts(accounts), "options": options{"includeAllPriorityFeeLevels": true}}
	return Request{Method: "getPriorityFeeEstimate", Params: []any{ask}, Result: result, Check: func(got any) error {
		if _, ok := got.(*FeeEstimate).Levels[level]; !ok {
			return fmt.Errorf("response has no estimate for the level %q", level)
		}
		return nil
	}}
}

// FeeEstimate is the answer to [FeeLevelsRequest].
type FeeEstimate struct {
	Levels feeLevels `json:"priorityFeeLevels"`
}
