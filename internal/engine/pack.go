package engine

import (
	"encoding/binary"
	"encoding/hex"
	"errors"
	"math/big"
	"reflect"
	"strings"
	"time"
)

// pack appends a value to what is kept of many swaps: its exported fields one after the other,
// in few bytes, and a value that is zero in one. Equal values have equal bytes, and so have
// numbers and times that differ only in how they are held. [unpack] reads it in the same
// process: nothing of it is stored.
func pack(to []byte, v reflect.Value) ([]byte, error) {
	if !v.CanInterface() {
		return nil, errors.New("not to be packed: an unexported field")
	}
	switch x := v.Interface().(type) {
	case time.Time:
		if x.IsZero() {
			return append(to, 0), nil
		}
		return binary.AppendVarint(append(to, 1), x.UnixNano()), nil
	case big.Int:
		return packBytes(append(to, byte(x.Sign()+1)), x.Bytes()), nil
	}
	switch v.Kind() {
	case reflect.Bool:
		if v.Bool() {
			return append(to, 1), nil
		}
		return append(to, 0), nil
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return binary.AppendVarint(to, v.Int()), nil
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return binary.AppendUvarint(to, v.Uint()), nil
	case reflect.String:
		return packText(to, v.String()), nil
	case reflect.Struct:
		if v.IsZero() {
			return append(to, 0), nil
		}
		return packAll(append(to, 1), v.NumField(), v.Field)
	case reflect.Array:
		if v.Type().Elem().Kind() == reflect.Uint8 {
			for i := range v.Len() {
				to = append(to, byte(v.Index(i).Uint()))
			}
			return to, nil
		}
		return packAll(to, v.Len(), v.Index)
	case reflect.Slice:
		if v.IsNil() {
			return append(to, 0), nil
		}
		if to = binary.AppendUvarint(to, uint64(v.Len())+1); v.Type().Elem().Kind() == reflect.Uint8 {
			return append(to, v.Bytes()...), nil
		}
		return packAll(to, v.Len(), v.Index)
	case reflect.Pointer:
		if v.IsNil() {
			return append(to, 0), nil
		}
		return pack(append(to, 1), v.Elem())
	case reflect.Interface:
		if v.IsNil() {
			return append(to, 0), nil
		}
	}
	return nil, errors.New("not to be packed: " + v.Type().String())
}

func packBytes(to, b []byte) []byte {
	return append(binary.AppendUvarint(to, uint64(len(b))), b...)
}

// packText has half of what is hexadecimal: ids of transactions and blocks.
func packText(to []byte, s string) []byte {
	if digits, ok := strings.CutPrefix(s, "0x"); ok {
		if raw, err := hex.DecodeString(digits); err == nil && hex.EncodeToString(raw) == digits {
			return packBytes(append(to, 1), raw)
		}
	}
	return packBytes(append(to, 0), []byte(s))
}

func packAll(to []byte, n int, part func(int) reflect.Value) (_ []byte, err error) {
	for i := range n {
		if to, err = pack(to, part(i)); err != nil {
			return nil, err
		}
	}
	return to, nil
}

// unpacker reads what pack has appended.
type unpacker struct{ rest string }

// unpack sets a value, which is zero before.
func (u *unpacker) unpack(v reflect.Value) {
	switch to := v.Addr().Interface().(type) {
	case *time.Time:
		if u.number() != 0 {
			*to = time.Unix(0, u.signed())
		}
		return
	case *big.Int:
		sign := u.number()
		if to.SetBytes([]byte(u.text())); sign == 0 {
			to.Neg(to)
		}
		return
	}
	switch v.Kind() {
	case reflect.Bool:
		v.SetBool(u.number() != 0)
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		v.SetInt(u.signed())
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		v.SetUint(u.number())
	case reflect.String:
		if u.number() != 0 {
			v.SetString("0x" + hex.EncodeToString([]byte(u.text())))
		} else {
			v.SetString(u.text())
		}
	case reflect.Struct:
		if u.number() != 0 {
			u.all(v.NumField(), v.Field)
		}
	case reflect.Array:
		if v.Type().Elem().Kind() == reflect.Uint8 {
			copy(v.Slice(0, v.Len()).Bytes(), u.take(v.Len()))
			return
		}
		u.all(v.Len(), v.Index)
	case reflect.Slice:
		n := int(u.number()) - 1
		if n < 0 {
			return
		}
		if v.Type().Elem().Kind() == reflect.Uint8 {
			v.SetBytes([]byte(u.take(n)))
			return
		}
		v.Set(reflect.MakeSlice(v.Type(), n, n))
		u.all(n, v.Index)
	case reflect.Pointer:
		if u.number() != 0 {
			v.Set(reflect.New(v.Type().Elem()))
			u.unpack(v.Elem())
		}
	default: // an interface, which was nil
		u.number()
	}
}

func (u *unpacker) all(n int, part func(int) reflect.Value) {
	for i := range n {
		u.unpack(part(i))
	}
}

func (u *unpacker) take(n int) string {
	text := u.rest[:n]
	u.rest = u.rest[n:]
	return text
}

func (u *unpacker) text() string { return strings.Clone(u.take(int(u.number()))) }

func (u *unpacker) number() uint64 {
	n, size := binary.Uvarint([]byte(u.rest[:min(len(u.rest), binary.MaxVarintLen64)]))
	u.take(size)
	return n
}

func (u *unpacker) signed() int64 {
	n, size := binary.Varint([]byte(u.rest[:min(len(u.rest), binary.MaxVarintLen64)]))
	u.take(size)
	return n
}
