package simulate

import (
	"context"
	"math/big"
	"strings"
)

// wealth is what the honest provider has of WBTC on all chains and of bitcoin, in sats: they are worth
// the same. Its coins for gas are left out, and what escrows of its hold.
func (w *world) wealth() (*big.Int, error) {
	l, ctx := w.net.LPs[0], context.Background()
	sum := big.NewInt(l.Sats() + l.Node().BalanceMsat()/1000)
	vaults, err := l.Vaults(ctx)
	if err != nil {
		return nil, err
	}
	for _, g := range w.lands {
		has, err := g.balance(g.lp(l))
		if err != nil {
			return nil, err
		}
		funds, err := l.Funds(ctx, g.chain(), g.token())
		if err != nil {
			return nil, err
		}
		sum.Add(sum, has).Add(sum, funds)
		for _, v := range vaults {
			if v.Owner == g.lp(l) && v.Tokens[0] == g.token() {
				units := new(big.Int).SetUint64(v.Raw[0])
				sum.Add(sum, units.Mul(units, v.Multipliers[0]))
			}
		}
	}
	return sum, nil
}

// ledger compares what the honest provider has with what it had.
func (p *promises) ledger() {
	w := p.w
	now, err := w.wealth()
	if err != nil {
		w.broken("the honest provider's books: %v", err)
		return
	}
	// A payout's fee may be higher than foreseen, and a reorganisation makes another one of it.
	const bearable = 2000
	gained := now.Sub(now, w.wealthy)
	for _, u := range w.users {
		if u.gas() { // by nobody else
			amount, worth := u.land.drop()
			sold := u.came()
			gained.Sub(gained, sold.Quo(sold.Mul(sold, big.NewInt(worth)), amount))
		}
	}
	w.note("the honest provider gained %s sats", gained)
	if gained.Cmp(big.NewInt(-bearable)) < 0 {
		w.broken("the honest provider lost %s sats", gained.Neg(gained))
	}
}

// came is what the user has got of coins for gas.
func (u *user) came() *big.Int {
	has, err := u.land.native(u.land.address(&u.Wallet))
	if err != nil {
		u.w.broken("user %d: coins: %v", u.n, err)
		return new(big.Int)
	}
	return has.Sub(has, u.coins)
}

// gas compares what was paid for coins for gas with what came.
func (p *promises) gas(u *user, msat, sats int64) {
	w := p.w
	came := u.came()
	amount, _ := u.land.drop()
	paid := msat < 0
	if strings.HasSuffix(u.order.kind, "FROM_BTC") {
		paid = sats < -5000
	}
	switch {
	case came.Sign() < 0:
		w.broken("user %d has lost %s coins for gas", u.n, came)
	case paid && came.Cmp(amount) < 0:
		w.broken("user %d, %s on %s, %.8s, ended as %s: paid %d msat, %d sats for gas and got %s", u.n, u.order.kind, u.order.land, u.id, u.state(), -msat, -sats, came)
	}
}
