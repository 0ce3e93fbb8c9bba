package swapper

import (
	"fmt"
	"io"
	"log/slog"
)

const redacted = "***"

// Secret is a text that must not be read by people: the preimage of a Lightning
// payment, as 64 hexadecimal digits. However it is printed, formatted, logged or
// marshalled, alone or inside of another value, it shows as `***`; an empty one
// shows as nothing. [Secret.Reveal] is the only way to its content.
type Secret string

// Reveal returns the secret itself.
func (s Secret) Reveal() string { return string(s) }

// String returns `***`, or nothing for an empty secret.
func (s Secret) String() string {
	if s == "" {
		return ""
	}
	return redacted
}

// GoString returns what String returns, quoted.
func (s Secret) GoString() string { return fmt.Sprintf("%q", s.String()) }

// Format prints what String returns, whatever the verb.
func (s Secret) Format(f fmt.State, _ rune) {
	// An error of the writer cannot be reported from here; fmt ignores it too.
	_, _ = io.WriteString(f, s.String())
}

// LogValue returns what String returns.
func (s Secret) LogValue() slog.Value { return slog.StringValue(s.String()) }

// MarshalText returns what String returns, so that a structure that is marshalled
// for a log does not tell the secret. The wire form is written by httpapi.
func (s Secret) MarshalText() ([]byte, error) { return []byte(s.String()), nil }
