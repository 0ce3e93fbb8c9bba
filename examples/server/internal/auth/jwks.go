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
	"log/slog"
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

// readJWKS reads a set of keys (RFC 7517). What verifies nothing here (a key for other
// uses, of an unknown kind, too small, not complete) is left out, and log says so: a set
// serves other readers too. A secret in the file, symmetric or private, is refused, because
// nothing that verifies needs one.
func readJWKS(path string, log *slog.Logger) ([]verificationKey, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var set struct{ Keys []json.RawMessage }
	if err := json.Unmarshal(text, &set); err != nil {
		return nil, fmt.Errorf("must be a JSON Web Key Set: %w", err)
	}
	var all []verificationKey
	for i, raw := range set.Keys {
		if hasSecret(raw) {
			return nil, fmt.Errorf("keys[%d]: holds a secret; the set must have public keys only", i)
		}
		key, err := readJWK(raw)
		if err != nil {
			log.Warn("a key of a set is left out", "file", path, "key", fmt.Sprintf("keys[%d]", i), "reason", err)
			continue
		}
		all = append(all, key)
	}
	if len(all) == 0 {
		return nil, errors.New("the set has no key that verifies signatures")
	}
	return all, nil
}

// hasSecret reports whether a key has what its owner alone may know: the members of RFC
// 7518 §6 that are, and of later kinds.
func hasSecret(raw json.RawMessage) bool {
	var k map[string]json.RawMessage
	if json.Unmarshal(raw, &k) != nil {
		return false
	}
	for _, member := range []string{"d", "k", "p", "q", "dp", "dq", "qi", "oth", "priv"} {
		if _, ok := k[member]; ok {
			return true
		}
	}
	return false
}

// readJWK reads a key that verifies signatures.
func readJWK(raw json.RawMessage) (verificationKey, error) {
	var meant struct {
		Use    string
		KeyOps []string `json:"key_ops"`
	}
	var k jose.JSONWebKey
	if err := json.Unmarshal(raw, &meant); err != nil {
		return verificationKey{}, err
	}
	if meant.Use != "" && meant.Use != "sig" || meant.KeyOps != nil && !slices.Contains(meant.KeyOps, "verify") {
		return verificationKey{}, errors.New("it is for other uses than signatures")
	}
	if err := json.Unmarshal(raw, &k); err != nil {
		return verificationKey{}, err
	}
	algorithms, err := algorithmsOf(k.Key)
	if err != nil {
		return verificationKey{}, err
	}
	if k.Algorithm != "" {
		if !slices.Contains(algorithms, k.Algorithm) {
			return verificationKey{}, fmt.Errorf("alg %q cannot be used with this key; it has %v", k.Algorithm, algorithms)
		}
		algorithms = []string{k.Algorithm}
	}
	return verificationKey{k.KeyID, k.Key, algorithms}, nil
}
