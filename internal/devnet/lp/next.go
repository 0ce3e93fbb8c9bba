package lp

import (
	"math"
	"math/big"
)

// What the next version of the network's LPs does otherwise (protocol:
// lp-next.md). [Options].Next chooses it.

// times are the times that an LP demands.
type times struct {
	sendCLTV int64 // blocks that a Lightning payment may be locked
	send     int64 // seconds that an escrow must last when it is quoted for one
	heldCLTV int64 // blocks that a held payment must last
	escrow   int64 // seconds that an escrow lasts that is paid for by one
}

var (
	olderTimes = times{minSendCLTV, sendTime, minHeldCLTV, heldEscrowTime}
	newerTimes = times{newerSendCLTV, gracePeriod + blockTime*newerSendCLTV*3/2, (newerEscrow + gracePeriod) * safetyFactor / blockTime, newerEscrow}
)

const (
	newerSendCLTV = 98 // ceil(ln 10^4 / (f - 1 - ln f)) with the safety factor 1.5
	newerEscrow   = 10_800
	newerMaxVSize = 8192
)

func (l *LP) times() times {
	if l.o.Next {
		return newerTimes
	}
	return olderTimes
}

// sendRate is the fee rate of payments that are quoted now, in sat/vB: the
// wallet's and a quarter.
func (l *LP) sendRate() float64 {
	rate := l.rate() * 1.25
	if l.o.Next {
		return rate
	}
	return math.Ceil(rate)
}

// rateFields are the fields of a quote that name the fee rate.
func (l *LP) rateFields(rate float64) object {
	fields := object{{"satsPervByte", bigInt(int64(rate)).String()}}
	if l.o.Next {
		fields = append(fields, object{{"satsPervByteNumber", rate}}...)
	}
	return fields
}

// newerRefusal refuses parameters that the older version lets pass or refuses with
// another code.
func (l *LP) newerRefusal(amount, nonce *big.Int, target, confirmations int64) error {
	switch {
	case !l.o.Next:
		return nil
	case amount.Sign() <= 0:
		return badBody("amount")
	case confirmations <= 0:
		return refuse(20027, "Invalid request body (confirmations - zero or negative)")
	case target < 0:
		return refuse(20028, "Invalid request body (confirmationTarget - negative)")
	case nonce.Sign() <= 0:
		return refuse(20021, "Invalid request body (nonce - cannot be parsed)")
	}
	return nil
}

// newerWallet is what is left of a whole wallet: all sizes are rounded together,
// and the cost once.
func newerWallet(sum int64, base, size, parents, rate float64) int64 {
	return sum - int64(math.Ceil(math.Ceil(base+size)*rate+parents))
}
