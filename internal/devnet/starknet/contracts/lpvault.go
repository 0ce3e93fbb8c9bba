package contracts

import (
	"math/big"
)

// Balances of LPs in the escrow manager.

func lpBalance(owner, token Felt) Felt { return StorageKey("lp_vault", owner, token) }

func (x *call) credit(owner, token Felt, amount *big.Int) {
	at := lpBalance(owner, token)
	x.SetU256(at, plus(x.GetU256(at), amount))
}

func (x *call) debit(owner, token Felt, amount *big.Int, reason string) {
	at := lpBalance(owner, token)
	has := x.GetU256(at)
	assert(has.Cmp(amount) >= 0, reason)
	x.SetU256(at, has.Sub(has, amount))
}

// deposit adds to the caller's balance.
func deposit(x *call) {
	token, amount := arg(x, readAddress), arg(x, readU256)
	x.done()
	x.credit(x.Caller(), token, amount)
	x.takeIn(token, x.Caller(), amount)
}

// withdraw takes from the caller's balance.
func withdraw(x *call) {
	token, amount, to := arg(x, readAddress), arg(x, readU256), arg(x, readAddress)
	x.done()
	x.debit(x.Caller(), token, amount, "withdraw: not enough balance")
	x.payOut(token, to, amount)
}

func getBalance(x *call) {
	of := arg(x, func(r *reader) [][2]Felt {
		return readList(r, func(r *reader) [2]Felt { return [2]Felt{readAddress(r), readAddress(r)} })
	})
	x.done()
	x.out = x.out.uint(uint64(len(of)))
	for _, o := range of {
		x.out = x.out.u256(x.GetU256(lpBalance(o[0], o[1])))
	}
}
