package auth

import (
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/rsa"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"os"
	"slices"

	"github.com/go-jose/go-jose/v4"
)

// minRSA is the size in bits below which an RSA key is refused (RFC 7518 §3.3).
const minRSA = 2048

// verificationKey is a public key and what tokens it may verify. The algorithms
// belong to the key, so that a token cannot choose how it is verified: a public key
// is never used as the secret of HS256.
type verificationKey struct {
	id         string // "": of any token
	key        any
	algorithms []string
}

// algorithmsOf returns the algorithms of a public key, the usual one first.
func algorithmsOf(key any) ([]string, error) {
	switch k := key.(type) {
	case *ecdsa.PublicKey:
		if name, ok := map[int]string{256: "ES256", 384: "ES384", 521: "ES512"}[k.Curve.Params().BitSize]; ok {
			return []string{name}, nil
		}
	case *rsa.PublicKey:
		if k.N.BitLen() < minRSA {
			return nil, fmt.Errorf("an RSA key of %d bits is too small, must have %d at least", k.N.BitLen(), minRSA)
		}
		return []string{"RS256", "RS384", "RS512", "PS256", "PS384", "PS512"}, nil
	case ed25519.PublicKey:
		return []string{"EdDSA"}, nil
	}
	return nil, fmt.Errorf("a key of type %T cannot verify tokens, must be RSA, ECDSA or Ed25519", key)
}

// parsePEM reads one public key.
func parsePEM(text string) (verificationKey, error) {
	block, _ := pem.Decode([]byte(text))
	if block == nil {
		return verificationKey{}, errors.New("must be a public key in PEM form")
	}
	key, err := x509.ParsePKIXPublicKey(block.Bytes)
	if err != nil {
		return verificationKey{}, err
	}
	algorithms, err := algorithmsOf(key)
	return verificationKey{key: key, algorithms: algorithms}, err
}

// readJWKS reads a set of keys (RFC 7517). Keys for encryption are left out; a secret
// in the file, symmetric or private, is refused, because nothing that verifies needs
// one.
func readJWKS(path string) ([]verificationKey, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var set jose.JSONWebKeySet
	if err := json.Unmarshal(text, &set); err != nil {
		return nil, fmt.Errorf("must be a JSON Web Key Set: %w", err)
	}
	var all []verificationKey
	for i, k := range set.Keys {
		if k.Use != "" && k.Use != "sig" {
			continue
		}
		if !k.IsPublic() {
			return nil, fmt.Errorf("keys[%d]: holds a secret; the set must have public keys only", i)
		}
		algorithms, err := algorithmsOf(k.Key)
		if err != nil {
			return nil, fmt.Errorf("keys[%d]: %w", i, err)
		}
		if k.Algorithm != "" {
			if !slices.Contains(algorithms, k.Algorithm) {
				return nil, fmt.Errorf("keys[%d]: alg %q cannot be used with this key; it has %v", i, k.Algorithm, algorithms)
			}
			algorithms = []string{k.Algorithm}
		}
		all = append(all, verificationKey{k.KeyID, k.Key, algorithms})
	}
	if len(all) == 0 {
		return nil, errors.New("the set has no key that verifies signatures")
	}
	return all, nil
}
