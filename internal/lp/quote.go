package lp

import (
	"encoding/json"
	"fmt"
	"math/big"

	"github.com/swapper-go/swapper/chains"
)

// Call is a call for a quote, whose answer is a T.
type Call[T any] struct {
	Path string // below the LP's base URL, with the query
	Body Body   // of a POST; empty where the endpoint is read by GET
	read func(*answer) T
}

// Read decodes the data of an answer.
func (c Call[T]) Read(base string, data json.RawMessage) (T, error) {
	v, err := c.decode(data)
	if err != nil {
		return v, bad(base, err)
	}
	return v, nil
}

// ReadPlain decodes the answer of an endpoint that does not stream.
func (c Call[T]) ReadPlain(base string, text []byte) (T, error) {
	var zero T
	e, err := plainEnvelope(text)
	if err != nil {
		return zero, &CallError{base, err}
	}
	data, err := e.result(base, codeTrusted)
	if err != nil {
		return zero, err
	}
	v, err := c.decode(data)
	if err != nil {
		return zero, &CallError{base, fmt.Errorf("the response does not follow the protocol: %w", err)}
	}
	return v, nil
}

func (c Call[T]) decode(data json.RawMessage) (T, error) {
	a := newAnswer(data)
	v := c.read(a)
	if a.err != nil {
		var zero T
		return zero, a.err
	}
	return v, nil
}

// auth reads the authorisation that stands beside an escrow.
func (a *answer) auth() chains.Auth {
	return chains.Auth{Prefix: a.str("prefix"), Timeout: a.unix("timeout"), Signature: a.str("signature")}
}

// escrow reads the chain's own JSON, of which only the chain knows the form.
func (a *answer) escrow(name string) json.RawMessage {
	if raw := a.any(name); len(raw) > 0 && raw[0] == '{' {
		return raw
	}
	a.fail(name, "an object")
	return nil
}

func unlessEmpty(s string) any {
	if s == "" {
		return nil
	}
	return s
}

func unlessNil(v *big.Int) any {
	if v == nil {
		return nil
	}
	return v.String()
}
