package running

import (
	"context"
	"crypto/ecdsa"
	"crypto/ed25519"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math/big"
	"os"
	"strings"

	"github.com/NethermindEth/juno/core/felt"
	"github.com/NethermindEth/starknet.go/contracts"
	"github.com/NethermindEth/starknet.go/curve"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/crypto"
	sol "github.com/gagliardetto/solana-go"

	"github.com/swapper-go/swapper/chains/evm"
	"github.com/swapper-go/swapper/chains/solana"
	"github.com/swapper-go/swapper/chains/starknet"
	"github.com/swapper-go/swapper/watchtower"
)

// Open returns the account on a chain whose key is a text: 64 hexadecimal digits for EVM
// chains; for Solana 64 bytes in base58, in hexadecimal digits, or as a list, as solana-keygen
// writes it; for Starknet a number in hexadecimal digits. On Starknet at is the account's
// address; "" is OpenZeppelin's account of this key, which its first transaction deploys.
func Open(chain, key, at string) (watchtower.Signer, error) {
	key = strings.TrimSpace(key)
	switch chain {
	case solana.ChainID:
		return openSolana(key)
	case starknet.ChainID:
		return openStarknet(key, at)
	}
	k, err := crypto.HexToECDSA(strings.TrimPrefix(key, "0x"))
	if err != nil {
		return nil, errors.New("must be a key of 64 hexadecimal digits")
	}
	return EVM{k}, nil
}

// ReadKey reads the key of an account from a file that only its owner may read.
func ReadKey(file string) (string, error) {
	info, err := os.Stat(file)
	if err != nil {
		return "", err
	}
	if info.Mode().Perm()&0o077 != 0 {
		return "", fmt.Errorf("%s can be read by other users of this machine: run chmod 600 %s", file, file)
	}
	text, err := os.ReadFile(file)
	if err == nil && strings.TrimSpace(string(text)) == "" {
		err = &fs.PathError{Op: "read", Path: file, Err: errors.New("is empty")}
	}
	return string(text), err
}

func each(unsigned []string, sign func(string) (string, error)) ([]string, error) {
	signed := make([]string, len(unsigned))
	for i, tx := range unsigned {
		var err error
		if signed[i], err = sign(tx); err != nil {
			return nil, fmt.Errorf("sign transaction %d of %d: %w", i+1, len(unsigned), err)
		}
	}
	return signed, nil
}

// EVM is an account of EVM chains.
type EVM struct{ Key *ecdsa.PrivateKey }

// Address implements [watchtower.Signer].
func (a EVM) Address() string { return crypto.PubkeyToAddress(a.Key.PublicKey).Hex() }

// Sign implements [watchtower.Signer].
func (a EVM) Sign(_ context.Context, unsigned []string) ([]string, error) {
	return each(unsigned, func(text string) (string, error) {
		unsigned, err := evm.UnsignedTransaction(text)
		if err != nil {
			return "", err
		}
		tx, err := types.SignTx(unsigned, types.LatestSignerForChainID(unsigned.ChainId()), a.Key)
		if err != nil {
			return "", err
		}
		raw, err := tx.MarshalBinary()
		return hexutil.Encode(raw), err
	})
}

// Solana is an account of Solana.
type Solana struct{ Key sol.PrivateKey }

func openSolana(key string) (watchtower.Signer, error) {
	var bytes []byte
	var list []uint16
	if raw, err := hex.DecodeString(key); err == nil {
		bytes = raw
	} else if json.Unmarshal([]byte(key), &list) == nil {
		for _, b := range list {
			if b > 0xff {
				return nil, errSolana
			}
			bytes = append(bytes, byte(b))
		}
	} else if k, err := sol.PrivateKeyFromBase58(key); err == nil {
		bytes = k
	}
	if len(bytes) == ed25519.PrivateKeySize && ed25519.NewKeyFromSeed(bytes[:ed25519.SeedSize]).Equal(ed25519.PrivateKey(bytes)) {
		return Solana{bytes}, nil
	}
	return nil, errSolana
}

var errSolana = errors.New("must be a key of 64 bytes: in base58, in hexadecimal digits, or as solana-keygen writes it")

// Address implements [watchtower.Signer].
func (a Solana) Address() string { return a.Key.PublicKey().String() }

// Sign implements [watchtower.Signer].
func (a Solana) Sign(_ context.Context, unsigned []string) ([]string, error) {
	return each(unsigned, func(text string) (string, error) {
		tx, err := solana.UnsignedTransaction(text)
		if err != nil {
			return "", err
		}
		_, err = tx.PartialSign(func(signer sol.PublicKey) *sol.PrivateKey {
			if signer == a.Key.PublicKey() {
				return &a.Key
			}
			return nil // of another, who has signed already
		})
		if err != nil {
			return "", err
		}
		raw, err := tx.MarshalBinary()
		return hex.EncodeToString(raw), err
	})
}

// Starknet is an account of Starknet, deployed or of OpenZeppelin's class.
type Starknet struct {
	secret, public, address *felt.Felt // the public key is its x coordinate
	own                     bool       // its class is OpenZeppelin's
}

// Class is OpenZeppelin's account, whose constructor takes the public key. The account's
// first transaction comes with its deployment; its address is known before.
var Class = felt.UnsafeFromString[felt.Felt]("0x00261c293c8084cd79086214176b33e5911677cec55104fddc8d25b0b736dcad")

// NewStarknet returns OpenZeppelin's account of a secret, which is above 0 and below the
// order of the curve.
func NewStarknet(secret *big.Int) Starknet {
	x, _ := curve.PrivateKeyToPoint(secret)
	a := Starknet{secret: new(felt.Felt).SetBigInt(secret), public: new(felt.Felt).SetBigInt(x), own: true}
	a.address = contracts.PrecomputeAddress(&felt.Zero, a.public, &Class, []*felt.Felt{a.public})
	return a
}

func openStarknet(key, at string) (watchtower.Signer, error) {
	secret, ok := new(big.Int).SetString(strings.TrimPrefix(key, "0x"), 16)
	if !ok || secret.Sign() <= 0 || secret.Cmp(new(big.Int).Lsh(big.NewInt(1), 251)) >= 0 {
		return nil, errors.New("must be a key of up to 63 hexadecimal digits, below 2^251")
	}
	a := NewStarknet(secret)
	if at == "" {
		return a, nil
	}
	address, err := new(felt.Felt).SetString(at)
	if err != nil {
		return nil, errors.New("account: must be an address such as 0x0123")
	}
	a.own, a.address = a.own && address.Equal(a.address), address
	return a, nil
}

// Address implements [watchtower.Signer].
func (a Starknet) Address() string {
	b := a.address.Bytes()
	return "0x" + hex.EncodeToString(b[:])
}

// Sign implements [watchtower.Signer].
func (a Starknet) Sign(_ context.Context, unsigned []string) ([]string, error) {
	return each(unsigned, func(text string) (string, error) {
		tx, err := starknet.UnsignedTransaction(text)
		if err != nil {
			return "", err
		}
		if d := tx.Deploy; d != nil { // of this account, whose class only its wallet knows
			if !a.own {
				return "", fmt.Errorf("the account %s is not deployed: deploy it first", a.Address())
			}
			d.ClassHash, d.ContractAddressSalt, d.ConstructorCalldata = &Class, a.public, []*felt.Felt{a.public}
		}
		hash, err := tx.Hash()
		if err != nil {
			return "", err
		}
		r, s, err := curve.SignFelts(hash, a.secret)
		if err != nil {
			return "", err
		}
		return tx.Sign(r, s)
	})
}
