package contracts

import (
	"crypto/sha256"
	"fmt"
	"math/big"

	"github.com/NethermindEth/starknet.go/curve"

	"github.com/swapper-go/swapper/internal/starknet/wire"
)

// Key is a private key of the Stark curve with its account, of OpenZeppelin's class. It signs
// messages and transactions. It is a value and safe for concurrent use.
type Key struct {
	secret  wire.Felt
	public  wire.Felt
	address wire.Felt
}

// KeyOf returns the key of a name, always the same.
func KeyOf(name string) Key {
	seed := sha256.Sum256([]byte("local starknet network: " + name))
	secret := new(big.Int).SetBytes(seed[:])
	secret.Rsh(secret, 6).Add(secret, big.NewInt(1)) // from 1 to 2^250, below the order of the curve
	f, err := wire.FeltOfBig(secret)
	if err != nil {
		panic(err) // smaller than the prime
	}
	x, _ := curve.PrivateKeyToPoint(secret)
	public, err := wire.FeltOfBig(x)
	if err != nil {
		panic(err) // the curve is over the field
	}
	return Key{f, public, wire.OpenZeppelin(public).Address()}
}

// Secret returns the private key as wallets take it.
func (k Key) Secret() string { return wire.Hex64(k.secret) }

// String hides the key from logs.
func (k Key) String() string { return "***" }

// GoString hides it too.
func (k Key) GoString() string { return "***" }

// Public returns the x coordinate of the public key.
func (k Key) Public() wire.Felt { return k.public }

// Deploy is what makes the account.
func (k Key) Deploy() wire.Deploy { return wire.OpenZeppelin(k.public) }

// Address is the address of the account, deployed or not.
func (k Key) Address() wire.Felt { return k.address }

// Sign signs a hash: r and s.
func (k Key) Sign(hash wire.Felt) ([]wire.Felt, error) {
	r, s, err := curve.SignFelts(&hash, &k.secret)
	if err != nil {
		return nil, fmt.Errorf("sign: %w", err)
	}
	return []wire.Felt{*r, *s}, nil
}

// SignMessage signs typed data as the account, in the form in which providers send
// signatures.
func (k Key) SignMessage(m wire.TypedData) (string, error) {
	hash, err := m.Hash(k.address)
	if err != nil {
		return "", err
	}
	signature, err := k.Sign(hash)
	return wire.FormatSignature(signature), err
}

// SignTransaction signs what is not signed yet. A deployment gets the account's class,
// salt and constructor, which are secret.
func (k Key) SignTransaction(t *wire.Transaction) error {
	if t.Sender != k.address {
		return fmt.Errorf("the transaction is of %s, the key of %s", wire.Hex64(t.Sender), wire.Hex64(k.address))
	}
	if t.Type == wire.DeployAccount {
		t.Deploy = k.Deploy()
	} else {
		t.Calldata = wire.ExecuteCalldata(t.Calls)
	}
	t.Signed = true
	hash, err := t.Hash()
	if err != nil {
		return err
	}
	t.Signature, err = k.Sign(hash)
	return err
}
