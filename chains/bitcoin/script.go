package bitcoin

import (
	"bytes"

	"github.com/btcsuite/btcd/btcec/v2/schnorr"
)

// AddressType is one of the five output types that swaps support (protocol:
// bitcoin.md §2.1). The zero value is none of them.
type AddressType uint8

const (
	P2PKH  AddressType = 1 + iota // pay to public key hash
	P2SH                          // pay to script hash; wallets only use P2SH-P2WPKH
	P2WPKH                        // witness version 0, 20 bytes
	P2WSH                         // witness version 0, 32 bytes
	P2TR                          // witness version 1, 32 bytes: taproot
)

// form describes the script of an address type: prefix, program, suffix.
type form struct {
	name           string
	prefix, suffix string
	program        int   // length in bytes
	dust           int64 // sats
}

var forms = [...]form{
	P2PKH:  {"p2pkh", "\x76\xa9\x14", "\x88\xac", 20, 546},
	P2SH:   {"p2sh-p2wpkh", "\xa9\x14", "\x87", 20, 540},
	P2WPKH: {"p2wpkh", "\x00\x14", "", 20, 294},
	P2WSH:  {"p2wsh", "\x00\x20", "", 32, 330},
	P2TR:   {"p2tr", "\x51\x20", "", 32, 330},
}

// Valid reports whether t is one of the five types.
func (t AddressType) Valid() bool { return t >= P2PKH && int(t) < len(forms) }

// String returns p2pkh, p2sh-p2wpkh, p2wpkh, p2wsh, p2tr or "unknown".
func (t AddressType) String() string {
	if !t.Valid() {
		return "unknown"
	}
	return forms[t].name
}

// DustLimit returns the smallest amount in sats that an output of this type may
// carry (protocol: bitcoin.md §6); 0 for an invalid type.
func (t AddressType) DustLimit() int64 {
	if !t.Valid() {
		return 0
	}
	return forms[t].dust
}

// ScriptLen returns the length in bytes of an output script of this type; 0 for
// an invalid type.
func (t AddressType) ScriptLen() int {
	if !t.Valid() {
		return 0
	}
	f := forms[t]
	return len(f.prefix) + f.program + len(f.suffix)
}

// parseScript returns the type of an output script with its program, and false if it is
// not, byte for byte, one of the five templates. A taproot output whose key is not on the
// curve cannot be spent and reports false.
func parseScript(script []byte) (t AddressType, program []byte, ok bool) {
	for t := P2PKH; t.Valid(); t++ {
		f := forms[t]
		if len(script) != t.ScriptLen() {
			continue
		}
		rest, ok := bytes.CutPrefix(script, []byte(f.prefix))
		if !ok {
			continue
		}
		program, ok := bytes.CutSuffix(rest, []byte(f.suffix))
		if !ok || t == P2TR && !onCurve(program) {
			continue
		}
		return t, program, true
	}
	return 0, nil, false
}

// onCurve reports whether x is the x coordinate of a point of secp256k1
// (BIP-340 lift_x).
func onCurve(x []byte) bool {
	_, err := schnorr.ParsePubKey(x)
	return err == nil
}
