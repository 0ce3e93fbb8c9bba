package bolt

import (
	"bytes"
	"encoding/binary"

	"github.com/swapper-go/swapper/internal/bounds"
	"github.com/swapper-go/swapper/storage"
)

// Every index key is written as
//
//	length of Value (2 bytes), Value, length of Index (2 bytes), Index   the scope: all entries of one query
//	Order with its sign bit flipped (8 bytes), ID                        the place within the scope
//
// all integers big-endian. The lengths make the encoding injective for
// arbitrary bytes and keep one scope from being the beginning of another; the
// flipped sign makes the bytewise order of keys the order of a query. The value
// stands first because an entry often has the same value in several indexes,
// whose keys then share pages. A unique
// key is kept under its scope alone, and its place is the value stored there,
// so that one lookup both finds the holder and answers the query.

// scope returns the common beginning of the keys of an index and value.
func scope(index, value string) []byte {
	return appendScope(make([]byte, 0, 4+len(index)+len(value)+8+bounds.MaxID), index, value)
}

func appendScope(b []byte, index, value string) []byte {
	b = binary.BigEndian.AppendUint16(b, uint16(len(value)))
	b = append(b, value...)
	b = binary.BigEndian.AppendUint16(b, uint16(len(index)))
	return append(b, index...)
}

// appendPlace appends a position within a scope.
func appendPlace(b []byte, p storage.Position) []byte {
	b = appendOrder(b, p.Order)
	return append(b, p.ID...)
}

func appendOrder(b []byte, order int64) []byte {
	return binary.BigEndian.AppendUint64(b, uint64(order)^1<<63)
}

// parsePlace is the inverse of appendPlace.
func parsePlace(b []byte) (storage.Position, bool) {
	if len(b) <= 8 || len(b) > 8+bounds.MaxID {
		return storage.Position{}, false
	}
	return storage.Position{Order: int64(binary.BigEndian.Uint64(b) ^ 1<<63), ID: string(b[8:])}, true
}

// splitScope is the inverse of scope; rest is what follows the scope in b.
func splitScope(b []byte) (index, value string, rest []byte, ok bool) {
	if value, b, ok = cutString(b); !ok || len(value) > bounds.MaxValue {
		return "", "", nil, false
	}
	if index, b, ok = cutString(b); !ok || index == "" || len(index) > bounds.MaxIndex {
		return "", "", nil, false
	}
	return index, value, b, true
}

func cutString(b []byte) (s string, rest []byte, ok bool) {
	if len(b) < 2 {
		return "", nil, false
	}
	n := int(binary.BigEndian.Uint16(b))
	if len(b)-2 < n {
		return "", nil, false
	}
	return string(b[2 : 2+n]), b[2+n:], true
}

// after returns the first key that follows every key that begins with prefix.
// The prefix must not consist of 0xff only; a scope, with its lengths, never does.
func after(prefix []byte) []byte {
	last := len(prefix) - 1
	for prefix[last] == 0xff {
		last--
	}
	next := bytes.Clone(prefix[:last+1])
	next[last]++
	return next
}
