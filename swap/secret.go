package swap

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"log/slog"
)

// Secret is 32 bytes that must not be shown: a preimage or a seed. It prints as
// ***; only the JSON of a stored record contains it, as 64 hex digits.
type Secret [32]byte

// IsZero reports whether no secret is set.
func (s Secret) IsZero() bool { return s == Secret{} }

func (s Secret) String() string       { return "***" }
func (s Secret) GoString() string     { return "***" }
func (s Secret) LogValue() slog.Value { return slog.StringValue("***") }

// MarshalJSON is for stored records only.
func (s Secret) MarshalJSON() ([]byte, error) {
	return []byte(`"` + hex.EncodeToString(s[:]) + `"`), nil
}

// UnmarshalJSON reads what MarshalJSON wrote.
func (s *Secret) UnmarshalJSON(text []byte) error {
	if len(text) != 66 || text[0] != '"' || text[65] != '"' {
		return errors.New("secret must be 64 hexadecimal digits")
	}
	if _, err := hex.Decode(s[:], text[1:65]); err != nil {
		return errors.New("secret must be 64 hexadecimal digits")
	}
	return nil
}

// Draw derives a number from the seed for the use named by label.
func (s Secret) Draw(label string) uint64 {
	h := sha256.Sum256(append(append([]byte("swapper/"), label...), s[:]...))
	return binary.BigEndian.Uint64(h[:8])
}
