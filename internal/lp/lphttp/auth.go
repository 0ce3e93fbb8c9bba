package lphttp

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"io"
	"log/slog"
	"time"

	"github.com/btcsuite/btcd/btcec/v2"

	"github.com/swapper-go/swapper/fault"
)

// authHeader carries the authentication of a request.
const authHeader = "x-atomiq-auth"

// Auth signs requests with a key for which an authority has given a certificate;
// LPs that know the authority then count requests by key, not by address
// (protocol: lp-protocol.md §3.6). It is safe for concurrent use and prints
// without its key.
type Auth struct {
	key         *btcec.PrivateKey
	certificate []byte
}

// NewAuth returns the authentication for a certificate of 256 hexadecimal digits
// (authority's x-only key, its signature over the request key, the request key)
// and the request key's secret of 64. Errors have the code fault.InvalidInput.
func NewAuth(certificate, privateKey string) (*Auth, error) {
	cert, err := hex.DecodeString(certificate)
	if err != nil || len(cert) != 128 {
		return nil, fault.Invalid("certificate", "must have 256 hexadecimal digits")
	}
	secret, err := hex.DecodeString(privateKey)
	if err != nil || len(secret) != 32 {
		return nil, fault.Invalid("privateKey", "must have 64 hexadecimal digits")
	}
	defer clear(secret)
	var scalar btcec.ModNScalar
	if scalar.SetByteSlice(secret) || scalar.IsZero() {
		return nil, fault.Invalid("privateKey", "is not a valid secp256k1 private key")
	}
	authority, signature, requestKey := cert[:32], cert[32:96], cert[96:]
	if !verifySchnorr(authority, requestKey, signature) {
		return nil, fault.Invalid("certificate", "does not certify the request key: the authority's signature is invalid")
	}
	key := btcec.PrivKeyFromScalar(&scalar)
	if !bytes.Equal(key.PubKey().SerializeCompressed()[1:], requestKey) {
		return nil, fault.Invalid("privateKey", "does not match the certificate")
	}
	return &Auth{key: key, certificate: cert}, nil
}

// header returns the header's value for a request made now.
func (a *Auth) header(now time.Time, random io.Reader) (string, error) {
	var fresh [64]byte // makes the request unique and blinds the signature
	if _, err := io.ReadFull(random, fresh[:]); err != nil {
		return "", fmt.Errorf("generate randomness for the request signature: %w", err)
	}
	return a.sign(now, [32]byte(fresh[:32]), [32]byte(fresh[32:]))
}

func (a *Auth) sign(now time.Time, random, aux [32]byte) (string, error) {
	message := binary.BigEndian.AppendUint32(nil, uint32(now.Unix()))
	message = append(message, random[:]...)
	signature, err := signSchnorr(a.key, message, aux)
	if err != nil {
		return "", err
	}
	out := append(message, a.certificate...)
	return hex.EncodeToString(append(out, signature...)), nil
}

// String hides the key.
func (a *Auth) String() string { return "LP request authentication ***" }

// GoString hides the key.
func (a *Auth) GoString() string { return a.String() }

// LogValue hides the key.
func (a *Auth) LogValue() slog.Value { return slog.StringValue(a.String()) }
