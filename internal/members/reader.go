// Package members reads the members of JSON objects that strangers send.
package members

import (
	"encoding/hex"
	"encoding/json"
	"unicode/utf8"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/fault"
)

// MaxText bounds the text of one escrow or vault. A usual one has about 1 kB.
const MaxText = 64 << 10

// Reader takes members out of a JSON object and keeps the first error, which has the code
// [fault.InvalidInput] and names the member. A member that is null counts as absent.
type Reader struct {
	Fields map[string]json.RawMessage
	Err    error
	prefix string // of the names in errors
}

// Read reads an object.
func Read(data []byte) (Reader, error) { return new(Reader).In("", data) }

// ReadTyped reads an object, "swap data" or "vault data", whose member type says which chain it
// is for.
func ReadTyped(what string, data []byte, kind, chain string) (Reader, error) {
	if len(data) > MaxText {
		return Reader{}, fault.Invalid("", "%s is longer than %d bytes", what, MaxText)
	}
	r, err := Read(data)
	if err != nil {
		return r, err
	}
	if t := r.Text("type"); r.Err == nil && t != kind {
		r.Fail("type", "%s of type %q is not for %s", what, t, chain)
	}
	return r, r.Err
}

// In reads an object that is a member of r's; its errors name both.
func (r *Reader) In(name string, data []byte) (Reader, error) {
	name = r.prefix + name
	var inner Reader
	if err := json.Unmarshal(data, &inner.Fields); err != nil || inner.Fields == nil {
		return Reader{}, fault.Invalid(name, "must be a JSON object")
	}
	if name != "" {
		inner.prefix = name + "."
	}
	return inner, nil
}

// Has reports whether a member is there and not null.
func (r *Reader) Has(name string) bool {
	raw, ok := r.Fields[name]
	return ok && string(raw) != "null"
}

// FailWith keeps an error, if it is the first.
func (r *Reader) FailWith(err error) {
	if r.Err == nil {
		r.Err = err
	}
}

// Fail keeps an error about a member, if it is the first.
func (r *Reader) Fail(name, format string, args ...any) {
	r.FailWith(fault.Invalid(r.prefix+name, format, args...))
}

// Decode reads a member that must be there, and reports whether it could.
func (r *Reader) Decode(name string, v any) bool {
	if !r.Has(name) {
		r.Fail(name, "is required")
		return false
	}
	if err := json.Unmarshal(r.Fields[name], v); err != nil {
		r.Fail(name, "has the wrong type")
		return false
	}
	return true
}

// String reads a string, and reports whether it could.
func (r *Reader) String(name string) (s string, ok bool) {
	if s, ok := plain(r.Fields[name]); ok {
		return s, true
	}
	ok = r.Decode(name, &s)
	return s, ok
}

// plain is the content of a JSON string in which nothing is escaped.
func plain(raw json.RawMessage) (string, bool) {
	if len(raw) < 2 || raw[0] != '"' {
		return "", false
	}
	content := raw[1 : len(raw)-1]
	for _, c := range content {
		if c == '\\' || c >= utf8.RuneSelf {
			return "", false
		}
	}
	return string(content), true
}

// Text is [Reader.String] without the report.
func (r *Reader) Text(name string) string {
	s, _ := r.String(name)
	return s
}

// Flag reads true or false.
func (r *Reader) Flag(name string) (b bool) {
	switch string(r.Fields[name]) {
	case "true":
		return true
	case "false":
		return false
	}
	r.Decode(name, &b)
	return b
}

// Kind reads the number of a kind of escrow.
func (r *Reader) Kind(name string) chains.Kind {
	var n int
	if r.Decode(name, &n) && (n < int(chains.HTLC) || n > int(chains.OnchainTxID)) {
		r.Fail(name, "has unknown kind %d", n)
	}
	return chains.Kind(n)
}

// Bytes reads hexadecimal text without 0x.
func (r *Reader) Bytes(name string) []byte {
	s, ok := r.String(name)
	if !ok {
		return nil
	}
	b, err := hex.DecodeString(s)
	if err != nil {
		r.Fail(name, "must be hexadecimal without 0x")
	}
	return b
}

// As reads a string by the rule of parse, whose error says what the member must be.
func As[T any](r *Reader, name string, parse func(string) (T, error)) (v T) {
	s, ok := r.String(name)
	if !ok {
		return v
	}
	v, err := parse(s)
	if err != nil {
		r.Fail(name, "%w", err)
	}
	return v
}
