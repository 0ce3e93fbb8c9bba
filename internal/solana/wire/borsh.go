package wire

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
)

// Discriminator is what data of the programs begins with, naming what follows.
type Discriminator [8]byte

// NameOf returns the discriminator of a name: "global" for instructions, "account",
// "event".
func NameOf(space, name string) (d Discriminator) {
	h := sha256.Sum256([]byte(space + ":" + name))
	copy(d[:], h[:])
	return d
}

var errShort = errors.New("data ends too early")

// reader takes little-endian values off the front of data and remembers that it ran
// out; what it returns then is zero.
type reader struct {
	data []byte
	err  error
}

func (r *reader) take(n int) []byte {
	if r.err != nil || n < 0 || n > len(r.data) {
		r.err = errShort
		return nil
	}
	out := r.data[:n]
	r.data = r.data[n:]
	return out
}

func (r *reader) u8() uint8 {
	if b := r.take(1); b != nil {
		return b[0]
	}
	return 0
}

func (r *reader) u16() uint16 {
	if b := r.take(2); b != nil {
		return binary.LittleEndian.Uint16(b)
	}
	return 0
}

func (r *reader) u32() uint32 {
	if b := r.take(4); b != nil {
		return binary.LittleEndian.Uint32(b)
	}
	return 0
}

func (r *reader) u64() uint64 {
	if b := r.take(8); b != nil {
		return binary.LittleEndian.Uint64(b)
	}
	return 0
}

// flag reads a bool, of which other bytes than 0 and 1 are none.
func (r *reader) flag() bool {
	b := r.u8()
	if b > 1 && r.err == nil {
		r.err = errors.New("a flag is neither 0 nor 1")
	}
	return b == 1
}

func (r *reader) key() (k Key) {
	copy(k[:], r.take(32))
	return k
}

func (r *reader) hash() (h [32]byte) {
	copy(h[:], r.take(32))
	return h
}

func (r *reader) discriminator() (d Discriminator) {
	copy(d[:], r.take(8))
	return d
}

// end returns the error of the whole reading, which must have used all data.
func (r *reader) end() error {
	if r.err == nil && len(r.data) > 0 {
		return errors.New("data goes on after its end")
	}
	return r.err
}

// writer is the inverse of reader.
type writer []byte

func (w *writer) bytes(b ...byte) *writer { *w = append(*w, b...); return w }
func (w *writer) u8(v uint8) *writer      { return w.bytes(v) }
func (w *writer) u16(v uint16) *writer    { *w = binary.LittleEndian.AppendUint16(*w, v); return w }
func (w *writer) u32(v uint32) *writer    { *w = binary.LittleEndian.AppendUint32(*w, v); return w }
func (w *writer) u64(v uint64) *writer    { *w = binary.LittleEndian.AppendUint64(*w, v); return w }

func (w *writer) flag(v bool) *writer {
	if v {
		return w.u8(1)
	}
	return w.u8(0)
}
