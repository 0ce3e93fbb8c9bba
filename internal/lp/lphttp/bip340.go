package lphttp

import (
	"crypto/sha256"
	"errors"

	"github.com/btcsuite/btcd/btcec/v2"
	"github.com/btcsuite/btcd/btcec/v2/schnorr"
)

// errSign is the failure of a signature with a fresh random value; it does not
// happen by accident.
var errSign = errors.New("signing the request failed")

// signSchnorr signs a message of any length as BIP-340 says, with 32 bytes of
// auxiliary randomness. The library's own function takes 32 bytes only.
func signSchnorr(key *btcec.PrivateKey, message []byte, aux [32]byte) ([]byte, error) {
	pub := key.PubKey().SerializeCompressed()
	d := key.Key
	if pub[0] == 3 {
		d.Negate()
	}
	secret := d.Bytes()
	defer clear(secret[:])
	mask := tagged("BIP0340/aux", aux[:])
	for i := range secret {
		mask[i] ^= secret[i]
	}
	nonce := tagged("BIP0340/nonce", mask[:], pub[1:], message)
	var k btcec.ModNScalar
	k.SetBytes(&nonce)
	if k.IsZero() {
		return nil, errSign
	}
	var r btcec.JacobianPoint
	btcec.ScalarBaseMultNonConst(&k, &r)
	r.ToAffine()
	if r.Y.IsOdd() {
		k.Negate()
	}
	rx := r.X.Bytes()
	challenge := tagged("BIP0340/challenge", rx[:], pub[1:], message)
	var e btcec.ModNScalar
	e.SetBytes(&challenge)
	s := e.Mul(&d).Add(&k).Bytes()
	signature := append(rx[:], s[:]...)
	if !verifySchnorr(pub[1:], message, signature) {
		return nil, errSign
	}
	return signature, nil
}

// verifySchnorr checks a signature over a message of any length.
func verifySchnorr(key, message, signature []byte) bool {
	pub, err := schnorr.ParsePubKey(key)
	if err != nil || len(signature) != 64 {
		return false
	}
	var rx btcec.FieldVal
	var s btcec.ModNScalar
	if rx.SetByteSlice(signature[:32]) || s.SetByteSlice(signature[32:]) {
		return false
	}
	challenge := tagged("BIP0340/challenge", signature[:32], key, message)
	var e btcec.ModNScalar
	e.SetBytes(&challenge)
	e.Negate()
	var p, sg, ep, r btcec.JacobianPoint
	pub.AsJacobian(&p)
	btcec.ScalarBaseMultNonConst(&s, &sg)
	btcec.ScalarMultNonConst(&e, &p, &ep)
	btcec.AddNonConst(&sg, &ep, &r)
	if r.X.IsZero() && r.Y.IsZero() || r.Z.IsZero() {
		return false
	}
	r.ToAffine()
	return !r.Y.IsOdd() && r.X.Equals(&rx)
}

func tagged(tag string, parts ...[]byte) [32]byte {
	t := sha256.Sum256([]byte(tag))
	h := sha256.New()
	h.Write(t[:])
	h.Write(t[:])
	for _, p := range parts {
		h.Write(p)
	}
	return [32]byte(h.Sum(nil))
}
