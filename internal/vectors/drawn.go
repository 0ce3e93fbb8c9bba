package vectors

import (
	"bytes"
	"encoding/json"
	"maps"
	"math/big"
	"slices"
)

// Drawn is what values are drawn from. Once it is used up, everything drawn is zero.
type Drawn struct{ left []byte }

// Draw draws from these bytes.
func Draw(b []byte) *Drawn { return &Drawn{b} }

// Byte draws one byte.
func (f *Drawn) Byte() byte {
	if len(f.left) == 0 {
		return 0
	}
	b := f.left[0]
	f.left = f.left[1:]
	return b
}

// Bool draws a truth.
func (f *Drawn) Bool() bool { return f.Byte()&1 == 1 }

// Int draws a number from 0 to n-1; n is at most 65536.
func (f *Drawn) Int(n int) int {
	v := int(f.Byte())
	if n > 256 {
		v = v<<8 | int(f.Byte())
	}
	return v % n
}

// Bytes draws exactly n bytes.
func (f *Drawn) Bytes(n int) []byte {
	b := make([]byte, n)
	f.left = f.left[copy(b, f.left):]
	return b
}

// Some draws 0 to most bytes.
func (f *Drawn) Some(most int) []byte { return f.Bytes(f.Int(most + 1)) }

// Uint64 draws a number, of any length.
func (f *Drawn) Uint64() uint64 { return f.Big(64).Uint64() }

// Big draws a number of at most so many bits, small ones often.
func (f *Drawn) Big(bits int) *big.Int {
	n := new(big.Int).SetBytes(f.Some((bits + 7) / 8))
	return n.Rsh(n, uint(max(0, n.BitLen()-bits)))
}

// DrawOne draws one of several.
func DrawOne[T any](f *Drawn, all ...T) T { return all[f.Int(len(all))] }

// Bent returns bytes with a few changes: flipped, left out, doubled, put in.
func (f *Drawn) Bent(b []byte) []byte {
	b = bytes.Clone(b)
	for range f.Int(4) {
		if len(b) == 0 {
			return b
		}
		at := f.Int(min(len(b), 65536))
		switch f.Int(5) {
		case 0:
			b[at] ^= 1 << f.Int(8)
		case 1:
			b[at] = f.Byte()
		case 2:
			b = slices.Delete(b, at, at+1)
		case 3:
			b = slices.Insert(b, at, f.Some(4)...)
		default:
			b = append(b, b[at:min(len(b), at+8)]...)
		}
	}
	return b
}

// oddities are values that a peer may put anywhere.
var oddities = []string{`null`, `true`, `0`, `-1`, `1e400`, `1.5`, `18446744073709551616`, `115792089237316195423570985008687907853269984665640564039457584007913129639936`, `""`, `"0x"`, `"-0"`,
	`"\u0000"`, `"` + "\xff" + `"`, `[]`, `{}`, `[[[[[[[[]]]]]]]]`, `{"":{}}`, `"9007199254740993"`, `"NaN"`}

// JSON returns the text of a JSON value with a few changes of its members: left out,
// replaced by something odd, renamed, exchanged, put deeper, and now and then bent bytes.
func (f *Drawn) JSON(text []byte) []byte {
	var v any
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	if d.Decode(&v) != nil {
		return f.Bent(text)
	}
	for range 1 + f.Int(3) {
		v = f.change(v, 8)
	}
	text, err := json.Marshal(v)
	if err != nil {
		return nil
	}
	if f.Int(8) == 7 {
		return f.Bent(text)
	}
	return text
}

func (f *Drawn) odd() any { return json.RawMessage(DrawOne(f, oddities...)) }

func (f *Drawn) change(v any, deep int) any {
	switch v := v.(type) {
	case map[string]any:
		names := slices.Sorted(maps.Keys(v))
		if len(names) == 0 || deep == 0 {
			return f.odd()
		}
		name := names[f.Int(len(names))]
		switch f.Int(8) {
		case 0:
			delete(v, name)
		case 1:
			v[name] = f.odd()
		case 2:
			other := names[f.Int(len(names))]
			v[name], v[other] = v[other], v[name]
		case 3:
			v[name] = map[string]any{name: v[name]}
		case 4:
			v[name] = []any{v[name], v[name]}
		case 5:
			v[string(f.Some(12))] = v[name]
		default:
			v[name] = f.change(v[name], deep-1)
		}
		return v
	case []any:
		if len(v) == 0 || deep == 0 {
			return []any{f.odd()}
		}
		at := f.Int(len(v))
		switch f.Int(4) {
		case 0:
			return slices.Delete(v, at, at+1)
		case 1:
			return append(v, v[at])
		default:
			v[at] = f.change(v[at], deep-1)
		}
		return v
	case string:
		if f.Bool() {
			return string(f.Bent([]byte(v)))
		}
	case json.Number:
		if n, ok := new(big.Int).SetString(v.String(), 10); ok && f.Bool() {
			return json.RawMessage(n.Add(n, big.NewInt(int64(f.Int(5))-2)).String())
		}
	}
	return f.odd()
}
