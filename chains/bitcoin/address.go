package bitcoin

import (
	"errors"
	"fmt"
	"strings"

	"github.com/btcsuite/btcd/btcutil/base58"
	"github.com/btcsuite/btcd/btcutil/bech32"
)

// Address is a Bitcoin address of one network. It is a comparable value; its
// zero value is not a valid address. Every other value can be paid; taproot
// keys are checked to be points on the curve.
type Address struct {
	text    string
	program [32]byte // the first forms[typ].program bytes are used
	typ     AddressType
	network Network
}

// ParseAddress reads an address of network n. It accepts exactly the five forms
// of [AddressType] and rejects addresses of other networks, keys, surrounding
// white space, and witness programs of other versions or lengths (protocol:
// bitcoin.md §2.1). Testnet3, testnet4 and signet share their addresses, and
// regtest shares their Base58 ones.
//
// Do not use btcutil.DecodeAddress instead: it turns some invalid texts into
// scripts that cannot be spent (§2.4).
func ParseAddress(s string, n Network) (Address, error) {
	if !n.Valid() {
		return Address{}, fmt.Errorf("unknown Bitcoin network %d", int(n))
	}
	if len(s) < 14 || len(s) > 74 {
		return Address{}, fmt.Errorf("not a valid Bitcoin address: it has %d characters, must have 14 to 74", len(s))
	}
	t, program, err := decodeAddress(s, n.Params())
	if err == nil {
		return newAddress(t, program, n)
	}
	var others []string // that share their addresses
	for other := range Network(len(params)) {
		if _, _, e := decodeAddress(s, other.Params()); e == nil {
			others = append(others, other.String())
		}
	}
	if len(others) > 0 {
		return Address{}, fmt.Errorf("%w: the address is for %s, expected one for %s", ErrOtherNetwork, strings.Join(others, " or "), n)
	}
	return Address{}, fmt.Errorf("not a valid Bitcoin address: %w", err)
}

// ErrOtherNetwork is wrapped by the error of [ParseAddress] for a valid address
// of another Bitcoin network.
var ErrOtherNetwork = errors.New("wrong Bitcoin network")

// AddressFromScript returns the address that an output script pays to. It
// returns an error for scripts that have no address: OP_RETURN, bare public
// keys and multisig, other witness versions, non-canonical pushes.
func AddressFromScript(script []byte, n Network) (Address, error) {
	if !n.Valid() {
		return Address{}, fmt.Errorf("unknown Bitcoin network %d", int(n))
	}
	t, program, ok := parseScript(script)
	if !ok {
		return Address{}, errors.New("output script does not correspond to an address")
	}
	return newAddress(t, program, n)
}

// NewAddress returns the address of type t for a program: the hash of a key or
// script, or the x coordinate of a taproot output key.
func NewAddress(t AddressType, program []byte, n Network) (Address, error) {
	if !t.Valid() || !n.Valid() {
		return Address{}, fmt.Errorf("unknown address type %s or network %s", t, n)
	}
	if len(program) != forms[t].program {
		return Address{}, fmt.Errorf("%s program has %d bytes instead of %d", t, len(program), forms[t].program)
	}
	if t == P2TR && !onCurve(program) {
		return Address{}, errors.New("its taproot key is not on the curve")
	}
	return newAddress(t, program, n)
}

// String returns the address text; segwit addresses in lower case.
func (a Address) String() string { return a.text }

// Type returns the form of the address.
func (a Address) Type() AddressType { return a.typ }

// Network returns the network that the address was read for.
func (a Address) Network() Network { return a.network }

// IsZero reports whether a is the zero value.
func (a Address) IsZero() bool { return a.typ == 0 }

// Program returns a copy of what the address commits to: a hash of 20 or 32
// bytes, or the x coordinate of the taproot output key.
func (a Address) Program() []byte {
	if a.IsZero() {
		return nil
	}
	return append([]byte(nil), a.program[:forms[a.typ].program]...)
}

// Script returns the output script that pays to the address; nil for the zero
// value. The caller owns the slice.
func (a Address) Script() []byte {
	if a.IsZero() {
		return nil
	}
	f := forms[a.typ]
	script := make([]byte, 0, a.typ.ScriptLen())
	script = append(script, f.prefix...)
	script = append(script, a.program[:f.program]...)
	return append(script, f.suffix...)
}

// newAddress writes the text of a program whose length and key were checked.
func newAddress(t AddressType, program []byte, n Network) (Address, error) {
	a := Address{typ: t, network: n}
	copy(a.program[:], program)
	p := n.Params()
	switch t {
	case P2PKH:
		a.text = base58.CheckEncode(program, p.P2PKH)
		return a, nil
	case P2SH:
		a.text = base58.CheckEncode(program, p.P2SH)
		return a, nil
	}
	words, err := bech32.ConvertBits(program, 8, 5, true)
	if err != nil {
		return Address{}, err
	}
	if t == P2TR {
		a.text, err = bech32.EncodeM(p.HRP, append([]byte{1}, words...))
	} else {
		a.text, err = bech32.Encode(p.HRP, append([]byte{0}, words...))
	}
	if err != nil {
		return Address{}, err
	}
	return a, nil
}

var errChecksum = errors.New("checksum mismatch: a character is wrong or missing")

func decodeAddress(s string, p Params) (AddressType, []byte, error) {
	if prefix := p.HRP + "1"; len(s) >= len(prefix) && strings.EqualFold(s[:len(prefix)], prefix) {
		return decodeSegwit(s, p.HRP)
	}
	program, version, err := base58.CheckDecode(s)
	switch {
	case errors.Is(err, base58.ErrChecksum):
		return 0, nil, errChecksum
	case err != nil:
		return 0, nil, fmt.Errorf("it is neither base58 nor a segwit address that begins with %s1", p.HRP)
	case len(program) != 20:
		return 0, nil, fmt.Errorf("its hash has %d bytes instead of 20", len(program))
	case version == p.P2PKH:
		return P2PKH, program, nil
	case version == p.P2SH:
		return P2SH, program, nil
	}
	return 0, nil, fmt.Errorf("its version byte %#02x is not that of a Bitcoin address", version)
}

func decodeSegwit(s, hrp string) (AddressType, []byte, error) {
	got, words, checksum, err := bech32.DecodeGeneric(s)
	if _, wrong := errors.AsType[bech32.ErrInvalidChecksum](err); wrong {
		return 0, nil, errChecksum // without what the checksum should be: a person could only make a damaged address look good with it
	}
	if err != nil {
		return 0, nil, err
	}
	if got != hrp || len(words) == 0 {
		return 0, nil, errors.New("it has no witness program")
	}
	program, err := bech32.ConvertBits(words[1:], 5, 8, false)
	if err != nil {
		return 0, nil, err
	}
	switch v := words[0]; {
	case v == 0 && len(program) == 20 && checksum == bech32.Version0:
		return P2WPKH, program, nil
	case v == 0 && len(program) == 32 && checksum == bech32.Version0:
		return P2WSH, program, nil
	case v == 1 && len(program) == 32 && checksum == bech32.VersionM:
		if !onCurve(program) {
			return 0, nil, errors.New("its taproot key is not on the curve")
		}
		return P2TR, program, nil
	default:
		return 0, nil, fmt.Errorf("witness version %d with %d bytes, or its kind of checksum, is not supported", v, len(program))
	}
}
