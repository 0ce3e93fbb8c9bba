package contracts

import (
	"math/big"
)

// Token is a token with the interface of OpenZeppelin's ERC-20, in snake case and, where
// tokens have it, in camel case. Its constructor takes name and symbol as ByteArrays,
// the decimals, and who may mint with permissioned_mint(account, amount).
func Token() Class {
	return Class{
		Name: "ERC20", Hash: ClassHash("ERC20"), ABI: tokenABI,
		Constructor: entry(func(x *call) {
			name, symbol, decimals, minter := arg(x, readBytes), arg(x, readBytes), arg(x, readU8), arg(x, readAddress)
			x.done()
			x.setText("ERC20_name", name)
			x.setText("ERC20_symbol", symbol)
			x.setUint(StorageKey("ERC20_decimals"), uint64(decimals))
			x.Set(StorageKey("permitted_minter"), minter)
		}),
		Entries: entries(map[string]func(*call){
			"name":              func(x *call) { x.done(); x.out = x.text("ERC20_name") },
			"symbol":            func(x *call) { x.done(); x.out = x.text("ERC20_symbol") },
			"decimals":          func(x *call) { x.done(); x.out = x.out.add(x.Get(StorageKey("ERC20_decimals"))) },
			"total_supply":      totalSupply,
			"totalSupply":       totalSupply,
			"balance_of":        balanceOf,
			"balanceOf":         balanceOf,
			"allowance":         allowance,
			"approve":           approve,
			"transfer":          transfer,
			"transfer_from":     transferFrom,
			"transferFrom":      transferFrom,
			"permissioned_mint": mint,
		}),
	}
}

// setText keeps a short text; text returns it.
func (x *call) setText(key string, b []byte) {
	assert(len(b) <= wordSize, "the text is too long")
	for i, f := range felts(nil).bytes(b)[1:] {
		x.Set(At(StorageKey(key), i), f)
	}
}

func (x *call) text(key string) felts {
	at := StorageKey(key)
	return felts(nil).uint(0).add(x.Get(at), x.Get(At(at, 1)))
}

func balanceKey(owner Felt) Felt            { return StorageKey("ERC20_balances", owner) }
func allowanceKey(owner, spender Felt) Felt { return StorageKey("ERC20_allowances", owner, spender) }

func totalSupply(x *call) {
	x.done()
	x.out = x.out.u256(x.GetU256(StorageKey("ERC20_total_supply")))
}

func balanceOf(x *call) {
	owner := arg(x, readAddress)
	x.done()
	x.out = x.out.u256(x.GetU256(balanceKey(owner)))
}

func allowance(x *call) {
	owner, spender := arg(x, readAddress), arg(x, readAddress)
	x.done()
	x.out = x.out.u256(x.GetU256(allowanceKey(owner, spender)))
}

func approve(x *call) {
	spender, amount := arg(x, readAddress), arg(x, readU256)
	x.done()
	x.approve(x.Caller(), spender, amount)
	x.out = x.out.bool(true)
}

func transfer(x *call) {
	to, amount := arg(x, readAddress), arg(x, readU256)
	x.done()
	x.move(x.Caller(), to, amount)
	x.out = x.out.bool(true)
}

func transferFrom(x *call) {
	from, to, amount := arg(x, readAddress), arg(x, readAddress), arg(x, readU256)
	x.done()
	if allowed := x.GetU256(allowanceKey(from, x.Caller())); allowed.Cmp(maxU256) != 0 { // the largest number allows everything
		assert(allowed.Cmp(amount) >= 0, "ERC20: insufficient allowance")
		x.approve(from, x.Caller(), new(big.Int).Sub(allowed, amount))
	}
	x.move(from, to, amount)
	x.out = x.out.bool(true)
}

func mint(x *call) {
	to, amount := arg(x, readAddress), arg(x, readU256)
	x.done()
	assert(x.Caller() == x.Get(StorageKey("permitted_minter")), "MINTER_ONLY")
	assert(!to.IsZero(), "ERC20: mint to 0")
	supply := StorageKey("ERC20_total_supply")
	x.SetU256(supply, plus(x.GetU256(supply), amount))
	x.SetU256(balanceKey(to), plus(x.GetU256(balanceKey(to)), amount))
	x.event("Transfer", felts{Felt{}, to}, felts(nil).u256(amount))
}

func (x *call) approve(owner, spender Felt, amount *big.Int) {
	assert(!owner.IsZero(), "ERC20: approve from 0")
	assert(!spender.IsZero(), "ERC20: approve to 0")
	x.SetU256(allowanceKey(owner, spender), amount)
	x.event("Approval", felts{owner, spender}, felts(nil).u256(amount))
}

func (x *call) move(from, to Felt, amount *big.Int) {
	assert(!from.IsZero(), "ERC20: transfer from 0")
	assert(!to.IsZero(), "ERC20: transfer to 0")
	has := x.GetU256(balanceKey(from))
	assert(has.Cmp(amount) >= 0, "ERC20: insufficient balance")
	x.SetU256(balanceKey(from), has.Sub(has, amount))
	x.SetU256(balanceKey(to), plus(x.GetU256(balanceKey(to)), amount))
	x.event("Transfer", felts{from, to}, felts(nil).u256(amount))
}

// takeIn moves tokens from an owner, who has allowed it, to the contract.
func (x *call) takeIn(token, from Felt, amount *big.Int) {
	ok := answer(x.ask(token, "transfer_from", felts{from, x.Address()}.u256(amount)...), readBool)
	assert(ok, "transfer_in: transfer_from")
}

// payOut moves tokens of the contract.
func (x *call) payOut(token, to Felt, amount *big.Int) {
	assert(answer(x.ask(token, "transfer", felts{to}.u256(amount)...), readBool), "transfer_out: transfer")
}

// allow lets another contract take tokens of this one.
func (x *call) allow(token, spender Felt, amount *big.Int) {
	assert(answer(x.ask(token, "approve", felts{spender}.u256(amount)...), readBool), "approve: approve")
}

// balance is what an owner has of a token.
func (x *call) balance(token, owner Felt) *big.Int {
	return answer(x.ask(token, "balance_of", owner), readU256)
}
