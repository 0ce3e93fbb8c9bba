package bolt

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"

	"github.com/swapper-go/swapper/internal/bounds"
	"github.com/swapper-go/swapper/storage"
)

// An entry is stored under its ID as
//
//	version (8), number of keys (2), the keys, the body, checksum (4)
//
// and each of its keys as its scope, Order (8, sign flipped) and 1 if it is
// unique, else 0. A note is stored under its name as version (8), data,
// checksum (4). The checksum covers the ID or name as well, so that a record
// that turns up under another's is found out too; bbolt has none of its own.

const (
	checksumSize = 4
	maxRecord    = 10 + bounds.MaxKeys*(4+bounds.MaxIndex+bounds.MaxValue+9) + bounds.MaxBody + checksumSize
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

func seal(record []byte, name string) []byte {
	return binary.BigEndian.AppendUint32(record, checksum(record, name))
}

// unseal returns a sealed record without its checksum. The result aliases sealed.
func unseal(sealed []byte, name string) ([]byte, error) {
	if len(sealed) < checksumSize || len(sealed) > maxRecord {
		return nil, fmt.Errorf("record has %d bytes: %w", len(sealed), storage.ErrCorrupt)
	}
	record := sealed[:len(sealed)-checksumSize]
	if binary.BigEndian.Uint32(sealed[len(record):]) != checksum(record, name) {
		return nil, fmt.Errorf("checksum mismatch: %w", storage.ErrCorrupt)
	}
	return record, nil
}

func checksum(record []byte, name string) uint32 {
	return crc32.Update(crc32.Checksum([]byte(name), castagnoli), castagnoli, record)
}

func encodeEntry(e storage.Entry) []byte {
	size := 8 + 2 + len(e.Body) + checksumSize
	for _, k := range e.Keys {
		size += 4 + len(k.Index) + len(k.Value) + 9
	}
	b := make([]byte, 0, size)
	b = binary.BigEndian.AppendUint64(b, e.Version)
	b = binary.BigEndian.AppendUint16(b, uint16(len(e.Keys)))
	for _, k := range e.Keys {
		b = appendScope(b, k.Index, k.Value)
		b = appendOrder(b, k.Order)
		b = append(b, flag(k.Unique))
	}
	return seal(append(b, e.Body...), e.ID)
}

func flag(set bool) byte {
	if set {
		return 1
	}
	return 0
}

// decodeEntry is the inverse of encodeEntry. The body aliases sealed.
func decodeEntry(id string, sealed []byte) (storage.Entry, error) {
	b, err := unseal(sealed, id)
	if err != nil {
		return storage.Entry{}, fmt.Errorf("entry %q: %w", storage.Label(id), err)
	}
	damaged := fmt.Errorf("entry %q: invalid layout: %w", storage.Label(id), storage.ErrCorrupt)
	if len(b) < 10 {
		return storage.Entry{}, damaged
	}
	e := storage.Entry{ID: id, Version: binary.BigEndian.Uint64(b)}
	n := int(binary.BigEndian.Uint16(b[8:]))
	b = b[10:]
	if n > bounds.MaxKeys {
		return storage.Entry{}, damaged
	}
	for range n {
		var k storage.Key
		var ok bool
		if k.Index, k.Value, b, ok = splitScope(b); !ok || len(b) < 9 || b[8] > 1 {
			return storage.Entry{}, damaged
		}
		k.Order = int64(binary.BigEndian.Uint64(b) ^ 1<<63)
		k.Unique = b[8] == 1
		e.Keys = append(e.Keys, k)
		b = b[9:]
	}
	e.Body = b
	return e, nil
}

func encodeNote(name string, data []byte, version uint64) []byte {
	b := make([]byte, 0, 8+len(data)+checksumSize)
	b = binary.BigEndian.AppendUint64(b, version)
	return seal(append(b, data...), name)
}

// decodeNote is the inverse of encodeNote. The data aliases sealed.
func decodeNote(name string, sealed []byte) (data []byte, version uint64, err error) {
	b, err := unseal(sealed, name)
	if err != nil {
		return nil, 0, fmt.Errorf("note %q: %w", name, err)
	}
	if len(b) < 8 {
		return nil, 0, fmt.Errorf("note %q: invalid layout: %w", name, storage.ErrCorrupt)
	}
	return b[8:], binary.BigEndian.Uint64(b), nil
}
