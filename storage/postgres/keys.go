package postgres

import (
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/swapper-go/swapper/internal/bounds"
	"github.com/swapper-go/swapper/storage"
)

// encodeKeys writes the keys as an entry's row has them: their number (uvarint),
// and for each the index and the value (uvarint length, bytes), Order (varint) and 1
// if it is unique, else 0.
func encodeKeys(keys []storage.Key) []byte {
	b := binary.AppendUvarint(make([]byte, 0, 1+64*len(keys)), uint64(len(keys)))
	for _, k := range keys {
		b = append(binary.AppendUvarint(b, uint64(len(k.Index))), k.Index...)
		b = append(binary.AppendUvarint(b, uint64(len(k.Value))), k.Value...)
		b = binary.AppendVarint(b, k.Order)
		if k.Unique {
			b = append(b, 1)
		} else {
			b = append(b, 0)
		}
	}
	return b
}

// decodeKeys is the inverse of encodeKeys.
func decodeKeys(id string, b []byte) ([]storage.Key, error) {
	damaged := fmt.Errorf("entry %q: its keys cannot be read: %w", storage.Label(id), storage.ErrCorrupt)
	number := func() uint64 {
		n, size := binary.Uvarint(b)
		if size <= 0 {
			b = nil
			return 1 << 62
		}
		b = b[size:]
		return n
	}
	text := func() (string, bool) {
		n := number()
		if n > uint64(len(b)) {
			return "", false
		}
		t := string(b[:n])
		b = b[n:]
		return t, true
	}
	n := number()
	if n > bounds.MaxKeys {
		return nil, damaged
	}
	keys := make([]storage.Key, n)
	for i := range keys {
		var indexOK, valueOK bool
		keys[i].Index, indexOK = text()
		keys[i].Value, valueOK = text()
		order, size := binary.Varint(b)
		if !indexOK || !valueOK || size <= 0 || len(b) == size || b[size] > 1 {
			return nil, damaged
		}
		keys[i].Order, keys[i].Unique = order, b[size] == 1
		b = b[size+1:]
	}
	if len(b) > 0 {
		return nil, damaged
	}
	return keys, nil
}

// decodeEntry makes an entry of its row.
func decodeEntry(id string, version int64, keys, body []byte) (storage.Entry, error) {
	decoded, err := decodeKeys(id, keys)
	if err != nil {
		return storage.Entry{}, err
	}
	return storage.Entry{ID: id, Version: uint64(version), Body: body, Keys: decoded}, nil
}

// without returns the keys that are not, to the letter, among others.
func without(keys, others []storage.Key) []storage.Key {
	return slices.DeleteFunc(slices.Clone(keys), func(k storage.Key) bool { return slices.Contains(others, k) })
}

// raw returns the bytes of a text, never nil, which would be stored as no value.
func raw(text string) []byte { return append([]byte{}, text...) }

// some returns the bytes, never nil.
func some(b []byte) []byte {
	if b == nil {
		return []byte{}
	}
	return b
}
