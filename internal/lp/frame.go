package lp

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"unicode/utf8"
)

// StreamType is the content type of frames. It counts only without parameters
// (protocol: lp-protocol.md §3.2).
const StreamType = "application/x-multiple-json"

// errFrame is the error of a stream that is not a sequence of frames.
var errFrame = errors.New("malformed frame")

// appendFrame appends one frame with the JSON object: its length in four bytes,
// little endian, and its text (protocol: lp-protocol.md §3.2).
func appendFrame(dst, object []byte) ([]byte, error) {
	if uint64(len(object)) > math.MaxUint32 {
		return nil, fmt.Errorf("%w: object is %d bytes long", errFrame, len(object))
	}
	dst = binary.LittleEndian.AppendUint32(dst, uint32(len(object)))
	return append(dst, object...), nil
}

// frames reads the objects of a stream.
type frames struct {
	r    io.Reader
	left int // bytes that may still come, headers included
}

// next returns the members of the next object. io.EOF is the end of the stream
// at a frame's border, io.ErrUnexpectedEOF one within a frame; an error that
// wraps errFrame says that the stream makes no sense. Nothing is allocated for a
// frame longer than what may still come.
func (f *frames) next() (map[string]json.RawMessage, error) {
	var head [4]byte
	if f.left < len(head) {
		return nil, fmt.Errorf("%w: the response is too long", errFrame)
	}
	if _, err := io.ReadFull(f.r, head[:]); err != nil {
		return nil, err
	}
	f.left -= len(head)
	n := binary.LittleEndian.Uint32(head[:])
	if uint64(n) > uint64(f.left) {
		return nil, fmt.Errorf("%w: %d bytes announced, at most %d allowed", errFrame, n, f.left)
	}
	text := make([]byte, n)
	if _, err := io.ReadFull(f.r, text); err != nil {
		if err == io.EOF {
			err = io.ErrUnexpectedEOF
		}
		return nil, err
	}
	f.left -= int(n)
	return object(text)
}

// object decodes the members of a JSON object. Of a repeated member the last
// one counts; names are compared exactly.
func object(text []byte) (map[string]json.RawMessage, error) {
	var m map[string]json.RawMessage
	if !utf8.Valid(text) {
		return nil, fmt.Errorf("%w: not UTF-8", errFrame)
	}
	if err := json.Unmarshal(text, &m); err != nil {
		return nil, fmt.Errorf("%w: %v", errFrame, err)
	}
	if m == nil {
		return nil, fmt.Errorf("%w: not a JSON object", errFrame)
	}
	return m, nil
}
