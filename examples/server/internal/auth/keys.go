package auth

import (
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"strings"

	"github.com/swapper-go/swapper/examples/server/internal/serve"
)

// Key is an API key by its hash: the key itself need not be kept anywhere. Keys must be
// random, with 128 bits at least, as [NewKey] makes them: a fast hash does not
// protect words that can be guessed.
type Key struct {
	Name   string // of its holder; shown in logs; may be ""
	SHA256 [sha256.Size]byte
}

// HashKey returns the hash of a key's text.
func HashKey(text string) [sha256.Size]byte { return sha256.Sum256([]byte(text)) }

// NewKey returns a random key of 256 bits, in hex.
func NewKey() string {
	var key [32]byte
	_, _ = rand.Read(key[:]) // never fails
	return hex.EncodeToString(key[:])
}

// ParseKeyHash reads the SHA-256 of a key's text from 64 hexadecimal digits.
func ParseKeyHash(text string) (hash [sha256.Size]byte, err error) {
	raw, err := hex.DecodeString(text)
	if err != nil || len(raw) != len(hash) {
		return hash, errors.New("must have 64 hexadecimal digits: the SHA-256 of the key's text")
	}
	return [sha256.Size]byte(raw), nil
}

// KeysOptions are the keys that [NewKeys] accepts.
type KeysOptions struct {
	Name   string // of this authenticator
	Header string // where a key is sent; "": X-Api-Key
	Keys   []Key
	// File has further keys, one on each line: the hash in hex, a space, and the name of
	// the holder. Blank lines and what follows # are left out. It is read again when
	// it changes; a version that cannot be read leaves the one before in force.
	File   string
	Logger *slog.Logger // tells of changes of File; nil: silent
}

// Keys knows the holders of API keys. It compares hashes in constant time, and all of
// them each time, so that the time it takes tells nothing of the keys that there
// are. Make one with [NewKeys].
type Keys struct {
	name, header string
	keys         []Key
	file         *serve.Value[[]Key]
}

// NewKeys returns an authenticator. It fails if there is no key, or if the file cannot be
// read.
func NewKeys(o KeysOptions) (*Keys, error) {
	k := &Keys{name: o.Name, header: o.Header, keys: o.Keys}
	if k.header == "" {
		k.header = "X-Api-Key"
	}
	if o.File != "" {
		file, err := serve.Watch(o.Logger, func() ([]Key, error) { return readKeys(o.File) }, o.File)
		if err != nil {
			return nil, err
		}
		k.file = file
	} else if len(o.Keys) == 0 {
		return nil, errors.New("at least one key is required")
	}
	return k, nil
}

// Authenticate implements [Authenticator].
func (k *Keys) Authenticate(r *http.Request) (Identity, error) {
	text := r.Header.Get(k.header)
	if text == "" { // even where its hash is configured
		return Identity{}, fmt.Errorf("no %s header: %w", k.header, errUnknown)
	}
	got := HashKey(text)
	known, holder := 0, ""
	check := func(all []Key) {
		for _, key := range all {
			if subtle.ConstantTimeCompare(got[:], key.SHA256[:]) == 1 {
				known, holder = 1, key.Name
			}
		}
	}
	check(k.keys)
	if k.file != nil {
		check(k.file.Get())
	}
	if known == 0 {
		return Identity{}, fmt.Errorf("unknown API key: %w", errUnknown)
	}
	return Identity{Entry: k.name, Kind: KindKey, Subject: holder}, nil
}

func readKeys(path string) ([]Key, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var all []Key
	number := 0
	for line := range strings.Lines(string(text)) {
		number++
		line, _, _ = strings.Cut(line, "#")
		fields := strings.Fields(line)
		if len(fields) == 0 {
			continue
		}
		if len(fields) != 2 {
			return nil, fmt.Errorf("line %d: must be the key's SHA-256 and the name of its holder", number)
		}
		hash, err := ParseKeyHash(fields[0])
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", number, err)
		}
		all = append(all, Key{Name: fields[1], SHA256: hash})
	}
	if len(all) == 0 {
		return nil, errors.New("the file has no key")
	}
	return all, nil
}
