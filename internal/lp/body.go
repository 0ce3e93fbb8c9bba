package lp

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"math/big"
	"slices"
	"strings"

	"github.com/swapper-go/swapper/internal/async"
)

// Param is a parameter that the host adds to every quote request, such as a
// referral tag. It cannot change a parameter of the protocol.
type Param struct {
	Name  string
	Value json.RawMessage
}

// Body is the parameters of a request in the order in which they are sent.
type Body struct {
	params []Param
	late   []lateParam
}

// lateParam is a parameter that becomes known while the request is being sent.
type lateParam struct {
	name  string
	after []string // parameters that must have been sent before
	known func() bool
	wait  func(context.Context) (json.RawMessage, error) // nil: there is none after all
}

// add appends a parameter, or gives the one with that name its value.
func (b *Body) add(name string, value any) {
	b.set(name, text(value))
}

func (b *Body) set(name string, value json.RawMessage) {
	if i := b.find(name); i >= 0 {
		b.params[i].Value = value
		return
	}
	b.params = append(b.params, Param{name, value})
}

func (b *Body) find(name string) int {
	return slices.IndexFunc(b.params, func(p Param) bool { return p.Name == name })
}

// extend adds the host's parameters, without those that the request sends first
// or late. What is added after them replaces a value of the same name (protocol:
// lp-protocol.md §5, §9 no. 18).
func (b *Body) extend(extra []Param, late ...string) {
	for _, p := range extra {
		if b.find(p.Name) < 0 && !slices.Contains(late, p.Name) {
			b.params = append(b.params, p)
		}
	}
}

// addLate appends a parameter that becomes known later. A future that is nil
// leaves it out; a value that is present but empty makes an empty frame.
func addLate[T any](b *Body, name string, f *async.Future[T], value func(T) any, after ...string) {
	if f == nil {
		return
	}
	b.late = append(b.late, lateParam{name: name, after: after, known: f.IsKnown, wait: func(ctx context.Context) (json.RawMessage, error) {
		v, err := f.Wait(ctx)
		if err != nil {
			return nil, err
		}
		out := value(v)
		if out == nil {
			return nil, nil
		}
		return text(out), nil
	}})
}

// each hands over the late parameters one by one in the order in which they
// become known, those known already in the order of the body, none before those
// that it comes after. It returns the first error (a *LateError if a parameter
// is not to be had), and leaves no goroutine behind.
func (b *Body) each(ctx context.Context, send func(name string, value json.RawMessage) error) error {
	type outcome struct {
		lateParam
		value json.RawMessage
		err   error
	}
	ctx, cancel := context.WithCancel(ctx)
	arrivals := make(chan outcome)
	open := 0
	defer func() {
		cancel()
		for range open {
			<-arrivals
		}
	}()

	waiting := map[string]bool{} // not sent yet
	for _, p := range b.late {
		waiting[p.name] = true
	}
	free := func(p lateParam) bool {
		return !slices.ContainsFunc(p.after, func(name string) bool { return waiting[name] })
	}
	deliver := func(o outcome) error {
		switch {
		case o.err != nil && ctx.Err() == nil:
			return &LateError{o.err}
		case o.err != nil:
			return o.err
		}
		delete(waiting, o.name)
		return send(o.name, o.value)
	}

	for _, p := range b.late {
		if p.known() && free(p) {
			value, err := p.wait(ctx)
			if err := deliver(outcome{p, value, err}); err != nil {
				return err
			}
			continue
		}
		open++
		go func() {
			value, err := p.wait(ctx)
			arrivals <- outcome{p, value, err}
		}()
	}
	var held []outcome
	for open > 0 {
		o := <-arrivals
		open--
		held = append(held, o)
		for i := 0; i < len(held); i++ {
			if held[i].err == nil && !free(held[i].lateParam) {
				continue
			}
			o := held[i]
			held = slices.Delete(held, i, i+1)
			if err := deliver(o); err != nil {
				return err
			}
			i = -1 // what waited for it may go now
		}
	}
	return nil
}

// encode returns the parameters as one JSON object, in order.
func encode(params []Param) []byte {
	out := []byte{'{'}
	for i, p := range params {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(out, text(p.Name)...)
		out = append(out, ':')
		out = append(out, p.Value...)
	}
	return append(out, '}')
}

// text returns v as JSON without the escapes that Go adds for HTML. All values
// here are strings, numbers, booleans and lists of them, which always encode.
func text(v any) json.RawMessage {
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return json.RawMessage("null")
	}
	return bytes.TrimSuffix(out.Bytes(), []byte{'\n'})
}

// dec is the form of a big integer on the wire.
func dec(v *big.Int) string {
	if v == nil {
		return "0"
	}
	return v.String()
}

// Late reports whether some parameters become known later.
func (b *Body) Late() bool { return len(b.late) > 0 }

// Stream writes the body as frames: what is known at once, then each late
// parameter in a frame of its own. One without a value makes an empty frame.
func (b *Body) Stream(ctx context.Context, w io.Writer) error {
	write := func(params []Param) error {
		frame, err := appendFrame(nil, encode(params))
		if err != nil {
			return err
		}
		_, err = w.Write(frame)
		return err
	}
	if err := write(b.params); err != nil {
		return err
	}
	return b.each(ctx, func(name string, value json.RawMessage) error {
		if value == nil {
			return write(nil)
		}
		return write([]Param{{name, value}})
	})
}

// Whole returns the body as one object, once everything is known.
func (b *Body) Whole(ctx context.Context) ([]byte, error) {
	all := Body{params: append([]Param(nil), b.params...)}
	err := b.each(ctx, func(name string, value json.RawMessage) error {
		if value != nil {
			all.set(name, value)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return encode(all.params), nil
}

// LateError is the failure of a parameter that was to be sent later.
type LateError struct{ Err error }

func (e *LateError) Error() string { return e.Err.Error() }

func (e *LateError) Unwrap() error { return e.Err }

// escape encodes a query value as the network's clients do, who leave these
// signs as they are (protocol: lp-protocol.md §3.1).
func escape(s string) string {
	const hex = "0123456789ABCDEF"
	var out strings.Builder
	for _, c := range []byte(s) {
		if 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || strings.IndexByte("-_.!~*'()", c) >= 0 {
			out.WriteByte(c)
			continue
		}
		out.Write([]byte{'%', hex[c>>4], hex[c&15]})
	}
	return out.String()
}

// query joins names and values, in order.
func query(pairs ...string) string {
	out := ""
	for i := 0; i+1 < len(pairs); i += 2 {
		sep := "&"
		if i == 0 {
			sep = "?"
		}
		out += sep + pairs[i] + "=" + escape(pairs[i+1])
	}
	return out
}
