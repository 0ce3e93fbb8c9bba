package lp

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/swapper-go/swapper/internal/trial"
	"github.com/swapper-go/swapper/internal/vectors"
)

func TestVectorsFramesEncode(t *testing.T) {
	vectors.Each(t, "lp-protocol", "frames-encode", func(t *testing.T, c *vectors.Case) {
		var in struct{ JSON string }
		var want struct{ Frame string }
		c.Input(t, &in)
		c.Expected(t, &want)
		got, err := appendFrame(nil, []byte(in.JSON))
		if err != nil || hex.EncodeToString(got) != want.Frame {
			t.Errorf("frame %x, %v, want %s", got, err, want.Frame)
		}
		// The members survive being taken apart and put together again.
		var params []Param
		d := json.NewDecoder(strings.NewReader(in.JSON))
		if _, err := d.Token(); err != nil {
			t.Fatal(err)
		}
		for d.More() {
			name, _ := d.Token()
			var value json.RawMessage
			trial.Do(t, d.Decode(&value))
			params = append(params, Param{name.(string), value})
		}
		if got := string(encode(params)); got != in.JSON {
			t.Errorf("encoded %s, want %s", got, in.JSON)
		}
	})
}

// chunked yields one chunk per Read, and blocks at the end unless the stream ends.
type chunked struct {
	chunks [][]byte
	end    error
}

func (r *chunked) Read(p []byte) (int, error) {
	for len(r.chunks) > 0 && len(r.chunks[0]) == 0 {
		r.chunks = r.chunks[1:]
	}
	if len(r.chunks) == 0 {
		return 0, r.end
	}
	n := copy(p, r.chunks[0])
	r.chunks[0] = r.chunks[0][n:]
	return n, nil
}

var errOpen = errors.New("the stream is still open")

func TestVectorsFramesDecode(t *testing.T) {
	vectors.Each(t, "lp-protocol", "frames-decode", func(t *testing.T, c *vectors.Case) {
		var in struct {
			Chunks, Keys []string
			End          bool
		}
		type param struct {
			Value json.RawMessage
			Error bool
		}
		var want struct {
			Params, ResolvedBefore map[string]param
			Pending                []string
			Malformed              bool
		}
		c.Input(t, &in)
		c.Expected(t, &want)
		r := &chunked{end: errOpen}
		if in.End {
			r.end = io.EOF
		}
		for _, chunk := range in.Chunks {
			data := trial.Must(hex.DecodeString(chunk))(t)
			r.chunks = append(r.chunks, data)
		}
		seen, err := map[string]json.RawMessage{}, error(nil)
		for f := (frames{r: r, left: 64 << 10}); err == nil; {
			var fields map[string]json.RawMessage
			if fields, err = f.next(); err == nil {
				for name, value := range fields {
					if _, ok := seen[name]; !ok {
						seen[name] = value
					}
				}
			}
		}
		ended := err == io.EOF || err == io.ErrUnexpectedEOF
		if want.Malformed {
			if !errors.Is(err, errFrame) {
				t.Errorf("end of the stream is %v, want a malformed frame", err)
			}
			want.Params = want.ResolvedBefore
		}
		for _, name := range in.Keys {
			p, known := want.Params[name]
			got, ok := seen[name]
			switch {
			case !known && want.Pending != nil:
				if ok || !errors.Is(err, errOpen) {
					t.Errorf("%s: %s, %v, want it to be waited for", name, got, err)
				}
			case !known || p.Error:
				// An announced length beyond every limit fails at once instead of being waited for.
				if ok || !ended && !errors.Is(err, errFrame) {
					t.Errorf("%s: %s, %v, want an error", name, got, err)
				}
			case !ok:
				t.Errorf("%s is missing: %v", name, err)
			default:
				vectors.SameJSON(t, p.Value, got)
			}
		}
	})
}

func TestFramesAreBounded(t *testing.T) {
	huge := []byte{0xff, 0xff, 0xff, 0xff, '{'}
	f := frames{r: bytes.NewReader(huge), left: 64 << 10}
	if _, err := f.next(); !errors.Is(err, errFrame) {
		t.Errorf("frame of 4 GiB: %v", err)
	}
	empty := bytes.Repeat([]byte{2, 0, 0, 0, '{', '}'}, 64<<10)
	f = frames{r: bytes.NewReader(empty), left: 64 << 10}
	n, err := 0, error(nil)
	for ; err == nil; n++ {
		_, err = f.next()
	}
	if !errors.Is(err, errFrame) || n > 64<<10/6+1 {
		t.Errorf("stream without end: %v after %d frames", err, n)
	}
	for name, text := range map[string]string{"list": "[]", "null": "null", "text": `"x"`, "two": "{}{}", "not UTF-8": "{\"a\":\"\xff\"}", "empty": ""} {
		frame := trial.Must(appendFrame(nil, []byte(text)))(t)
		f := frames{r: bytes.NewReader(frame), left: 64 << 10}
		if _, err := f.next(); !errors.Is(err, errFrame) {
			t.Errorf("%s: %v, want a malformed frame", name, err)
		}
	}
}
