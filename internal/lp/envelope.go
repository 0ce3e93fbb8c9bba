package lp

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// Codes of success: of streamed endpoints, and of quotes of trusted gas swaps.
const (
	codeQuoted  = 20000
	codeTrusted = 10000
)

// Early receives what an LP sends while it still computes a quote (protocol:
// lp-protocol.md §3.2). Each function may be nil, and is called at most once per
// attempt, before the call returns; it must not block.
type Early struct {
	SignData func(json.RawMessage) // data of the chain to sign with, fetched ahead
	NodeKey  func(string)          // the LP's Lightning node, 66 hexadecimal digits if it is honest
}

// Envelope is what a streamed endpoint answers (protocol: lp-protocol.md §3.2).
type Envelope struct {
	code, msg, data json.RawMessage
}

// ReadFrames reads an answer that comes as frames, until it has all that is wanted or
// the answer ends. limit bounds its bytes.
func ReadFrames(r io.Reader, limit int64, early Early) (Envelope, error) {
	f := frames{r: r, left: int(limit)}
	return readEnvelope(f.next, early)
}

// ReadObject reads an answer that is one object.
func ReadObject(text []byte, early Early) (Envelope, error) {
	fields, err := object(text)
	if err != nil {
		return Envelope{}, err
	}
	return readEnvelope(func() (map[string]json.RawMessage, error) {
		next := fields
		if fields = nil; next == nil {
			return nil, io.EOF
		}
		return next, nil
	}, early)
}

// readEnvelope collects the parameters of an answer; of each the first counts.
func readEnvelope(next func() (map[string]json.RawMessage, error), early Early) (Envelope, error) {
	var e Envelope
	seen := map[string]json.RawMessage{}
	for {
		fields, err := next()
		if err == io.EOF || err == io.ErrUnexpectedEOF {
			break // what is missing shows below
		}
		if err != nil {
			return e, err
		}
		for _, name := range []string{"signDataPrefetch", "lnPublicKey", "code", "msg", "data"} {
			value, ok := fields[name]
			if _, before := seen[name]; before || !ok {
				continue
			}
			seen[name] = value
			early.tell(name, value)
		}
		e = Envelope{seen["code"], seen["msg"], seen["data"]}
		if e.code != nil && e.msg != nil && e.data != nil {
			return e, nil // whatever follows says nothing that is wanted
		}
	}
	if e.code == nil || e.msg == nil {
		return e, errors.New("the response ends before code and msg")
	}
	return e, nil
}

func (e Early) tell(name string, value json.RawMessage) {
	switch {
	case name == "signDataPrefetch" && e.SignData != nil && string(value) != "null":
		e.SignData(value)
	case name == "lnPublicKey" && e.NodeKey != nil:
		if key, ok := jsonString(value); ok {
			e.NodeKey(key)
		}
	}
}

// Quoted returns the data of a quote, or the refusal.
func (e Envelope) Quoted(base string) (json.RawMessage, error) { return e.result(base, codeQuoted) }

// result returns the data of a success, or the refusal.
func (e Envelope) result(base string, success int) (json.RawMessage, error) {
	code, ok := jsonNumber(e.code)
	if !ok {
		return nil, &CallError{base, errors.New("code: must be a number")}
	}
	if _, ok := jsonString(e.msg); !ok {
		return nil, &CallError{base, errors.New("msg: must be a string")}
	}
	if code == float64(success) {
		return e.data, nil
	}
	params := []Param{{"code", e.code}, {"msg", e.msg}}
	if e.data != nil {
		params = append(params, Param{"data", e.data})
	}
	return nil, Refusal(base, statusRefused, string(encode(params)))
}

// plainEnvelope reads the answer of an endpoint that does not stream.
func plainEnvelope(text []byte) (Envelope, error) {
	fields, err := object(text)
	return Envelope{fields["code"], fields["msg"], fields["data"]}, err
}

// bad is the refusal of data that lacks a field or has one of the wrong type.
func bad(base string, err error) error {
	return &RequestError{LP: base, Status: statusOK, Message: fmt.Sprintf("the response does not follow the protocol: %v", err)}
}
