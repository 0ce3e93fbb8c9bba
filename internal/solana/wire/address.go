package wire

import (
	"errors"

	"filippo.io/edwards25519"
	"github.com/gagliardetto/solana-go"
)

// Key is an address: a wallet's public key, or an address of a program's making.
type Key = solana.PublicKey

// Reasons why a string or a key is not an address.
var (
	ErrKeyForm  = errors.New("not a valid Solana address: it must be 32 bytes in base58")
	ErrOffCurve = errors.New("the Solana address is off the curve: it belongs to a program and cannot be used in a swap")
)

// Programs and accounts of Solana itself.
var (
	SystemProgram    = solana.SystemProgramID
	TokenProgram     = solana.TokenProgramID
	ATAProgram       = solana.SPLAssociatedTokenAccountProgramID
	BudgetProgram    = solana.ComputeBudget
	Ed25519Program   = MustKey("Ed25519SigVerify111111111111111111111111111")
	InstructionsData = solana.SysVarInstructionsPubkey // through which a program sees the other instructions of its transaction
	WSOL             = solana.SolMint                  // the mint that stands for the native token
)

const base58Digits = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"

// base58Value is the value of each base58 digit, 0xff for other bytes.
var base58Value = func() (table [256]byte) {
	for i := range table {
		table[i] = 0xff
	}
	for i := range len(base58Digits) {
		table[base58Digits[i]] = byte(i)
	}
	return table
}()

// ParseKey decodes base58 text of exactly 32 bytes. In base58 each leading "1" is a
// zero byte, so the number of leading ones must be that of leading zeros; each key
// has one text.
func ParseKey(s string) (key Key, err error) {
	if len(s) < 32 || len(s) > 44 {
		return key, ErrKeyForm
	}
	var limbs [8]uint32 // big-endian
	for i := range len(s) {
		carry := uint64(base58Value[s[i]])
		if carry == 0xff {
			return key, ErrKeyForm
		}
		for j := len(limbs) - 1; j >= 0; j-- {
			carry += uint64(limbs[j]) * 58
			limbs[j] = uint32(carry)
			carry >>= 32
		}
		if carry != 0 {
			return key, ErrKeyForm
		}
	}
	for i, v := range limbs {
		key[4*i], key[4*i+1], key[4*i+2], key[4*i+3] = byte(v>>24), byte(v>>16), byte(v>>8), byte(v)
	}
	ones, zeros := 0, 0
	for ones < len(s) && s[ones] == '1' {
		ones++
	}
	for zeros < len(key) && key[zeros] == 0 {
		zeros++
	}
	if ones != zeros {
		return Key{}, ErrKeyForm
	}
	return key, nil
}

// MustKey is [ParseKey] for constants.
func MustKey(s string) Key {
	k, err := ParseKey(s)
	if err != nil {
		panic(err)
	}
	return k
}

// OnCurve reports whether a key is a point of the ed25519 curve in its canonical
// encoding: whether somebody can hold its secret key. The library takes other
// encodings of a point too, the network's clients do not.
func OnCurve(k Key) bool {
	p, err := new(edwards25519.Point).SetBytes(k[:])
	return err == nil && Key(p.Bytes()) == k
}

var errZeroAddress = errors.New("the address is the system program, not a wallet")

// Address returns s if it is the address of a Solana wallet: base58 of exactly
// 32 bytes that are a point of the ed25519 curve. Program-derived addresses
// (multisigs, vaults) are off the curve; they have no private key and the swap
// programs refuse them. Base58 is unique per value, so the canonical form is s
// itself. The all-zero address is refused (protocol: chain-solana.md §2).
func Address(s string) (canonical string, err error) {
	key, err := parseNonZero(s)
	switch {
	case err != nil:
		return "", err
	case !OnCurve(key):
		return "", ErrOffCurve
	}
	return s, nil
}

// TokenAddress returns s if it can be the address of a token (a mint): base58 of
// 32 bytes, on the curve or not, not all zero.
func TokenAddress(s string) (canonical string, err error) {
	if _, err := parseNonZero(s); err != nil {
		return "", err
	}
	return s, nil
}

func parseNonZero(s string) (Key, error) {
	key, err := ParseKey(s)
	if err == nil && key.IsZero() {
		err = errZeroAddress
	}
	return key, err
}
