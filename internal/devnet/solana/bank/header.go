package bank

import (
	"math/big"
	"slices"

	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/internal/btc/rawtx"
	"github.com/swapper-go/swapper/internal/solana/wire"
)

// Rules of Bitcoin that a relay checks.
const (
	epochBlocks  = 2016
	epochSeconds = 14 * 24 * 60 * 60
	maxFuture    = 4 * 60 * 60 // seconds that a header's time may be ahead of the chain's clock
	median       = 5           // of the eleven times before a header, it must be later than more than so many
)

// next checks a header that follows a stored one and returns how it is stored. topic
// says whether its topic was passed with it, now is the clock in Unix seconds.
func (r Rules) next(on wire.StoredHeader, h bitcoin.Header, topic bool, now uint64) (next wire.StoredHeader, err error) {
	if h.PrevBlock != on.Header.Hash() {
		return next, prevBlock
	}
	if r.Retarget {
		bits, err := bitsAfter(on)
		if err != nil {
			return next, err
		}
		if h.Bits != bits {
			return next, wrongTarget
		}
	}
	if !topic {
		return next, invalidTopic
	}
	if h.Bits>>24 > 32 {
		return next, ProgramFailedToComplete
	}
	hash := h.Hash()
	slices.Reverse(hash[:])
	if new(big.Int).SetBytes(hash[:]).Cmp(target(h.Bits)) > 0 {
		return next, tooLittleWork
	}
	later := 0
	for _, t := range append(on.PrevTimes[:], on.Header.Time) {
		if h.Time > t {
			later++
		}
	}
	if later <= median {
		return next, timeTooLow
	}
	if uint64(h.Time) >= now+maxFuture {
		return next, timeTooHigh
	}
	next = on.Next(h)
	next.Work = new(big.Int).Add(on.Work, rawtx.Difficulty(h.Bits&^signBit))
	return next, nil
}

// signBit of a compact target makes it negative, which the relay does not look at.
const signBit = 0x800000

func target(bits uint32) *big.Int { return rawtx.Expand(bits&0x7fffff, uint(bits>>24)) }

// easiest is the target that no block of mainnet may exceed.
var easiest = new(big.Int).Sub(new(big.Int).Lsh(big.NewInt(1), 224), big.NewInt(1))

// bitsAfter is the target of the header that follows a stored one, by mainnet's rules:
// a new one every 2016 blocks, from the time that they took, up to four times as easy or
// as hard.
func bitsAfter(on wire.StoredHeader) (uint32, error) {
	if (on.Header.Height+1)%epochBlocks != 0 {
		return on.Header.Bits, nil
	}
	if on.Header.Time < on.LastDiffAdjustment {
		return 0, ProgramFailedToComplete
	}
	took := min(max(on.Header.Time-on.LastDiffAdjustment, epochSeconds/4), epochSeconds*4)
	t := target(on.Header.Bits)
	t.Mul(t, big.NewInt(int64(took))).Div(t, big.NewInt(epochSeconds))
	if t.Cmp(easiest) > 0 {
		t = easiest
	}
	return rawtx.Compact(t), nil
}
