package lp

import (
	"fmt"
	"math/big"
)

// Constants of the network's LPs (protocol: lp-protocol.md §8.1).
const (
	blockTime     = 600 // seconds
	gracePeriod   = 3600
	safetyFactor  = 2
	authTimeout   = 600   // seconds in which a swap may be opened
	starknetAuth  = 60    // the same on Starknet
	refundTimeout = 86400 // seconds in which an early refund may be taken
	minSendCLTV   = 10
	minChainCLTV  = 10
	minHeldCLTV   = 20 // blocks that a held payment must last
	invoiceCLTV   = minHeldCLTV + 5
	invoiceExpiry = 90 // seconds

	// sendTime is how long an escrow must still last when a Lightning payment starts.
	sendTime = gracePeriod + blockTime*minSendCLTV*safetyFactor
	// heldEscrowTime is how long an escrow lasts that is paid for by a held payment.
	heldEscrowTime = minHeldCLTV*blockTime/safetyFactor - gracePeriod
)

// toBTCTime returns how many seconds an escrow must still last when its Bitcoin
// payment is made, and how many the quote demands (protocol: lp-protocol.md §8.4).
func toBTCTime(target, confirmations int64) (required, quoted int64) {
	cltv := minChainCLTV + (confirmations+target)*safetyFactor
	required = gracePeriod + blockTime*cltv*safetyFactor
	return required, required + gracePeriod
}

// checkNonce refuses what cannot be the nonce of a Bitcoin payment (protocol:
// lp-protocol.md §5.1).
func checkNonce(nonce *big.Int, now int64) error {
	if nonce.Sign() < 0 || nonce.BitLen() > 64 {
		return refuse(20021, "Invalid request body (nonce - cannot be parsed)")
	}
	if nonce.Uint64()>>24 > uint64(max(now-600_000_000, 0)) {
		return refuse(20022, "Invalid request body (nonce - too high)")
	}
	return nil
}

// routingFee returns what is charged in sats for routing a payment for which a
// probe found a fee, and how sure the LP is (protocol: lp-protocol.md §8.2).
func routingFee(sats, maxFee, probedMsat, confidencePPM int64) (fee, confidence int64) {
	fee = (probedMsat + 999) / 1000 * 2
	if least := sats*1000/1_000_000 + 5; fee < least {
		fee = least
		if least > maxFee {
			confidencePPM = 0
		}
	}
	return min(fee, maxFee), confidencePPM
}

// usableCLTV returns how many blocks a Lightning payment may be locked before an
// escrow that lasts seconds (protocol: lp-protocol.md §8.4).
func usableCLTV(seconds int64) int64 {
	return (seconds - gracePeriod) / (blockTime * 1_500_000 / 1_000_000)
}

// checkHeld refuses a held payment that ends too soon.
func checkHeld(height, until uint32, least int64) error {
	if left := int64(until) - int64(height); left < least {
		return &refusal{Code: 20002, Msg: "Not enough time to reliably process the swap", HTTP: 200,
			Data: object{{"requiredDelta", fmt.Sprint(least)}, {"actualDelta", fmt.Sprint(left)}}}
	}
	return nil
}

// Bounty are the parameters of a watchtower's reward for a legacy swap.
type Bounty struct {
	AddFee, FeePerBlock, SafetyFactor, AddBlock *big.Int
	Start                                       int64 // Unix seconds
}

// Until returns the reward for an escrow that expires at a time in Unix seconds
// (protocol: lp-protocol.md §6.4).
func (b Bounty) Until(expiry int64) *big.Int {
	blocks := big.NewInt((expiry - b.Start) / blockTime)
	blocks.Mul(blocks, b.SafetyFactor).Add(blocks, b.AddBlock)
	return blocks.Mul(blocks, b.FeePerBlock).Add(blocks, b.AddFee)
}

// SecurityDeposit returns what a client of a legacy swap has to put in, in base
// units of the token with the given price: base, times basePPM millionths unless
// that is nil, and interest on what is locked (protocol: lp-protocol.md §8.4).
func SecurityDeposit(p Price, base, basePPM, sats, swapFee *big.Int, apyPPM, seconds int64) *big.Int {
	if basePPM != nil {
		base = scale(base, basePPM, million)
	}
	interest := p.fromBTC(sub(sats, swapFee), true)
	interest.Mul(interest, big.NewInt(apyPPM)).Mul(interest, big.NewInt(seconds))
	interest.Quo(interest, million).Quo(interest, big.NewInt(31_536_000))
	return add(base, interest)
}

// withoutShares takes the shares of others out of an amount that includes them.
func withoutShares(v *big.Int, shares uint32) *big.Int {
	return scaleInt(v, 100_000, 100_000+int64(shares))
}

// withShares adds them.
func withShares(v *big.Int, shares uint32) *big.Int {
	return scaleInt(v, 100_000+int64(shares), 100_000)
}

// wholeUnits rounds down to a multiple of what a vault counts in.
func wholeUnits(v, multiplier *big.Int) *big.Int {
	return sub(v, new(big.Int).Rem(v, multiplier))
}
