package lp

import (
	"encoding/json"
	"fmt"
	"math"
	"math/big"
	"strconv"
	"strings"
)

// maxDigits bounds a big integer: 256 bits have 78 decimal digits.
const maxDigits = 78

// answer reads the fields of an LP's data. The first field that is missing or
// of the wrong type fails the whole; unknown fields are ignored (protocol:
// lp-protocol.md §3.4).
type answer struct {
	fields map[string]json.RawMessage
	err    error
}

func newAnswer(data json.RawMessage) *answer {
	a := &answer{}
	a.fields, a.err = object(data)
	return a
}

func (a *answer) fail(name, want string) {
	if a.err == nil {
		a.err = fmt.Errorf("%s: expected %s", name, want)
	}
}

// has reports whether a field is there and not null.
func (a *answer) has(name string) bool {
	raw, ok := a.fields[name]
	return ok && string(raw) != "null"
}

// amount reads a whole number that is not negative. No amount, fee, share,
// number of a vault or time of the protocol is (protocol: lp-protocol.md §9 no. 9).
func (a *answer) amount(name string) *big.Int {
	v, ok := bigInt(a.fields[name])
	if !ok || v.Sign() < 0 {
		a.fail(name, "a non-negative whole number")
		return new(big.Int)
	}
	return v
}

func (a *answer) str(name string) string {
	s, ok := jsonString(a.fields[name])
	if !ok {
		a.fail(name, "a string")
	}
	return s
}

func (a *answer) number(name string) float64 {
	v, ok := jsonNumber(a.fields[name])
	if !ok {
		a.fail(name, "a number")
	}
	return v
}

func (a *answer) optionalNumber(name string) *float64 {
	if !a.has(name) {
		return nil
	}
	v := a.number(name)
	return &v
}

// whole reads a JSON number that is a whole number, not negative, and fits.
func (a *answer) whole(name string) int64 {
	v, ok := jsonNumber(a.fields[name])
	if !ok || v != math.Trunc(v) || v < 0 || v > 1<<53 {
		a.fail(name, "a non-negative whole number")
		return 0
	}
	return int64(v)
}

// unix reads a time in Unix seconds that came as a big integer.
func (a *answer) unix(name string) int64 {
	v := a.amount(name)
	if !v.IsInt64() {
		a.fail(name, "a time in seconds")
		return 0
	}
	return v.Int64()
}

func (a *answer) optionalBool(name string) bool {
	var v bool
	if a.has(name) && json.Unmarshal(a.fields[name], &v) != nil {
		a.fail(name, "true or false")
	}
	return v
}

// any returns a field as it came; nil if it is not there.
func (a *answer) any(name string) json.RawMessage { return a.fields[name] }

func jsonString(raw json.RawMessage) (string, bool) {
	if len(raw) == 0 || raw[0] != '"' {
		return "", false
	}
	var s string
	return s, json.Unmarshal(raw, &s) == nil
}

func jsonNumber(raw json.RawMessage) (float64, bool) {
	if len(raw) == 0 || raw[0] != '-' && (raw[0] < '0' || raw[0] > '9') {
		return 0, false
	}
	v, err := strconv.ParseFloat(string(raw), 64)
	return v, err == nil
}

// bigInt reads a big integer: a decimal string, with a sign if negative, or a
// JSON number that is whole. The network's clients take more forms, which no LP
// sends (protocol: lp-protocol.md §3.4).
func bigInt(raw json.RawMessage) (*big.Int, bool) {
	s, quoted := jsonString(raw)
	if !quoted {
		s = string(raw)
	}
	if wholeText(s) {
		return new(big.Int).SetString(s, 10)
	}
	if quoted {
		return nil, false
	}
	v, ok := jsonNumber(raw)
	if !ok || v != math.Trunc(v) || math.Abs(v) >= 1e77 {
		return nil, false
	}
	n, _ := big.NewFloat(v).Int(nil)
	return n, true
}

// wholeText reports whether s matches ^-?[0-9]+$ and is not too long.
func wholeText(s string) bool {
	s = strings.TrimPrefix(s, "-")
	return s != "" && len(s) <= maxDigits && strings.Trim(s, "0123456789") == ""
}
