package main

import (
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/netip"
	"os"
)

// entryConfig admits one kind of caller. rateLimit absent means the global limit,
// null means none.
type entryConfig struct {
	Type, Name string // apiKey, jwt or none

	// One of the three names the key of an apiKey entry. The hash is that of the
	// key's text, in hex; it keeps the key itself out of the file.
	APIKey, APIKeySHA256, APIKeyEnv string
	Header                          string // of an apiKey entry; "x-api-key"

	PublicKey        string // of a jwt entry, PEM
	Algorithms       []string
	Claims           map[string]any // every one must match; {"includes": v} asks for a list that contains v
	Issuer, Audience string         // "" asks for none

	RateLimit json.RawMessage
}

// entry is who a request comes from.
type entry struct {
	name    string
	kind    string // apiKey, jwt or none
	limit   *limit // nil: unlimited
	matches func(http.Header) bool
}

// caller returns the owner of an idempotency key: the holder of the entry's API
// key, the subject of a token, or else the client's address.
func (e entry) caller(h http.Header, client netip.Addr) string {
	switch e.kind {
	case "jwt":
		return e.name + "\x00" + subject(h)
	case "none":
		return e.name + "\x00" + client.String()
	}
	return e.name
}

// gate admits requests by the first entry that matches. A wrong key does not
// match: if the last entry admits everybody, the request counts as a public one.
type gate []entry

func newGate(list []entryConfig, global limit) (gate, error) {
	var g gate
	for i, c := range list {
		e, err := c.entry(global)
		if err != nil {
			return nil, fmt.Errorf("auth[%d]: %w", i, err)
		}
		for _, other := range g {
			if other.name == e.name {
				return nil, fmt.Errorf("auth[%d]: the name %q is taken", i, e.name)
			}
		}
		g = append(g, e)
	}
	return g, nil
}

func (g gate) admit(h http.Header) (entry, bool) {
	for _, e := range g {
		if e.matches(h) {
			return e, true
		}
	}
	return entry{}, false
}

func (c entryConfig) entry(global limit) (entry, error) {
	if c.Name == "" {
		return entry{}, errors.New("name: is required")
	}
	e := entry{name: c.Name, kind: c.Type, limit: &global}
	switch {
	case string(c.RateLimit) == "null":
		e.limit = nil
	case len(c.RateLimit) > 0:
		e.limit = new(limit)
		if err := json.Unmarshal(c.RateLimit, e.limit); err != nil || e.limit.WindowMs <= 0 || e.limit.MaxRequests <= 0 {
			return entry{}, errors.New("rateLimit: windowMs and maxRequests must be above 0")
		}
	}
	var err error
	switch c.Type {
	case "none":
		e.matches = func(http.Header) bool { return true }
	case "apiKey":
		e.matches, err = c.apiKey()
	case "jwt":
		e.matches, err = c.token()
	default:
		err = fmt.Errorf("type: must be apiKey, jwt or none, not %q", c.Type)
	}
	return e, err
}

// apiKey compares hashes, so that neither the time it takes nor the length of a
// guess tells anything of the key.
func (c entryConfig) apiKey() (func(http.Header) bool, error) {
	var want [sha256.Size]byte
	given := 0
	for _, key := range []string{c.APIKey, os.Getenv(c.APIKeyEnv)} {
		if key != "" {
			want = sha256.Sum256([]byte(key))
			given++
		}
	}
	if c.APIKeySHA256 != "" {
		hash, err := hex.DecodeString(c.APIKeySHA256)
		if err != nil || len(hash) != len(want) {
			return nil, errors.New("apiKeySHA256: must have 64 hexadecimal digits")
		}
		copy(want[:], hash)
		given++
	}
	if given != 1 {
		return nil, errors.New("exactly one of apiKey, apiKeySHA256 and a set apiKeyEnv is required")
	}
	header := c.Header
	if header == "" {
		header = "x-api-key"
	}
	return func(h http.Header) bool {
		key := h.Get(header)
		got := sha256.Sum256([]byte(key))
		return subtle.ConstantTimeCompare(got[:], want[:]) == 1 && key != ""
	}, nil
}
