package bolt

import (
	"bytes"
	"errors"
	"slices"
	"testing"

	"github.com/swapper-go/swapper/storage"
)

func TestRecordBelongsToItsID(t *testing.T) {
	t.Parallel()
	record := encodeEntry(storage.Entry{ID: "a", Version: 1, Body: []byte("body")})
	if _, err := decodeEntry("b", record); !errors.Is(err, storage.ErrCorrupt) {
		t.Errorf("got %v, want ErrCorrupt", err)
	}
	note := encodeNote("a", []byte("body"), 1)
	if _, _, err := decodeNote("b", note); !errors.Is(err, storage.ErrCorrupt) {
		t.Errorf("got %v, want ErrCorrupt", err)
	}
}

// Any single bit that changes must be noticed.
func TestRecordNoticesEveryBit(t *testing.T) {
	t.Parallel()
	e := swap(1)
	e.Body = e.Body[:100]
	record := encodeEntry(e)
	for i := range len(record) * 8 {
		record[i/8] ^= 1 << (i % 8)
		if _, err := decodeEntry(e.ID, record); !errors.Is(err, storage.ErrCorrupt) {
			t.Errorf("bit %d: got %v, want ErrCorrupt", i, err)
		}
		record[i/8] ^= 1 << (i % 8)
	}
	if _, err := decodeEntry(e.ID, record); err != nil {
		t.Error(err)
	}
}

// FuzzDecodeEntry gives the decoder arbitrary records, with a good checksum so
// that it gets beyond it: what it accepts must be what is written.
func FuzzDecodeEntry(f *testing.F) {
	for i := range 3 {
		e := swap(i)
		e.Body = e.Body[:20*i]
		record := encodeEntry(e)
		f.Add(e.ID, record[:len(record)-checksumSize])
	}
	f.Add("a", []byte{0, 0, 0, 0, 0, 0, 0, 1, 0xff, 0xff})
	f.Fuzz(func(t *testing.T, id string, b []byte) {
		if _, err := decodeEntry(id, b); err != nil && !errors.Is(err, storage.ErrCorrupt) {
			t.Errorf("got %v, want ErrCorrupt", err)
		}
		record := seal(slices.Clone(b), id)
		e, err := decodeEntry(id, record)
		if err != nil {
			if !errors.Is(err, storage.ErrCorrupt) {
				t.Errorf("got %v, want ErrCorrupt", err)
			}
			return
		}
		if again := encodeEntry(e); !bytes.Equal(again, record) {
			t.Errorf("%x is read as %v, which is written %x", record, e, again)
		}
	})
}
