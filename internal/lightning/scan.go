package lightning

import (
	"crypto/sha256"
	"errors"
	"fmt"

	"github.com/btcsuite/btcd/btcec/v2/ecdsa"
	"github.com/btcsuite/btcd/btcutil/bech32"
	"github.com/btcsuite/btcd/chaincfg"
)

const (
	maxLength      = 7089 // characters, the most that a QR code can carry; zpay32 has the same bound
	timestampWords = 7
	signatureWords = 104 // 64 bytes and the recovery id
	payeeWords     = 53  // 33 bytes
)

// Tags of the fields that are looked at before zpay32 is called, as 5-bit values.
const (
	tagExpiry       = 6
	tagPayee        = 19
	tagMinFinalCLTV = 24
)

// stated is what zpay32 either does not bound or does not tell: the network, the
// amount, whether times are stated, and who signed.
type stated struct {
	prefix          string
	network         *chaincfg.Params
	amountMsat      *int64
	expirySeconds   *int64
	hasMinFinalCLTV bool
	payeeNamed      bool

	hrp               string
	signed, signature []byte // 5-bit words
}

// scan checks the frame of an invoice and reads what [stated] says.
func scan(text string) (*stated, error) {
	if len(text) > maxLength {
		return nil, fmt.Errorf("it has %d characters, more than the maximum of %d", len(text), maxLength)
	}
	if !LooksLikeInvoice(text) {
		return nil, errors.New("it must begin with ln")
	}
	hrp, words, version, err := bech32.DecodeNoLimitWithVersion(text)
	if err != nil {
		return nil, shortened(err)
	}
	if version != bech32.Version0 {
		return nil, errors.New("its checksum is bech32m instead of bech32")
	}
	s := &stated{hrp: hrp}
	var amount string
	if s.prefix, amount, s.network, err = networkOf(hrp[2:]); err != nil {
		return nil, err
	}
	if amount != "" {
		msat, err := parseAmount(amount)
		if err != nil {
			return nil, err
		}
		s.amountMsat = &msat
	}
	if len(words) < timestampWords+signatureWords {
		return nil, errors.New("it is incomplete")
	}
	s.signed, s.signature = words[:len(words)-signatureWords], words[len(words)-signatureWords:]
	if id := s.signature[signatureWords-1]; id > 3 { // the last word is the last byte's, all but its first three bits
		return nil, fmt.Errorf("its signature has recovery id %d, above the maximum of 3", id)
	}
	return s, s.fields()
}

// fields bounds the numbers of the tagged fields and notes what is there. Of a
// number that is there more than once the first one counts. Broken fields are
// left to zpay32.
func (s *stated) fields() error {
	for words := s.signed[timestampWords:]; len(words) >= 3; {
		tag, length := words[0], int(words[1])<<5|int(words[2])
		if length > len(words)-3 {
			return errors.New("one of its fields extends beyond its end")
		}
		field := words[3 : 3+length]
		words = words[3+length:]
		s.payeeNamed = s.payeeNamed || tag == tagPayee && length == payeeWords
		if tag != tagExpiry && tag != tagMinFinalCLTV {
			continue
		}
		v, ok := number(field)
		if !ok {
			return errors.New("its expiry or final CLTV delta is out of range")
		}
		switch {
		case tag == tagMinFinalCLTV:
			s.hasMinFinalCLTV = true
		case s.expirySeconds == nil:
			s.expirySeconds = &v
		}
	}
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

// signer returns the compressed key that signed. Signatures with a high S are good.
func (s *stated) signer() (key [33]byte, err error) {
	sig, err := bech32.ConvertBits(s.signature, 5, 8, true)
	if err != nil {
		return key, err
	}
	data, err := bech32.ConvertBits(s.signed, 5, 8, true)
	if err != nil {
		return key, err
	}
	digest := sha256.Sum256(append([]byte(s.hrp), data...))
	const compressed = 27 + 4 // as btcec marks the signature of a compressed key
	pub, _, err := ecdsa.RecoverCompact(append([]byte{compressed + sig[64]}, sig[:64]...), digest[:])
	if err != nil {
		return key, fmt.Errorf("signature: %w", err)
	}
	return [33]byte(pub.SerializeCompressed()), nil
}
