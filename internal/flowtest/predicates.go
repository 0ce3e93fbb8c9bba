package flowtest

import (
	"slices"

	"github.com/swapper-go/swapper/internal/swap"
)

// Predicates are what the reference says of a state of an escrow swap, by the
// states that it names for each (protocol: swap-flows-escrow.md §3). Those of its
// predicates that this library shows are compared with it; the others are
// compared with this statement.
//
// initiated is the flag of its record, which a swap that waits for a Lightning
// payment must have to be in progress.
func Predicates(typ swap.Type, state int, initiated bool) map[string]bool {
	out := map[string]bool{}
	for name, states := range predicates[typ] {
		out[name] = slices.Contains(states, state)
	}
	out["isInitiated"] = initiated
	if (typ == swap.FromBTCLN || typ == swap.FromBTCLNAuto) && (state == 0 || state == -2) {
		out["isInProgress"] = initiated
	}
	return out
}

var outgoing = map[string][]int{
	"isFinished": {-2, -3, 3}, "isSuccessful": {3}, "isFailed": {-3}, "isQuoteExpired": {-2}, "isQuoteSoftExpired": {-1, -2},
	"isInProgress": {1, 2}, "requiresAction": {4}, "isRefundable": {4},
	"fetchOnchainState": {-1, 0, 1, 2, 4}, "fetchExpiryStatus": {-1, 0},
	"pending": {-1, 0, 1, 2, 4}, "ticked": {0, 1, 2}, "refundableQuery": {4},
}

var predicates = map[swap.Type]map[string][]int{
	swap.ToBTC: outgoing, swap.ToBTCLN: outgoing,
	swap.FromBTC: {
		"isFinished": {-2, -4, 3}, "isSuccessful": {3}, "isFailed": {-3, -4}, "isQuoteExpired": {-2}, "isQuoteSoftExpired": {-1, -2},
		"isInProgress": {1, 2}, "requiresAction": {1, 2}, "isClaimable": {2},
		"fetchOnchainState": {-3, -1, 0, 1, 2}, "fetchExpiryStatus": {-1, 0},
		"pending": {-3, -1, 0, 1, 2}, "ticked": {-3, 0, 1}, "claimableQuery": {2},
	},
	swap.FromBTCLN: {
		"isFinished": {-3, -4, 3}, "isSuccessful": {3}, "isFailed": {-1, -4}, "isQuoteExpired": {-3}, "isQuoteSoftExpired": {-2, -3},
		"isInProgress": {-2, 0, 1, 2}, "requiresAction": {2}, "isClaimable": {2},
		"fetchOnchainState": {-1, 1, 2}, "fetchExpiryStatus": {1}, "checkIntermediary": {-2, 0},
		"pending": {-1, -2, 0, 1, 2}, "ticked": {0, 1, 2}, "claimableQuery": {2},
	},
	swap.FromBTCLNAuto: {
		"isFinished": {-3, -4, 3}, "isSuccessful": {3}, "isFailed": {-1, -4}, "isQuoteExpired": {-3}, "isQuoteSoftExpired": {-3},
		"isInProgress": {-2, 0, 1, 2}, "requiresAction": {2}, "isClaimable": {2},
		"fetchOnchainState": {-1, 1, 2}, "fetchExpiryStatus": {1}, "checkIntermediary": {-2, 0},
		"pending": {-1, -2, 0, 1, 2}, "ticked": {-2, 0, 1, 2}, "claimableQuery": {2},
	},
}
