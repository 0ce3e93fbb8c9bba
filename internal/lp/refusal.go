package lp

import (
	"encoding/json"
	"math/big"
)

// CodeNoRoute is the code of a refusal for want of liquidity, or of a way to the
// recipient of a Lightning payment.
const CodeNoRoute = 20002

// Codes of refusals that are about what the caller has asked for.
const (
	CodeTimeTooShort    = 20001 // of a Lightning payout's escrow
	CodeProcessed       = 20010 // the invoice is being paid, or was
	CodeInvoiceExpires  = 20020
	CodeInvoiceUnread   = 20021
	CodeInvoiceNoAmount = 20022
	CodeMaxFee          = 20030 // of routing: a share of the amount
	CodeAddressUnread   = 20031
	CodeAddressTooLong  = 20032
	CodeBadBody         = 20100 // the text names the parameter
	CodeNegativeGas     = 20291
	CodeGasTooHigh      = 20504
)

// Codes by which an LP says that the amount is out of bounds.
const (
	CodeTooLow  = 20003
	CodeTooHigh = 20004
)

// Refusal returns the error that an LP's text stands for: an
// [OutOfBoundsError] if it names the bounds, else a [RequestError] (protocol:
// lp-protocol.md §4.1).
func Refusal(base string, status int, text string) error {
	code, message, data := readRefusal(text)
	e := RequestError{LP: base, Status: status, Code: code, Message: message}
	if code == CodeTooLow || code == CodeTooHigh {
		if min, max, ok := bounds(data); ok {
			return &OutOfBoundsError{RequestError: e, Min: min, Max: max}
		}
	}
	if code == CodeGasTooHigh {
		a := newAnswer(data)
		if most := a.amount("max"); a.err == nil {
			e.Most = most
		}
	}
	return &e
}

// PlainRefusal is [Refusal] where bounds do not count: a status that is not 200
// on a streamed endpoint.
func PlainRefusal(base string, status int, text string) error {
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
