package bitcoin

import (
	"errors"
	"fmt"
	"math/bits"
)

// FeeShares are the fees that third parties receive from a vault withdrawal, in
// parts per 100,000 of the raw amounts, on top of the recipient's payout. Each
// is encoded in 20 bits of the transaction's first two sequence numbers.
type FeeShares struct {
	Caller    uint32 // paid to the account that submits the proof to the vault
	Fronting  uint32 // paid to the account that advances the payout
	Execution uint32 // paid to the account that executes the recipient's call; token 0 only
}

const (
	shareUnit      = 100_000
	maxShare       = 1<<20 - 1
	noRelativeLock = 1 << 31
)

// Sequences returns the sequence numbers of inputs 0 and 1 of the withdrawal
// (protocol: swap-flows-spv-and-core.md A5). It returns an error if a share
// does not fit into 20 bits.
func (s FeeShares) Sequences() (input0, input1 uint32, err error) {
	if s.Caller > maxShare || s.Fronting > maxShare || s.Execution > maxShare {
		return 0, 0, fmt.Errorf("a fee share is above %d", maxShare)
	}
	input0 = noRelativeLock | s.Caller | (s.Fronting&0xFFC00)<<10
	input1 = noRelativeLock | s.Execution | (s.Fronting&0x3FF)<<20
	return input0, input1, nil
}

// ParseFeeShares reads the shares from the sequence numbers of inputs 0 and 1.
// Bit 31, which disables relative lock times, must be set in both; bit 30 is
// ignored.
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
	Payout    [2]uint64 // as stated in the transaction
	Caller    [2]uint64
	Fronting  [2]uint64
	Execution uint64    // token 0
	Total     [2]uint64 // payout plus all fees
}

// Amounts applies the shares to the raw amounts of a payout, rounding each fee
// down. It returns an error if a total does not fit into 64 bits, the
// contracts' integer size.
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

// Advance returns what it costs to front the withdrawal: the payout, plus the
// execution fee in token 0.
func (a WithdrawalAmounts) Advance() [2]uint64 {
	// Total holds this sum and more, so it cannot overflow.
	return [2]uint64{a.Payout[0] + a.Execution, a.Payout[1]}
}
