package contracts

import (
	"math/big"

	"github.com/swapper-go/swapper/internal/starknet/wire"
)

// classExecutionProxy is the class of the contract that makes the calls of executions.
var classExecutionProxy = wire.MustFelt("0x011c5e6e9fac6c0bc989ff1204f5c2edbadde6cd4fa8ca4f05abf803f257711c")

// executionProxyClass makes calls in its own name, so that they cannot reach the money of the
// execution contract.
func executionProxyClass() Class {
	return Class{
		Name: "execution proxy", Hash: classExecutionProxy,
		Entries: entries(map[string]func(*call){
			"execute": func(x *call) {
				calls := arg(x, readCalls)
				x.done()
				for _, c := range calls {
					if _, err := x.callContract(c.to, c.selector, c.calldata); err != nil {
						panic(err)
					}
				}
			},
			"drain_tokens": func(x *call) {
				first, others, to := arg(x, readAddress), arg(x, readAddresses), arg(x, readAddress)
				x.done()
				for _, token := range append([]Felt{first}, others...) {
					if has := x.balance(token, x.Address()); has.Sign() != 0 {
						x.payOut(token, to, has)
					}
				}
			},
		}),
	}
}

func readAddresses(r *reader) []Felt { return readList(r, readAddress) }

// executionClass is the contract that makes calls with what escrows and vaults paid for them
// (§16). Its constructor takes nothing; it deploys the proxy.
func executionClass() Class {
	return Class{
		Name: "execution contract", Hash: ClassHash("ExecutionContract"),
		Constructor: entry(func(x *call) {
			x.done()
			proxy, err := x.Deploy(classExecutionProxy, Felt{}, nil, false)
			if err != nil {
				panic(err)
			}
			x.Set(executionProxy, proxy)
		}),
		Entries: entries(map[string]func(*call){
			"create":         createExecution,
			"execute":        execute,
			"refund_expired": refundExpired,
			"refund":         refundExecution,
			"get_execution":  getExecution,
		}),
	}
}

var executionProxy = StorageKey("execution_proxy")

// execution is money with which calls are to be made for somebody.
type execution struct {
	token       Felt
	hash        Felt // of the calls; zero: it has ended
	amount, fee *big.Int
	expiry      uint64 // from then on anybody can give the money to its owner
}

func executionKey(owner, salt Felt) Felt { return StorageKey("executions", owner, salt) }

func (x *call) execution(owner, salt Felt) execution {
	at := executionKey(owner, salt)
	n := unpack(x.Get(At(at, 4)), upperBits, upperBits, 64)
	return execution{token: x.Get(at), hash: x.Get(At(at, 1)), amount: whole(x.Get(At(at, 2)), n[0]), fee: whole(x.Get(At(at, 3)), n[1]), expiry: n[2].Uint64()}
}

func (x *call) setExecution(owner, salt Felt, e execution) {
	at := executionKey(owner, salt)
	x.Set(at, e.token)
	x.Set(At(at, 1), e.hash)
	x.Set(At(at, 2), lower(e.amount))
	x.Set(At(at, 3), lower(e.fee))
	x.Set(At(at, 4), pack(upper(e.amount), upper(e.fee), small(e.expiry, 64)))
}

// end marks an execution as over; all clears the rest of it too.
func (x *call) end(owner, salt Felt, e execution, all bool) {
	e.hash = Felt{}
	if all {
		e = execution{amount: new(big.Int), fee: new(big.Int)}
	}
	x.setExecution(owner, salt, e)
}

// create hands money to the execution contract, which it was allowed to take.
func (x *call) create(contract, owner, salt, token Felt, amount, fee *big.Int, hash Felt, expiry uint64) {
	x.ask(contract, "create", felts{owner, salt, token}.u256(amount).u256(fee).add(hash).uint(expiry)...)
}

// createExecution takes the money. The salt is made the caller's own, so that no
// other caller can take the address first.
func createExecution(x *call) {
	owner, salt := arg(x, readAddress), arg(x, readFelt)
	e := execution{token: arg(x, readAddress), amount: arg(x, readU256), fee: arg(x, readU256), hash: arg(x, readFelt), expiry: arg(x, readU64)}
	x.done()
	assert(!e.hash.IsZero(), "create: execution_hash=0")
	salt = wire.Poseidon(x.Caller(), salt)
	there := x.execution(owner, salt)
	assert(there.hash.IsZero(), "create: Already initiated")
	x.setExecution(owner, salt, e)
	x.takeIn(e.token, x.Caller(), plus(e.amount, e.fee))
	x.event("ExecutionCreated", felts{owner, salt, e.hash}, felts{e.token}.u256(e.amount).u256(e.fee).uint(e.expiry))
}

// executionHash commits to calls and to the tokens that the owner gets afterwards.
func executionHash(calls []contractCall, tokens []Felt) Felt {
	var w felts
	for _, c := range calls {
		w = w.add(c.to, c.selector).add(c.calldata...)
	}
	return w.add(tokens...).poseidon()
}

// execute makes the calls for a fee. If they fail, the owner gets the money.
func execute(x *call) {
	owner, salt, calls, tokens, all := arg(x, readAddress), arg(x, readFelt), arg(x, readCalls), arg(x, readAddresses), arg(x, readBool)
	x.done()
	e := x.execution(owner, salt)
	assert(!e.hash.IsZero(), "execute: Already processed")
	assert(e.hash == executionHash(calls, tokens), "execute: Invalid calls/tokens")
	x.end(owner, salt, e, all)
	x.payOut(e.token, x.Caller(), e.fee)
	proxy := x.Get(executionProxy)
	x.payOut(e.token, proxy, e.amount)
	var w felts
	for _, c := range calls {
		w = w.add(c.to, c.selector).span(c.calldata...)
	}
	_, failed := x.Call(proxy, "execute", append(felts(nil).uint(uint64(len(calls))), w...)...)
	x.ask(proxy, "drain_tokens", felts{e.token}.span(tokens...).add(owner)...)
	x.processed(owner, salt, e.hash, failure(failed), failed == nil)
}

func (x *call) processed(owner, salt, hash Felt, reason []Felt, ok bool) {
	x.event("ExecutionProcessed", felts{owner, salt, hash}, felts(nil).span(reason...).bool(ok))
}

// refundExpired gives the money to the owner, and the fee to whoever does it.
func refundExpired(x *call) {
	owner, salt, all := arg(x, readAddress), arg(x, readFelt), arg(x, readBool)
	x.done()
	e := x.execution(owner, salt)
	assert(e.expiry <= x.Block().Time, "refund_exp: Not expired yet")
	assert(!e.hash.IsZero(), "refund_exp: Already processed")
	x.end(owner, salt, e, all)
	x.payOut(e.token, x.Caller(), e.fee)
	x.payOut(e.token, owner, e.amount)
	x.processed(owner, salt, e.hash, nil, false)
}

// refundExecution gives the money back to its owner, who calls it.
func refundExecution(x *call) {
	salt, all := arg(x, readFelt), arg(x, readBool)
	x.done()
	owner := x.Caller()
	e := x.execution(owner, salt)
	assert(!e.hash.IsZero(), "refund: Already processed")
	x.end(owner, salt, e, all)
	x.payOut(e.token, owner, plus(e.amount, e.fee))
	x.processed(owner, salt, e.hash, nil, false)
}

func getExecution(x *call) {
	owner, salt := arg(x, readAddress), arg(x, readFelt)
	x.done()
	e := x.execution(owner, salt)
	x.out = x.out.add(e.token, e.hash).u256(e.amount).u256(e.fee).uint(e.expiry)
}
