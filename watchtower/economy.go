package watchtower

import (
	"math/big"

	"github.com/swapper-go/swapper/internal/bigs"
)

// verdict is what to do about something that can be claimed.
type verdict int

const (
	leave verdict = iota // it offers nothing
	wait                 // it offers something, but not enough at the current fees
	claim
)

func (v verdict) String() string { return [...]string{"leave", "wait", "claim", ""}[v&3] }

// offer is what a claim earns and costs, in base units of the native token.
type offer struct {
	pay  *big.Int // what is offered for the claim; 0 where it has no known worth
	cost *big.Int // the most that it can cost
	own  bool     // the user is one of the operator's own
}

// judge decides whether a claim is worth its cost.
func (p Policy) judge(o offer) verdict {
	if o.pay.Sign() <= 0 && !o.own {
		return leave
	}
	if p.MaxFee != nil && o.cost.Cmp(p.MaxFee) > 0 {
		return wait
	}
	// An own user is served without profit, at a loss up to the allowance.
	least := bigs.OrZero(p.Profit)
	if o.own {
		least = new(big.Int).Neg(bigs.OrZero(p.Allowance))
	}
	if bigs.Sub(o.pay, o.cost).Cmp(least) < 0 {
		return wait
	}
	return claim
}
