package contracts

import (
	"math/big"

	"github.com/swapper-go/swapper/internal/devnet/starknet/state"
)

// How escrows of a claimer ended: for each outcome their amounts together, and how many
// there were.
const (
	reputationSuccess = iota
	reputationCooperative
	reputationFailed
	outcomes
)

func reputationKey(claimer, token, handler Felt, outcome uint64) Felt {
	return state.Key("reputation", claimer, token, handler, felts(nil).uint(outcome)[0])
}

// count notes the end of an escrow, if it asks for it. Sums stop at the largest number.
func (x *call) count(e escrow, outcome uint64) {
	if !e.reputation() {
		return
	}
	at := reputationKey(e.claimer, e.token, e.claimHandler, outcome)
	sum := x.GetU256(at)
	if sum.Add(sum, e.amount).Cmp(maxU256) > 0 {
		sum = new(big.Int).Set(maxU256)
	}
	x.SetU256(at, sum)
	x.setUint(state.At(at, 2), x.getUint(state.At(at, 2))+1)
}

// getReputation takes claimer, token and claim handler of each.
func getReputation(x *call) {
	of := arg(x, func(r *reader) [][3]Felt {
		return readList(r, func(r *reader) [3]Felt { return [3]Felt{readAddress(r), readAddress(r), readAddress(r)} })
	})
	x.done()
	x.out = x.out.uint(uint64(len(of)))
	for _, o := range of {
		for outcome := range uint64(outcomes) {
			at := reputationKey(o[0], o[1], o[2], outcome)
			x.out = x.out.u256(x.GetU256(at)).uint(x.getUint(state.At(at, 2)))
		}
	}
}
