package wire

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math/big"

	"github.com/swapper-go/swapper/fault"
)

// memberReader takes members out of a JSON object and keeps the first error. A member
// that is null counts as absent (§10.4).
type memberReader struct {
	prefix string // of the names in errors
	fields map[string]json.RawMessage
	err    error
}

func newMemberReader(prefix string, data []byte) (*memberReader, error) {
	r := &memberReader{prefix: prefix}
	if err := json.Unmarshal(data, &r.fields); err != nil || r.fields == nil {
		if prefix != "" {
			return nil, fault.Invalid(prefix[:len(prefix)-1], "must be a JSON object")
		}
		return nil, fault.Invalid("", "must be a JSON object")
	}
	return r, nil
}

func (r *memberReader) has(name string) bool {
	raw, ok := r.fields[name]
	return ok && string(raw) != "null"
}

func (r *memberReader) failWith(err error) {
	if r.err == nil {
		r.err = err
	}
}

func (r *memberReader) fail(name, format string, args ...any) {
	r.failWith(fault.Invalid(r.prefix+name, format, args...))
}

func (r *memberReader) decode(name string, v any) bool {
	if !r.has(name) {
		r.fail(name, "is required")
		return false
	}
	if err := json.Unmarshal(r.fields[name], v); err != nil {
		r.fail(name, "has the wrong type")
		return false
	}
	return true
}

func (r *memberReader) text(name string) (s string) {
	r.decode(name, &s)
	return s
}

func (r *memberReader) flag(name string) (b bool) {
	r.decode(name, &b)
	return b
}

// address reads an address in any accepted form; zero is one.
func (r *memberReader) address(name string) Felt {
	var s string
	if !r.decode(name, &s) {
		return Felt{}
	}
	f, err := parseContract(s)
	if err != nil {
		r.fail(name, "%w", err)
	}
	return f
}

func (r *memberReader) felt(name string) Felt {
	var s string
	if !r.decode(name, &s) {
		return Felt{}
	}
	f, err := ParseFelt(s)
	if err != nil {
		r.fail(name, "%w", err)
	}
	return f
}

func (r *memberReader) bytes(name string) []byte {
	var s string
	if !r.decode(name, &s) {
		return nil
	}
	b, err := hex.DecodeString(s)
	if err != nil {
		r.fail(name, "must be hexadecimal without 0x")
	}
	return b
}

// number reads a decimal or 0x string, or a JSON integer, of at most so many bits. It
// never returns nil.
func (r *memberReader) number(name string, size int) *big.Int {
	if !r.has(name) {
		r.fail(name, "is required")
		return new(big.Int)
	}
	n, err := numberOf(r.fields[name], size)
	if err != nil {
		r.fail(name, "%w", err)
		return new(big.Int)
	}
	return n
}

// maxJSONNumber is the largest integer that a JSON number carries between all
// implementations; above it the others round.
const maxJSONNumber = 1 << 53

// numberOf reads a decimal or 0x string, or a JSON integer.
func numberOf(raw json.RawMessage, size int) (*big.Int, error) {
	text := string(raw)
	if len(raw) > 0 && raw[0] == '"' {
		if err := json.Unmarshal(raw, &text); err != nil {
			return nil, err
		}
		if digits, ok := hexDigits(text); ok {
			for i := range len(digits) {
				if nibble(digits[i]) > 15 {
					return nil, fmt.Errorf("must be a number from 0 to 2^%d-1", size)
				}
			}
			n, ok := new(big.Int).SetString(digits, 16)
			if !ok || n.BitLen() > size {
				return nil, fmt.Errorf("must be a number from 0 to 2^%d-1", size)
			}
			return n, nil
		}
		return parseDecimal(text, size)
	}
	n, err := parseDecimal(text, size)
	if err == nil && n.Cmp(big.NewInt(maxJSONNumber)) > 0 {
		return nil, fmt.Errorf("is too large for a JSON number; send it as a string")
	}
	return n, err
}
