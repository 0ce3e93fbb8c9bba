package lp

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/big"
	"net/url"
	"strings"
	"sync"
)

// streamType is the content type of frames (protocol: lp-protocol.md §3.2).
const streamType = "application/x-multiple-json"

// maxBody is how much of a request is read (protocol: lp-protocol.md §3.7).
const maxBody = 8192

var errTooLong = fmt.Errorf("a request of more than %d bytes", maxBody)

// params are the parameters of a request, which may still be coming in.
type params struct {
	streamed bool
	mu       sync.Mutex
	values   map[string]json.RawMessage
	ended    bool
	err      error         // why no more can come, unless the body ended well
	more     chan struct{} // closed, and replaced, when something came
}

func newParams(streamed bool) *params {
	return &params{streamed: streamed, values: make(map[string]json.RawMessage), more: make(chan struct{})}
}

// queryParams are the parameters of a call without a body.
func queryParams(q url.Values) *params {
	p := newParams(false)
	for name, values := range q {
		if raw, err := text(values[0]); err == nil && len(values) == 1 {
			p.values[name] = raw
		}
	}
	p.ended = true
	return p
}

// put adds the members of an object; what is known stays.
func (p *params) put(members map[string]json.RawMessage) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for name, v := range members {
		if _, known := p.values[name]; !known {
			p.values[name] = v
		}
	}
	p.announce()
}

func (p *params) end(err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.ended {
		p.ended, p.err = true, err
	}
	p.announce()
}

func (p *params) announce() {
	close(p.more)
	p.more = make(chan struct{})
}

// read reads a body to its end.
func (p *params) read(body io.Reader) error {
	limited := &io.LimitedReader{R: body, N: maxBody + 1}
	err := p.readFrames(limited)
	if !p.streamed {
		err = p.readObject(limited)
	}
	if limited.N == 0 {
		err = errTooLong
	}
	p.end(err)
	return err
}

func (p *params) readObject(body io.Reader) error {
	raw, err := io.ReadAll(body)
	if err != nil || len(raw) == 0 {
		return err
	}
	return p.parse(raw)
}

func (p *params) readFrames(body io.Reader) error {
	for p.streamed {
		var head [4]byte
		if _, err := io.ReadFull(body, head[:]); err == io.EOF {
			return nil
		} else if err != nil {
			return err
		}
		n := binary.LittleEndian.Uint32(head[:])
		if n > maxBody {
			return errTooLong
		}
		raw := make([]byte, n)
		if _, err := io.ReadFull(body, raw); err != nil {
			return errors.Join(err, io.ErrUnexpectedEOF)
		}
		if err := p.parse(raw); err != nil {
			return err
		}
	}
	return nil
}

func (p *params) parse(raw []byte) error {
	var members map[string]json.RawMessage
	if err := json.Unmarshal(raw, &members); err != nil {
		return err
	}
	p.put(members)
	return nil
}

// reader reads parameters one after the other, in the order of the calls, and
// remembers the first that is missing or invalid.
type reader struct {
	ctx context.Context
	url url.Values // of the query
	*params
	err error
}

// query returns a parameter of the URL.
func (r *reader) query(name string) (string, bool) { return r.url.Get(name), r.url.Has(name) }

// errMissing is what clients are not told: their request breaks off.
var errMissing = errors.New("a parameter did not come")

// wait returns a parameter as soon as it is there. Once the body has ended, one
// that is missing is an error if it was streamed, else nil (protocol:
// lp-protocol.md §3.3).
func (r *reader) wait(name string) (json.RawMessage, error) {
	for {
		r.mu.Lock()
		v, ok := r.values[name]
		ended, err, more := r.ended, r.params.err, r.more
		r.mu.Unlock()
		switch {
		case ok:
			return v, nil
		case ended && err == nil && r.streamed:
			return nil, errMissing
		case ended:
			return nil, err
		}
		select {
		case <-more:
		case <-r.ctx.Done():
			return nil, r.ctx.Err()
		}
	}
}

// get is wait that remembers the error.
func (r *reader) get(name string) json.RawMessage {
	if r.err != nil {
		return nil
	}
	v, err := r.wait(name)
	r.err = err
	return v
}

func (r *reader) bad(what string) {
	if r.err == nil {
		r.err = badBody(what)
	}
}

// already returns a parameter if it has come, as some are looked for only once.
func (r *reader) already(name string) (json.RawMessage, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	v, ok := r.values[name]
	return v, ok && !isNull(v)
}

func isNull(v json.RawMessage) bool { return len(v) == 0 || string(v) == "null" }

// big reads a whole number.
func (r *reader) big(name string) *big.Int {
	v, ok := parseBig(r.get(name))
	if !ok {
		r.bad("")
		return new(big.Int)
	}
	return v
}

// amount reads a whole number that is not negative.
func (r *reader) amount(name string) *big.Int {
	v := r.big(name)
	if v.Sign() < 0 || v.BitLen() > 256 {
		r.bad(name)
	}
	return v
}

// unix reads a time in seconds.
func (r *reader) unix(name string) int64 {
	v := r.amount(name)
	if !v.IsInt64() {
		r.bad(name)
		return 0
	}
	return v.Int64()
}

func (r *reader) str(name string) string {
	var v string
	if raw := r.get(name); isNull(raw) || json.Unmarshal(raw, &v) != nil {
		r.bad("")
	}
	return v
}

// optional reads a text that may be null.
func (r *reader) optional(name string) (v string, ok bool) {
	raw := r.get(name)
	if isNull(raw) {
		return "", false
	}
	if json.Unmarshal(raw, &v) != nil {
		r.bad("")
	}
	return v, true
}

func (r *reader) bool(name string) (v bool) {
	if raw := r.get(name); !isNull(raw) && json.Unmarshal(raw, &v) != nil {
		r.bad("")
	}
	return v
}

// small reads a JSON number that is whole.
func (r *reader) small(name string) int64 {
	var v int64
	if raw := r.get(name); isNull(raw) || json.Unmarshal(raw, &v) != nil {
		r.bad("")
	}
	return v
}

// parseBig reads what the network's LPs take for a whole number: a JSON number,
// or a text in decimal or with a prefix, of which the empty one is zero
// (protocol: lp-protocol.md §3.4).
func parseBig(raw json.RawMessage) (*big.Int, bool) {
	var s string
	if isNull(raw) || len(raw) > 200 {
		return nil, false
	}
	if raw[0] != '"' {
		return new(big.Int).SetString(string(raw), 10)
	}
	if json.Unmarshal(raw, &s) != nil {
		return nil, false
	}
	s = strings.TrimSpace(s)
	switch {
	case s == "":
		return new(big.Int), true
	case strings.Contains(s, "_"):
		return nil, false
	case len(s) > 2 && s[0] == '0' && strings.ContainsRune("xXoObB", rune(s[1])):
		return new(big.Int).SetString(s, 0)
	}
	return new(big.Int).SetString(s, 10)
}
