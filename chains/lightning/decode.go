package lightning

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"strings"

	"github.com/btcsuite/btcd/btcec/v2/ecdsa"
	"github.com/btcsuite/btcd/btcutil/bech32"
)

const (
	maxLength      = 16 << 10 // characters; the longest in use have some hundreds
	timestampWords = 7
	signatureWords = 104 // 64 bytes and the recovery id
	hopLength      = 51
)

// Tags of the fields, as 5-bit values.
const (
	tagPaymentHash     = 1
	tagRouteHint       = 3
	tagFeatures        = 5
	tagExpiry          = 6
	tagFallback        = 9
	tagDescription     = 13
	tagPaymentSecret   = 16
	tagPayee           = 19
	tagBlindedPath     = 20
	tagDescriptionHash = 23
	tagMinFinalCLTV    = 24
)

// Decode reads an invoice, in one case throughout and without a URI scheme, and
// verifies its signature. It accepts every network; see
// [Invoice.RequireNetwork]. The time and the features are not judged (protocol:
// bitcoin.md §18.1).
func Decode(text string) (*Invoice, error) {
	inv, p, err := parse(text)
	if err != nil {
		return nil, err
	}
	if inv.Payee, err = recoverPayee(p.hrp, p.signed, p.signature); err != nil {
		return nil, err
	}
	if p.payee != nil && *p.payee != inv.Payee {
		return nil, errors.New("invoice is not signed by the payee that it names")
	}
	return inv, nil
}

// DecodeKnown reads an invoice that [Decode] has taken before, for lists: the
// signature, which costs most, is not looked at, and Payee is zero unless the
// invoice names it.
func DecodeKnown(text string) (*Invoice, error) {
	inv, p, err := parse(text)
	if err != nil {
		return nil, err
	}
	if p.payee != nil {
		inv.Payee = *p.payee
	}
	return inv, nil
}

// parts are what of an invoice its signature is about.
type parts struct {
	hrp               string
	signed, signature []byte
	payee             *[33]byte // as named, if it is
}

// parse reads everything but the signature.
func parse(text string) (*Invoice, parts, error) {
	if len(text) > maxLength {
		return nil, parts{}, fmt.Errorf("invoice of %d characters is too long", len(text))
	}
	if !LooksLikeInvoice(text) {
		return nil, parts{}, errors.New("not an invoice: it does not begin with ln")
	}
	hrp, words, version, err := bech32.DecodeNoLimitWithVersion(text)
	if err != nil {
		return nil, parts{}, fmt.Errorf("invoice: %w", shortened(err))
	}
	if version != bech32.Version0 {
		return nil, parts{}, errors.New("invoice with a bech32m checksum")
	}
	inv := &Invoice{ExpirySeconds: DefaultExpirySeconds, MinFinalCLTV: DefaultMinFinalCLTV}
	if inv.Prefix, inv.AmountMsat, err = parsePrefix(strings.TrimPrefix(hrp, "ln")); err != nil {
		return nil, parts{}, err
	}
	if len(words) < timestampWords+signatureWords {
		return nil, parts{}, errors.New("invoice is too short")
	}
	p := parts{hrp: hrp, signed: words[:len(words)-signatureWords], signature: words[len(words)-signatureWords:]}
	inv.Timestamp, _ = number(p.signed[:timestampWords])
	if p.payee, err = inv.readFields(p.signed[timestampWords:]); err != nil {
		return nil, parts{}, err
	}
	return inv, p, nil
}

