package contracts

import (
	"github.com/swapper-go/swapper/internal/starknet/wire"
)

// Accounts check signatures of Stark keys and make the calls of a transaction.

var valid = wire.ShortString("VALID")

// Interfaces by which others know an account (SNIP-5, SNIP-6).
var (
	interfaceSRC5 = wire.MustFelt("0x3f918d17e5ee77373b56385708f855659a07f75997f365cf87748628532a055")
	interfaceSRC6 = wire.MustFelt("0x2ceccef7f994940b3962a6c67e0ba4fcd37df7d131417c604f91e03caecc1cd")
)

// openZeppelinAccount is the account of one key. Its constructor takes the key.
func openZeppelinAccount() Class {
	key := StorageKey("Account_public_key")
	signs := func(x *call, hash Felt, signature []Felt) bool {
		x.Charge(signatureGas)
		return wire.SignedByKey(x.Get(key), hash, signature)
	}
	validate := func(x *call) {
		assert(signs(x, x.Tx().Hash, x.Tx().Signature), "Account: invalid signature")
		x.out = x.out.add(valid)
	}
	isValid := func(x *call) {
		hash, signature := arg(x, readFelt), arg(x, readFelts)
		x.done()
		if signs(x, hash, signature) {
			x.out = x.out.add(valid)
		} else {
			x.out = x.out.uint(0)
		}
	}
	publicKey := func(x *call) {
		x.done()
		x.out = x.out.add(x.Get(key))
	}
	own := func(x *call, owner Felt) {
		x.Set(key, owner)
		x.event("OwnerAdded", felts{owner}, nil)
	}
	setPublicKey := func(x *call) {
		owner, signature := arg(x, readFelt), arg(x, readFelts)
		x.done()
		assert(x.Caller() == x.Address(), "Account: unauthorized")
		was := x.Get(key)
		accept := wire.Poseidon(wire.ShortString("StarkNet Message"), wire.ShortString("accept_ownership"), x.Address(), was)
		assert(wire.SignedByKey(owner, accept, signature), "Account: invalid signature")
		x.event("OwnerRemoved", felts{was}, nil)
		own(x, owner)
	}
	return Class{
		Name: "OpenZeppelin account", Hash: wire.ClassOpenZeppelin, ABI: openZeppelinABI,
		Constructor: entry(func(x *call) {
			owner := arg(x, readFelt)
			x.done()
			own(x, owner)
		}),
		Entries: accountEntries(map[string]func(*call){
			"__validate__": func(x *call) {
				arg(x, readCalls)
				x.done()
				validate(x)
			},
			"__validate_deploy__": func(x *call) {
				arg(x, readFelt) // class hash
				arg(x, readFelt) // salt
				arg(x, readFelt) // key
				x.done()
				validate(x)
			},
			"__execute__":        executeCalls,
			"is_valid_signature": isValid,
			"isValidSignature":   isValid,
			"get_public_key":     publicKey,
			"getPublicKey":       publicKey,
			"set_public_key":     setPublicKey,
			"setPublicKey":       setPublicKey,
			"supports_interface": func(x *call) {
				id := arg(x, readFelt)
				x.done()
				x.out = x.out.bool(id == interfaceSRC5 || id == interfaceSRC6)
			},
		}),
	}
}

// executeCalls makes the calls of a transaction.
func executeCalls(x *call) {
	calls := arg(x, readCalls)
	x.done()
	caller := x.Caller()
	assert(caller.IsZero(), "Account: invalid caller")
	assert(x.Tx().Version >= 1, "Account: invalid tx version")
	for _, c := range calls {
		if _, err := x.callContract(c.to, c.selector, c.calldata); err != nil {
			panic(err)
		}
	}
}

// contractCall is a call that an account or the execution contract makes for somebody.
type contractCall struct {
	to, selector Felt
	calldata     []Felt
}

func readCall(r *reader) contractCall {
	return contractCall{to: readAddress(r), selector: readFelt(r), calldata: readFelts(r)}
}

func readCalls(r *reader) []contractCall { return readList(r, readCall) }
