package chains

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"log/slog"
)

// Preimage opens a hash lock: its SHA-256 is the payment hash. It prints as ***;
// only its JSON, which is meant for stored records, shows it as 64 hexadecimal
// digits. The zero value means that none is known.
type Preimage [32]byte

// IsZero reports whether no preimage is set.
func (p Preimage) IsZero() bool { return p == Preimage{} }

// String, GoString and LogValue keep the preimage out of texts and logs.
func (Preimage) String() string       { return redacted }
func (Preimage) GoString() string     { return redacted }
func (Preimage) LogValue() slog.Value { return slog.StringValue(redacted) }

// MarshalJSON is for stored records only.
func (p Preimage) MarshalJSON() ([]byte, error) { return marshal32(p), nil }

// UnmarshalJSON reads what MarshalJSON wrote.
func (p *Preimage) UnmarshalJSON(text []byte) error { return unmarshal32((*[32]byte)(p), text) }

// Seed is what all randomness in a swap's transactions derives from, so that
// building them again gives the same ones. It prints as *** and is stored as a
// [Preimage] is.
type Seed [32]byte

// String, GoString and LogValue keep the seed out of texts and logs.
func (Seed) String() string       { return redacted }
func (Seed) GoString() string     { return redacted }
func (Seed) LogValue() slog.Value { return slog.StringValue(redacted) }

// MarshalJSON is for stored records only.
func (s Seed) MarshalJSON() ([]byte, error) { return marshal32(s), nil }

// UnmarshalJSON reads what MarshalJSON wrote.
func (s *Seed) UnmarshalJSON(text []byte) error { return unmarshal32((*[32]byte)(s), text) }

// Uint64 derives a number for one use, named by label.
func (s Seed) Uint64(label string) uint64 {
	h := sha256.Sum256(append(append([]byte("swapper/"), label...), s[:]...))
	return binary.BigEndian.Uint64(h[:8])
}

const redacted = "***"

func marshal32(b [32]byte) []byte { return []byte(`"` + hex.EncodeToString(b[:]) + `"`) }

func unmarshal32(to *[32]byte, text []byte) error {
	if len(text) != 66 || text[0] != '"' || text[65] != '"' {
		return errors.New("secret must be 64 hexadecimal digits")
	}
	if _, err := hex.Decode(to[:], text[1:65]); err != nil {
		return errors.New("secret must be 64 hexadecimal digits")
	}
	return nil
}
