package wire

import (
	"fmt"
	"math/big"
	"strings"

	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/internal/bigs"
)

// FeeRate is what a transaction offers for gas, in wei, and on chains that
// charge for changed state what a byte of it costs. Its text is
// `<base fee>,<priority fee>` or, with L1, `<base fee>,<priority fee>,<l1 fee>`
// (protocol: chain-evm.md §6).
type FeeRate struct {
	Base     *big.Int // wei per gas, with headroom over the block's base fee
	Priority *big.Int // wei per gas
	L1       *big.Int // wei per byte of state difference; nil on chains without such a fee
}

// maxFeeBits bounds each part of a rate: far above any real fee, and low enough
// that no product with a gas limit leaves 256 bits.
const maxFeeBits = 128

// ParseFeeRate reads two or three decimal numbers separated by commas.
func ParseFeeRate(s string) (FeeRate, error) {
	if len(s) > 3*40 {
		return FeeRate{}, fault.Invalid("feeRate", "is too long")
	}
	parts := strings.Split(s, ",")
	if len(parts) != 2 && len(parts) != 3 {
		return FeeRate{}, fault.Invalid("feeRate", "must be <base fee>,<priority fee>[,<l1 fee>], not %q", s)
	}
	var numbers [3]*big.Int
	for i, part := range parts {
		n, err := parseNumber(part)
		if err != nil || strings.HasPrefix(part, "0x") || n.BitLen() > maxFeeBits {
			return FeeRate{}, fault.Invalid("feeRate", "must be <base fee>,<priority fee>[,<l1 fee>] in wei, not %q", s)
		}
		numbers[i] = n
	}
	return FeeRate{numbers[0], numbers[1], numbers[2]}, nil
}

// String returns the text of the rate.
func (r FeeRate) String() string {
	s := fmt.Sprintf("%s,%s", bigs.OrZero(r.Base), bigs.OrZero(r.Priority))
	if r.L1 != nil {
		s += "," + r.L1.String()
	}
	return s
}

// MaxFeePerGas is the most that a transaction pays for a unit of gas.
func (r FeeRate) MaxFeePerGas() *big.Int {
	return new(big.Int).Add(bigs.OrZero(r.Base), bigs.OrZero(r.Priority))
}

// FeeRate returns the rate to offer after a block with the given base fee and,
// where the chain has it, L1 fee (both in wei).
//
// The base fee is offered with headroom, up to the network's cap. A cap below
// the block's own base fee would make a transaction that cannot be mined, and a
// claim that is stuck behind it can miss its deadline; then the cap is ignored
// (protocol: chain-evm.md §13.22). What is paid is the block's base fee, however
// high the offer.
func (n Network) FeeRate(baseFee, l1Fee *big.Int) (FeeRate, error) {
	if !InBits(baseFee, maxFeeBits-8) || (n.StateDiffFee && !InBits(l1Fee, maxFeeBits)) {
		return FeeRate{}, fault.New(fault.Upstream, "the latest block of %s has implausible fees", n.Chain)
	}
	base := new(big.Int).Mul(baseFee, new(big.Int).SetUint64(n.FeePPM))
	base.Quo(base, big.NewInt(1_000_000))
	limit := new(big.Int).SetUint64(n.MaxBaseFee)
	if n.MaxBaseFee != 0 && base.Cmp(limit) > 0 && baseFee.Cmp(limit) <= 0 {
		base = limit
	}
	r := FeeRate{Base: base, Priority: new(big.Int).SetUint64(n.PriorityFee)}
	if n.StateDiffFee {
		r.L1 = new(big.Int).Set(l1Fee)
	}
	return r, nil
}
