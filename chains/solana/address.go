// Package solana is what the library needs from Solana.
package solana

import (
	"errors"

	"filippo.io/edwards25519"
)

// Reasons why a string is not an address of Solana.
var (
	ErrAddressForm = errors.New("not a valid Solana address: it must be 32 bytes in base58")
	ErrOffCurve    = errors.New("the Solana address is off the curve: it belongs to a program and cannot be used in a swap")
	ErrZeroAddress = errors.New("the address is the system program, not a wallet")
)

// Address returns s if it is the address of a Solana wallet: base58 of exactly
// 32 bytes that are a point of the ed25519 curve. Program-derived addresses
// (multisigs, vaults) are off the curve; nobody signs for them and the swap
// programs refuse them. Base58 has one text per value, so the canonical form is
// s itself. The all-zero address is refused (protocol: chain-solana.md §2).
//
// The form is as strict as it can be, so strict changes nothing here; it is
// there for chains that know a second, looser form.
func Address(s string, strict bool) (canonical string, err error) {
	key, err := decodeKey(s)
	if err != nil {
		return "", err
	}
	if key == [32]byte{} {
		return "", ErrZeroAddress
	}
	// The library takes non-canonical encodings of a point, the network's clients
	// do not: only what encodes back to itself is an address.
	p, err := new(edwards25519.Point).SetBytes(key[:])
	if err != nil || [32]byte(p.Bytes()) != key {
		return "", ErrOffCurve
	}
	return s, nil
}

// TokenAddress returns s if it can be the address of a token (a mint): base58 of
// 32 bytes, on the curve or not, not all zero.
func TokenAddress(s string) (canonical string, err error) {
	key, err := decodeKey(s)
	if err != nil {
		return "", err
	}
	if key == [32]byte{} {
		return "", ErrZeroAddress
	}
	return s, nil
}

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

// decodeKey decodes base58 text of exactly 32 bytes. In base58 each leading "1"
// is a zero byte, so the number of leading ones must be that of leading zeros.
func decodeKey(s string) (key [32]byte, err error) {
	if len(s) < 32 || len(s) > 44 {
		return key, ErrAddressForm
	}
	var limbs [8]uint32 // big-endian
	for i := range len(s) {
		carry := uint64(base58Value[s[i]])
		if carry == 0xff {
			return key, ErrAddressForm
		}
		for j := len(limbs) - 1; j >= 0; j-- {
			carry += uint64(limbs[j]) * 58
			limbs[j] = uint32(carry)
			carry >>= 32
		}
		if carry != 0 {
			return key, ErrAddressForm
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
		return key, ErrAddressForm
	}
	return key, nil
}
