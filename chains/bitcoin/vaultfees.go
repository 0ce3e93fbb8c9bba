package bitcoin

import (
	"errors"
	"fmt"
	"math/bits"
)

// FeeShares are what others get out of a vault withdrawal, in parts per 100,000
// of the raw amounts, on top of what the recipient gets. Each takes 20 bits of
// the transaction's first two sequences.
type FeeShares struct {
	Caller    uint32 // who brings the proof to the vault
	Fronting  uint32 // who advances the payout
	Execution uint32 // who runs the recipient's call; of token 0 only
}

const (
	shareUnit      = 100_000
	maxShare       = 1<<20 - 1
	noRelativeLock = 1 << 31
)

// Sequences returns the sequences of inputs 0 and 1 of the withdrawal
// (protocol: swap-flows-spv-and-core.md A5). Shares of more than 20 bits are an
// error.
func (s FeeShares) Sequences() (input0, input1 uint32, err error) {
	if s.Caller > maxShare || s.Fronting > maxShare || s.Execution > maxShare {
		return 0, 0, fmt.Errorf("a fee share is above %d", maxShare)
	}
	input0 = noRelativeLock | s.Caller | (s.Fronting&0xFFC00)<<10
	input1 = noRelativeLock | s.Execution | (s.Fronting&0x3FF)<<20
	return input0, input1, nil
}

// ParseFeeShares reads the shares from the sequences of inputs 0 and 1. Bit 31,
// which switches relative lock times off, must be set in both; bit 30 has no
// meaning.
func ParseFeeShares(input0, input1 uint32) (FeeShares, error) {
	if input0&noRelativeLock == 0 || input1&noRelativeLock == 0 {
		return FeeShares{}, errors.New("an input of the withdrawal has a relative lock time")
	}
	return FeeShares{
		Caller:    input0 & maxShare,
		Fronting:  input0>>10&0xFFC00 | input1>>20&0x3FF,
		Execution: input1 & maxShare,
	}, nil
}

// WithdrawalAmounts is how a vault divides a withdrawal, in raw amounts: base
// units of token 0 and token 1 divided by the vault's multipliers.
type WithdrawalAmounts struct {
	Payout    [2]uint64 // what the transaction says
	Caller    [2]uint64
	Fronting  [2]uint64
	Execution uint64    // token 0
	Total     [2]uint64 // what leaves the vault
}

// Amounts applies the shares to the raw amounts of a payout, rounding each fee
// down. Contracts count in 64 bits: a total that needs more is an error.
func (s FeeShares) Amounts(payout [2]uint64) (WithdrawalAmounts, error) {
	a := WithdrawalAmounts{Payout: payout}
	var overflow uint64
	add := func(sum *uint64, v uint64) {
		var carry uint64
		*sum, carry = bits.Add64(*sum, v, 0)
		overflow |= carry
	}
	share := func(raw uint64, of uint32) uint64 {
		hi, lo := bits.Mul64(raw, uint64(of))
		if hi >= shareUnit {
			overflow = 1
			return 0
		}
		quotient, _ := bits.Div64(hi, lo, shareUnit)
		return quotient
	}
	a.Execution = share(payout[0], s.Execution)
	for i, raw := range payout {
		a.Caller[i], a.Fronting[i] = share(raw, s.Caller), share(raw, s.Fronting)
		add(&a.Total[i], raw)
		add(&a.Total[i], a.Caller[i])
		add(&a.Total[i], a.Fronting[i])
	}
	add(&a.Total[0], a.Execution)
	if overflow != 0 {
		return WithdrawalAmounts{}, errors.New("withdrawal and fees exceed 64 bits")
	}
	return a, nil
}

// Advance is what somebody pays who fronts the withdrawal: the payout, and of
// token 0 the execution fee.
func (a WithdrawalAmounts) Advance() [2]uint64 {
	// Total holds this sum and more, so it cannot overflow.
	return [2]uint64{a.Payout[0] + a.Execution, a.Payout[1]}
}
