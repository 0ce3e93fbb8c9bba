package wire

import (
	"math/big"

	"github.com/swapper-go/swapper/chains"
)

// signatureFee is what each signature of a transaction costs, in lamports.
const signatureFee = 5000

// wraps returns how much SOL the transaction that opens the escrow wraps, in
// lamports: the fee rate alone decides (§13).
func (f FeeRate) wraps(amount uint64) uint64 {
	if f.Wrap == nil || f.Wrap.Balance >= amount {
		return 0
	}
	return amount - f.Wrap.Balance
}

// Estimates of what transactions cost, in lamports (§12).

// rawInitFee is what the transaction that opens an escrow costs, without deposits.
func (p Programs) rawInitFee(d *SwapData, f FeeRate) *big.Int {
	fee, units := int64(3*signatureFee), uint64(unitsInit)
	if d.PayIn {
		fee, units = 2*signatureFee, unitsInitPayIn
		if f.wraps(d.Amount) > 0 {
			units += unitsWrap
			if f.Wrap.Create {
				units += unitsATA
			}
		}
	}
	return add(f.PriorityFee(units), fee)
}

// InitFee is what opening an escrow costs with what its accounts must hold;
// claimerATA says whether the claimer's token account exists.
func (p Programs) InitFee(d *SwapData, f FeeRate, claimerATA bool) *big.Int {
	fee := add(p.rawInitFee(d, f), int64(p.EscrowRent()))
	if p.Version == V1 && d.PayOut && !claimerATA {
		add(fee, TokenAccountRent)
	}
	if d.PayIn && f.wraps(d.Amount) > 0 && f.Wrap.Create {
		add(fee, TokenAccountRent)
	}
	return fee
}

// rawClaimFee is what the claim's transaction costs.
func rawClaimFee(d *SwapData, f FeeRate) *big.Int {
	units := uint64(d.claimUnits())
	if d.Kind != chains.HTLC {
		units = unitsClaimBitcoin
	}
	return add(f.PriorityFee(units), signatureFee)
}

// ClaimFee is what a claim costs with a token account for what is paid out.
func ClaimFee(d *SwapData, f FeeRate) *big.Int {
	fee := rawClaimFee(d, f)
	if d.PayOut {
		add(fee, TokenAccountRent)
	}
	return fee
}

// RawRefundFee is what the refund's transaction costs.
func RawRefundFee(d *SwapData, f FeeRate) *big.Int {
	return add(f.PriorityFee(uint64(d.refundUnits())), 3*signatureFee)
}

// DearestInitFee is what a wallet must keep back of its SOL to open the dearest
// escrow that pays in: one of more than it has wrapped. wsol says whether its WSOL
// account exists, regardless of who chose the fee rate (§21.3).
func (p Programs) DearestInitFee(f FeeRate, wsol bool) *big.Int {
	units := uint64(unitsInitPayIn + unitsWrap)
	fee := int64(2*signatureFee + p.EscrowRent())
	if !wsol {
		units += unitsATA
		fee += TokenAccountRent
	}
	return add(f.PriorityFee(units), fee)
}

func add(to *big.Int, lamports int64) *big.Int { return to.Add(to, big.NewInt(lamports)) }
