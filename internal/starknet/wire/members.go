package wire

import (
	"encoding/json"
	"fmt"
	"math/big"

	"github.com/swapper-go/swapper/internal/members"
)

// memberReader also reads what only Starknet has (§10.4).
type memberReader struct{ members.Reader }

// address reads an address in any accepted form; zero is one.
func (r *memberReader) address(name string) Felt { return members.As(&r.Reader, name, parseContract) }

func (r *memberReader) felt(name string) Felt { return members.As(&r.Reader, name, ParseFelt) }

// number reads a decimal or 0x string, or a JSON integer, of at most so many bits. It
// never returns nil.
func (r *memberReader) number(name string, size int) *big.Int {
	if !r.Has(name) {
		r.Fail(name, "is required")
		return new(big.Int)
	}
	n, err := numberOf(r.Fields[name], size)
	if err != nil {
		r.Fail(name, "%w", err)
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