// readFields reads the tagged fields and returns the payee if one is named.
func (inv *Invoice) readFields(words []byte) (payee *[33]byte, err error) {
	var paymentHash *[32]byte
	for len(words) > 0 {
		if len(words) < 3 {
			return nil, errors.New("invoice with a broken field")
		}
		tag, length := words[0], int(words[1])<<5|int(words[2])
		if length > len(words)-3 {
			return nil, errors.New("invoice with a field beyond its end")
		}
		field := words[3 : 3+length]
		words = words[3+length:]
		switch tag {
		case tagPaymentHash:
			keepFirst(&paymentHash, field)
		case tagPaymentSecret:
			keepFirst(&inv.PaymentSecret, field)
		case tagDescriptionHash:
			keepFirst(&inv.DescriptionHash, field)
		case tagDescription:
			if inv.Description == nil {
				text := string(wholeBytes(field))
				inv.Description = &text
			}
		case tagPayee:
			if payee == nil && len(field) == 53 {
				payee = (*[33]byte)(wholeBytes(field))
			}
		case tagExpiry:
			if err := keepNumber(&inv.ExpirySeconds, &inv.HasExpiry, field); err != nil {
				return nil, fmt.Errorf("expiry: %w", err)
			}
		case tagMinFinalCLTV:
			if err := keepNumber(&inv.MinFinalCLTV, &inv.HasMinFinalCLTV, field); err != nil {
				return nil, fmt.Errorf("final CLTV delta: %w", err)
			}
		case tagRouteHint:
			inv.RouteHints = append(inv.RouteHints, hops(wholeBytes(field)))
		case tagFallback:
			if len(field) > 0 {
				inv.Fallbacks = append(inv.Fallbacks, Fallback{Version: field[0], Program: wholeBytes(field[1:])})
			}
		case tagFeatures:
			if inv.Features.words == nil {
				inv.Features.words = field
			}
		case tagBlindedPath:
			inv.HasBlindedPaths = true
		}
	}
	if paymentHash == nil {
		return nil, errors.New("invoice without a payment hash")
	}
	inv.PaymentHash = *paymentHash
	return payee, nil
}

// keepFirst stores a field of exactly 32 bytes unless one is stored; others are
// skipped, as BOLT11 asks.
func keepFirst(to **[32]byte, field []byte) {
	if *to == nil && len(field) == 52 {
		*to = (*[32]byte)(wholeBytes(field))
	}
}

func keepNumber(to *int64, has *bool, field []byte) error {
	if *has {
		return nil
	}
	v, ok := number(field)
	if !ok {
		return errors.New("out of range")
	}
	*to, *has = v, true
	return nil
}

// number reads a big-endian number. Times and block counts above 2^40 - 35,000
// years in seconds - are refused, so that arithmetic with them cannot overflow.
func number(words []byte) (v int64, ok bool) {
	for _, w := range words {
		if v = v<<5 | int64(w); v > 1<<40 {
			return 0, false
		}
	}
	return v, true
}

// wholeBytes packs 5-bit words into bytes, dropping the last bits that fill no
// byte.
func wholeBytes(words []byte) []byte {
	return pack(make([]byte, 0, len(words)*5/8+1), words)[:len(words)*5/8]
}

// pack appends words to out as bytes, the last one filled up with zero bits.
func pack(out, words []byte) []byte {
	var acc, bits uint
	for _, w := range words {
		acc, bits = acc<<5|uint(w), bits+5
		if bits >= 8 {
			bits -= 8
			out = append(out, byte(acc>>bits))
		}
	}
	if bits > 0 {
		out = append(out, byte(acc<<(8-bits)))
	}
	return out
}

// hops reads a route hint; a rest that is no whole hop is ignored.
func hops(b []byte) []Hop {
	hint := make([]Hop, 0, len(b)/hopLength)
	for ; len(b) >= hopLength; b = b[hopLength:] {
		hint = append(hint, Hop{
			Node:            [33]byte(b),
			ShortChannelID:  binary.BigEndian.Uint64(b[33:]),
			FeeBaseMsat:     binary.BigEndian.Uint32(b[41:]),
			FeePPM:          binary.BigEndian.Uint32(b[45:]),
			CLTVExpiryDelta: binary.BigEndian.Uint16(b[49:]),
		})
	}
	return hint
}

// recoverPayee returns the key that signed. Signatures with a high S are good.
func recoverPayee(hrp string, signed, signature []byte) (key [33]byte, err error) {
	sig := wholeBytes(signature) // r, s, recovery id
	id := sig[64]
	if id > 3 {
		return key, fmt.Errorf("invoice signature with recovery id %d", id)
	}
	const compressed = 27 + 4
	compact := append([]byte{compressed + id}, sig[:64]...)
	text := make([]byte, 0, len(hrp)+len(signed)*5/8+1)
	digest := sha256.Sum256(pack(append(text, hrp...), signed))
	pub, _, err := ecdsa.RecoverCompact(compact, digest[:])
	if err != nil {
		return key, fmt.Errorf("invoice signature: %w", err)
	}
	return [33]byte(pub.SerializeCompressed()), nil
}

// shortened drops what the decoder would have expected in place of a wrong
// checksum: a person can only make a bad invoice look good with it.
func shortened(err error) error {
	if _, ok := errors.AsType[bech32.ErrInvalidChecksum](err); ok {
		return errors.New("wrong checksum")
	}
	return err
}
