package lp

import (
	"encoding/json"
	"math/big"
)

// Codes by which an LP says that the amount is out of bounds.
const (
	codeTooLow  = 20003
	codeTooHigh = 20004
)

// refusal returns the error that an LP's text stands for: an
// [OutOfBoundsError] if it names the bounds, else a [RequestError] (protocol:
// lp-protocol.md §4.1).
func refusal(base string, status int, text string) error {
	code, message, data := readRefusal(text)
	e := RequestError{LP: base, Status: status, Code: code, Message: message}
	if code == codeTooLow || code == codeTooHigh {
		if min, max, ok := bounds(data); ok {
			return &OutOfBoundsError{RequestError: e, Min: min, Max: max}
		}
	}
	if code == codeGasTooHigh {
		a := newAnswer(data)
		if most := a.amount("max"); a.err == nil {
			e.Most = most
		}
	}
	return &e
}

// plainRefusal is [refusal] where bounds do not count: a status that is not 200
// on a streamed endpoint.
func plainRefusal(base string, status int, text string) error {
	code, message, _ := readRefusal(text)
	return &RequestError{LP: base, Status: status, Code: code, Message: message}
}

func readRefusal(text string) (code int, message string, data json.RawMessage) {
	fields, err := object([]byte(text))
	if err != nil {
		return 0, words(text), nil
	}
	if v, ok := jsonNumber(fields["code"]); ok && v == float64(int(v)) {
		code = int(v)
	}
	return code, words(messageOf(fields, text)), fields["data"]
}

// messageOf returns the message of a refusal, unwrapped once if it is itself the
// JSON of a refusal, and the whole text if there is none, so that no information
// is lost.
func messageOf(fields map[string]json.RawMessage, text string) string {
	raw, ok := fields["msg"]
	if !ok || string(raw) == "null" {
		return text
	}
	message, ok := jsonString(raw)
	if !ok {
		return string(raw)
	}
	if inner, err := object([]byte(message)); err == nil {
		if s, ok := jsonString(inner["msg"]); ok {
			return s
		}
	}
	return message
}

// bounds reads the bounds of a refusal: both whole and not negative.
func bounds(data json.RawMessage) (min, max *big.Int, ok bool) {
	a := newAnswer(data)
	min, max = a.amount("min"), a.amount("max")
	return min, max, a.err == nil
}
