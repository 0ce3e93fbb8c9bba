package contracts

import (
	"math/big"
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
	return StorageKey("reputation", claimer, token, handler, felts(nil).uint(outcome)[0])
}

// count notes the end of an escrow, if it asks for it. Sums stop at the largest number.
func (x *call) count(e escrow, outcome uint64) {
	if !e.reputation() {
		return
	}
	at := reputationKey(e.claimer, e.token, e.claimHandler, outcome)
	sum, count := x.outcome(at)
	if sum.Add(sum, e.amount).Cmp(maxU256) > 0 {
		sum = maxU256
	}
	x.Set(at, lower(sum))
	x.Set(At(at, 1), pack(upper(sum), small(count+1, 128)))
}

// outcome reads amounts and number of the escrows that ended in a way.
func (x *call) outcome(at Felt) (sum *big.Int, count uint64) {
	n := unpack(x.Get(At(at, 1)), upperBits, 128)
	return whole(x.Get(at), n[0]), n[1].Uint64()
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
			sum, count := x.outcome(reputationKey(o[0], o[1], o[2], outcome))
			x.out = x.out.u256(sum).uint(count)
		}
	}
}
