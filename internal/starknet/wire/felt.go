package wire

import (
	"errors"
	"fmt"
	"math/big"
	"math/bits"
	"strings"

	"github.com/NethermindEth/juno/core/crypto"
	"github.com/NethermindEth/juno/core/felt"
)

// Felt is an element of Starknet's field: a number from 0 to P-1, where P is
// 2^251 + 17*2^192 + 1. Felts of the same number are equal by ==.
type Felt = felt.Felt

var errFelt = errors.New("must be a number below Starknet's prime, in decimal or in 0x and hexadecimal digits")

// FeltOf returns a small number as a felt.
func FeltOf(n uint64) (f Felt) {
	f.SetUint64(n)
	return f
}

// ParseFelt reads decimal digits, or 0x and hexadecimal digits of either case, with
// any number of leading zeros up to 80 characters. A number of P and above is
// refused: reduced, it would pass for another one (§4).
func ParseFelt(s string) (Felt, error) {
	if digits, ok := hexDigits(s); ok {
		return parseHex(digits)
	}
	n, err := parseDecimal(s, 252)
	if err != nil {
		return Felt{}, errFelt
	}
	return FeltOfBig(n)
}

// MustFelt is [ParseFelt] for constants.
func MustFelt(s string) Felt {
	f, err := ParseFelt(s)
	if err != nil {
		panic(fmt.Sprintf("%q %v", s, err))
	}
	return f
}

func hexDigits(s string) (digits string, ok bool) {
	if len(s) < 3 || len(s) > 80 || s[0] != '0' || s[1]|0x20 != 'x' {
		return "", false
	}
	return s[2:], true
}

func parseHex(digits string) (f Felt, err error) {
	digits = strings.TrimLeft(digits, "0")
	if len(digits) > 64 {
		return Felt{}, errFelt
	}
	var b [32]byte
	for i := range len(digits) {
		v := nibble(digits[len(digits)-1-i])
		if v > 15 {
			return Felt{}, errFelt
		}
		b[31-i/2] |= v << (4 * (i % 2))
	}
	if f.SetBytesCanonical(b[:]) != nil {
		return Felt{}, errFelt
	}
	return f, nil
}

func nibble(c byte) byte {
	switch {
	case '0' <= c && c <= '9':
		return c - '0'
	case 'a' <= c && c <= 'f':
		return c - 'a' + 10
	case 'A' <= c && c <= 'F':
		return c - 'A' + 10
	}
	return 0xff
}

// parseDecimal reads decimal digits and nothing else, of a number of at most so many bits.
func parseDecimal(s string, size int) (*big.Int, error) {
	if s == "" || len(s) > 80 || strings.Trim(s, "0123456789") != "" {
		return nil, fmt.Errorf("must be decimal digits of a number from 0 to 2^%d-1", size)
	}
	n, ok := new(big.Int).SetString(s, 10)
	if !ok || n.BitLen() > size {
		return nil, fmt.Errorf("must be decimal digits of a number from 0 to 2^%d-1", size)
	}
	return n, nil
}

// FeltOfBig returns a number as a felt; it is refused unless it is from 0 to P-1.
func FeltOfBig(n *big.Int) (Felt, error) {
	if n == nil || n.Sign() < 0 || n.BitLen() > 252 {
		return Felt{}, errFelt
	}
	var b [32]byte
	return FeltOfBytes(n.FillBytes(b[:]))
}

// FeltOfBytes reads a big-endian number of at most 32 bytes below P.
func FeltOfBytes(b []byte) (f Felt, err error) {
	var full [32]byte
	if len(b) > len(full) {
		return Felt{}, errFelt
	}
	copy(full[len(full)-len(b):], b)
	if f.SetBytesCanonical(full[:]) != nil {
		return Felt{}, errFelt
	}
	return f, nil
}

// Number returns a felt as a number.
func Number(f Felt) *big.Int { return f.BigInt(new(big.Int)) }

// Hex is how nodes write a felt: 0x and lower-case digits without leading zeros.
func Hex(f Felt) string { return f.String() }

// Hex64 is how the network writes addresses and hashes: 0x and 64 lower-case digits.
func Hex64(f Felt) string { return "0x" + Digits64(f) }

// Digits64 is the 64 lower-case digits of a felt, without 0x.
func Digits64(f Felt) string {
	b := f.Bytes()
	return fmt.Sprintf("%x", b[:])
}

// Decimal is how the strings that wallets get write calldata: digits alone, also of the
// largest felts, which the library would print as small negative numbers.
func Decimal(f Felt) string { return Number(f).String() }

// bitLen is the number of bits of a felt.
func bitLen(f Felt) int {
	words := f.Bits()
	for i := len(words) - 1; i >= 0; i-- {
		if words[i] != 0 {
			return 64*i + bits.Len64(words[i])
		}
	}
	return 0
}

// ShortString returns a constant text of at most 31 ASCII characters as contracts hold
// it. It panics if the text is longer: what comes from elsewhere is measured before.
func ShortString(s string) Felt {
	f, err := FeltOfBytes([]byte(s))
	if err != nil || len(s) > 31 {
		panic(fmt.Sprintf("%q is not a short string", s))
	}
	return f
}

// Poseidon hashes felts as contracts do (poseidon_hash_many). The empty list has a hash.
func Poseidon(felts ...Felt) Felt {
	return *crypto.PoseidonArray(pointers(felts)...)
}

// Selector names an entry point or an event: the keccak hash of its name, cut to 250 bits.
func Selector(name string) Felt { return *crypto.StarknetKeccak([]byte(name)) }

// inBits reports whether n is from 0 to 2^size-1.
func inBits(n *big.Int, size int) bool { return n != nil && n.Sign() >= 0 && n.BitLen() <= size }

// pointers returns felts as the libraries want them. They share memory with felts.
func pointers(felts []Felt) []*Felt {
	all := make([]*Felt, len(felts))
	for i := range felts {
		all[i] = &felts[i]
	}
	return all
}
