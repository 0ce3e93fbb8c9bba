package wire

import (
	"github.com/NethermindEth/starknet.go/contracts"
)

// ClassOpenZeppelin is the account class of the network's own test accounts: its
// constructor takes the public key, which is the salt too (§17).
var ClassOpenZeppelin = MustFelt("0x00261c293c8084cd79086214176b33e5911677cec55104fddc8d25b0b736dcad")

// Deploy is what makes an account: its class, the salt and what its constructor gets.
type Deploy struct {
	ClassHash           Felt
	Salt                Felt
	ConstructorCalldata []Felt
}

// OpenZeppelin is the account of a key in the class [ClassOpenZeppelin].
func OpenZeppelin(publicKey Felt) Deploy {
	return Deploy{ClassOpenZeppelin, publicKey, []Felt{publicKey}}
}

// Address is where the account will stand. Anybody knows it before there is an
// account, and may have sent something to it.
func (d Deploy) Address() Felt {
	f := contracts.PrecomputeAddress(&Felt{}, &d.Salt, &d.ClassHash, pointers(d.ConstructorCalldata))
	if validAddress(*f) {
		return *f
	}
	n := Number(*f)
	return felts(nil).number(n.Mod(n, Number(firstBeyond)))[0]
}
