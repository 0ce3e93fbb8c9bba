package contracts

import (
	"github.com/NethermindEth/juno/core/crypto"
	"github.com/NethermindEth/starknet.go/contracts"

	"github.com/swapper-go/swapper/internal/bounds"
	"github.com/swapper-go/swapper/internal/starknet/wire"
)

// beyond is 2^251 - 256, the first number above all addresses of contracts and of
// places in their storage.
var addressEnd = wire.Number(wire.MustFelt("0x07ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff00"))

func within(f Felt) Felt {
	n := wire.Number(f)
	if n.Cmp(addressEnd) < 0 {
		return f
	}
	f, err := wire.FeltOfBig(n.Mod(n, addressEnd))
	if err != nil {
		panic(err) // smaller than before
	}
	return f
}

// Address returns the address of a contract that deployer deploys. Accounts deploy
// themselves: their deployer is zero.
func Address(deployer, class, salt Felt, calldata []Felt) Felt {
	all := make([]*Felt, len(calldata))
	for i := range calldata {
		all[i] = &calldata[i]
	}
	return within(*contracts.PrecomputeAddress(&deployer, &salt, &class, all))
}

// places are where elements of maps stand: the hash takes a hundred times as long as the
// rest of a transfer.
var places = bounds.NewCache[place, Felt](10_000)

// place is a step on the way to an element of a map.
type place struct{ at, key Felt }

// Key returns the storage key of a variable of a contract: one of its own, or an
// element of a map under keys, as Cairo's compiler places them. A value of several
// felts continues after it ([At]).
func StorageKey(variable string, keys ...Felt) Felt {
	at := wire.Selector(variable)
	for _, key := range keys {
		to := place{at, key}
		found, known := places.Get(to)
		if !known {
			found = *crypto.Pedersen(&at, &key)
			places.Add(to, found)
		}
		at = found
	}
	return within(at)
}

// At returns the i-th felt of a value that stands at key.
func At(key Felt, i int) (f Felt) {
	offset := wire.FeltOf(uint64(i))
	f.Add(&key, &offset)
	return f
}
