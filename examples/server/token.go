package main

import (
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/rsa"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"net/http"
	"reflect"
	"slices"
	"strings"

	"github.com/golang-jwt/jwt/v5"
)

// token admits bearers of a signed token that has not expired: one without an
// expiry would be good for ever. The algorithms belong to the key, so that a
// token cannot choose how it is verified.
func (c entryConfig) token() (func(http.Header) bool, error) {
	block, _ := pem.Decode([]byte(c.PublicKey))
	if block == nil {
		return nil, errors.New("publicKey: must be PEM")
	}
	key, err := x509.ParsePKIXPublicKey(block.Bytes)
	if err != nil {
		return nil, fmt.Errorf("publicKey: %w", err)
	}
	if len(c.Algorithms) == 0 {
		return nil, errors.New("algorithms: at least one is required")
	}
	for _, a := range c.Algorithms {
		if !slices.Contains(algorithms(key), a) {
			return nil, fmt.Errorf("algorithms: %q cannot be used with this public key; it has %s", a, strings.Join(algorithms(key), ", "))
		}
	}
	options := []jwt.ParserOption{jwt.WithValidMethods(c.Algorithms), jwt.WithExpirationRequired(), jwt.WithJSONNumber()}
	if c.Issuer != "" {
		options = append(options, jwt.WithIssuer(c.Issuer))
	}
	if c.Audience != "" {
		options = append(options, jwt.WithAudience(c.Audience))
	}
	parser := jwt.NewParser(options...)
	return func(h http.Header) bool {
		text, ok := strings.CutPrefix(h.Get("Authorization"), "Bearer ")
		if !ok {
			return false
		}
		claims := jwt.MapClaims{}
		if _, err := parser.ParseWithClaims(text, claims, func(*jwt.Token) (any, error) { return key, nil }); err != nil {
			return false
		}
		for name, want := range c.Claims {
			if got, ok := claims[name]; !ok || !claimMatches(got, want) {
				return false
			}
		}
		return true
	}, nil
}

// subject returns whom a token that was admitted is about; "" if it does not say.
func subject(h http.Header) string {
	text, _ := strings.CutPrefix(h.Get("Authorization"), "Bearer ")
	claims := jwt.MapClaims{}
	if _, _, err := jwt.NewParser().ParseUnverified(text, claims); err != nil {
		return ""
	}
	sub, _ := claims.GetSubject()
	return sub
}

func algorithms(key any) []string {
	switch k := key.(type) {
	case *ecdsa.PublicKey:
		return []string{map[int]string{256: "ES256", 384: "ES384", 521: "ES512"}[k.Curve.Params().BitSize]}
	case *rsa.PublicKey:
		return []string{"RS256", "RS384", "RS512", "PS256", "PS384", "PS512"}
	case ed25519.PublicKey:
		return []string{"EdDSA"}
	}
	return nil
}

func claimMatches(got, want any) bool {
	if rule, ok := want.(map[string]any); ok && len(rule) == 1 {
		if member, ok := rule["includes"]; ok {
			list, ok := got.([]any)
			return ok && slices.ContainsFunc(list, func(x any) bool { return same(x, member) })
		}
	}
	return same(got, want)
}

// same compares JSON values strictly: 3 is not "3".
func same(a, b any) bool {
	if n, ok := a.(json.Number); ok {
		m, ok := b.(json.Number)
		return ok && n == m
	}
	return reflect.DeepEqual(a, b)
}
