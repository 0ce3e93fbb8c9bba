package console

import (
	"crypto/ed25519"
	"crypto/hkdf"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"math/big"
	"os"
	"path/filepath"
	"strings"

	"github.com/btcsuite/btcd/btcec/v2"
	"github.com/btcsuite/btcd/btcutil"
	"github.com/gagliardetto/solana-go"

	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/examples/internal/running"
	"github.com/swapper-go/swapper/watchtower"
)

// KeyVariable is the environment variable with the wallet's secret, 64 hexadecimal
// digits, in place of the key file.
const KeyVariable = "SWAPPER_TESTNET4_KEY"

// Keys is a wallet for test money: one secret, and a key of each chain derived from it.
// It is not made for real money.
type Keys struct {
	Where string // where the secret is kept, to be shown to the user

	bitcoin *btcec.PrivateKey // of EVM chains too
	on      map[string]watchtower.Signer
	address string // on Bitcoin
}

// OpenKeys returns the wallet whose secret is in the environment, or in a file that only
// its owner may read, which is made at the first time.
func OpenKeys(fromEnvironment, file string, network bitcoin.Network) (*Keys, error) {
	text, where := fromEnvironment, "the environment variable "+KeyVariable
	if text == "" {
		var err error
		if text, err = readOrMakeKey(file); err != nil {
			return nil, err
		}
		where = file
	}
	secret, err := hex.DecodeString(strings.TrimPrefix(strings.TrimSpace(text), "0x"))
	if err != nil || len(secret) != 32 {
		return nil, fmt.Errorf("%s must hold 64 hexadecimal digits", where) // and is never shown
	}
	return newKeys(secret, where, network)
}

func readOrMakeKey(file string) (string, error) {
	if info, err := os.Stat(file); err == nil && info.Mode().Perm()&0o077 != 0 {
		return "", fmt.Errorf("%s can be read by other users of this machine: run chmod 600 %s", file, file)
	}
	text, err := os.ReadFile(file)
	if err == nil || !errors.Is(err, fs.ErrNotExist) {
		return string(text), err
	}
	var secret [32]byte
	_, _ = rand.Read(secret[:]) // never fails
	made := hex.EncodeToString(secret[:]) + "\n"
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		return "", err
	}
	f, err := os.OpenFile(file, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return "", err
	}
	_, err = f.WriteString(made)
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return "", errors.Join(err, os.Remove(file)) // half a key would lock the money in that it gets
	}
	return made, nil
}

func newKeys(secret []byte, where string, network bitcoin.Network) (*Keys, error) {
	ecdsa, err := derive(secret, "secp256k1")
	if err != nil {
		return nil, err
	}
	eddsa, err := derive(secret, "ed25519")
	if err != nil {
		return nil, err
	}
	stark, err := derive(secret, "stark")
	if err != nil {
		return nil, err
	}
	n := new(big.Int).SetBytes(stark)
	n.Rsh(n, 6).Add(n, big.NewInt(1)) // from 1 to 2^250, which is below the order of the curve
	k := &Keys{Where: where}
	k.bitcoin, _ = btcec.PrivKeyFromBytes(ecdsa)
	k.on = map[string]watchtower.Signer{
		"CITREA": running.EVM{Key: k.bitcoin.ToECDSA()}, "SOLANA": running.Solana{Key: solana.PrivateKey(ed25519.NewKeyFromSeed(eddsa))}, "STARKNET": running.NewStarknet(n),
	}
	a, err := bitcoin.NewAddress(bitcoin.P2WPKH, btcutil.Hash160(k.bitcoin.PubKey().SerializeCompressed()), network)
	if err != nil {
		return nil, err
	}
	k.address = a.String()
	return k, nil
}

// derive returns the key of one curve. The value is outside the range of
// secp256k1 keys with a probability of 2^-128.
func derive(secret []byte, curve string) ([]byte, error) {
	return hkdf.Key(sha256.New, secret, nil, "swapper examples: "+curve, 32)
}

// Address returns the wallet's address on a chain, "" on one that it has no key for.
func (k *Keys) Address(chain string) string {
	if chain == "BITCOIN" {
		return k.address
	}
	if signer, ok := k.on[chain]; ok {
		return signer.Address()
	}
	return ""
}

// Signer returns what signs for the wallet on a smart chain, nil on one that it has no key for.
func (k *Keys) Signer(chain string) watchtower.Signer { return k.on[chain] }

// BitcoinPublicKey returns the public key of the address on Bitcoin, in hex. With it, the
// status of a swap has a transaction whose inputs are chosen already.
func (k *Keys) BitcoinPublicKey() string {
	return hex.EncodeToString(k.bitcoin.PubKey().SerializeCompressed())
}
