package httpapi

import (
	"math/big"
	"strconv"
	"strings"
	"time"

	"github.com/swapper-go/swapper/fault"
)

// maxNumber bounds the text of a number; 2^256-1 has 78 digits.
const maxNumber = 128

// maxSafe is the largest JSON number that every JSON reader keeps exactly.
const maxSafe = 1<<53 - 1

// The functions below convert an input value to what a field holds. Their errors
// name the path. They never repeat the value: it may be a secret, or long.

func wrongKind(path, wanted string, v value) error {
	return fault.Invalid(path, "must be %s, not %s", wanted, v.kind)
}

func toText(path string, v value) (string, error) {
	if v.kind != kindString {
		return "", wrongKind(path, "a string", v)
	}
	return v.text, nil
}

// toBigInt takes a string that matches `^[+-]?\d+$`, or a JSON number without
// fraction and exponent of at most 2^53-1 (protocol: utilities.md §3).
func toBigInt(path string, v value) (*big.Int, error) {
	text := v.text
	switch v.kind {
	case kindString:
		if text != "" && (text[0] == '+' || text[0] == '-') {
			text = text[1:]
		}
	case kindNumber:
		if text == "-0" {
			return nil, fault.Invalid(path, "must be an integer; -0 is not accepted")
		}
		text = strings.TrimPrefix(text, "-")
	default:
		return nil, wrongKind(path, "an integer", v)
	}
	if len(text) > maxNumber {
		return nil, fault.Invalid(path, "must be an integer of at most %d digits", maxNumber)
	}
	if !allDigits(text) {
		return nil, fault.Invalid(path, "must be an integer written in decimal digits")
	}
	n, ok := new(big.Int).SetString(v.text, 10)
	if !ok {
		return nil, fault.Invalid(path, "must be an integer written in decimal digits")
	}
	if v.kind == kindNumber && n.CmpAbs(big.NewInt(maxSafe)) > 0 {
		return nil, fault.Invalid(path, "must be given as a string: JSON numbers above 2^53-1 lose digits")
	}
	return n, nil
}

// toDecimal takes a number in decimal notation, as a JSON number or a string,
// and returns its text.
func toDecimal(path string, v value) (string, error) {
	if v.kind != kindNumber && v.kind != kindString {
		return "", wrongKind(path, "a number", v)
	}
	text := v.text
	if text != "" && (text[0] == '+' || text[0] == '-') {
		text = text[1:]
	}
	whole, fraction, _ := strings.Cut(text, ".")
	switch {
	case len(text) > maxNumber:
		return "", fault.Invalid(path, "must be a number of at most %d digits", maxNumber)
	case whole+fraction == "", whole != "" && !allDigits(whole), fraction != "" && !allDigits(fraction):
		return "", fault.Invalid(path, "must be a number in decimal notation, without an exponent")
	}
	return v.text, nil
}

func toNumber(path string, v value) (float64, error) {
	text, err := toDecimal(path, v)
	if err != nil {
		return 0, err
	}
	f, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return 0, fault.Invalid(path, "must be a number in decimal notation, without an exponent")
	}
	if f == 0 {
		return 0, nil // without the sign that zero may have
	}
	return f, nil
}

// toSeconds takes a number of whole seconds that a duration can hold.
func toSeconds(path string, v value) (time.Duration, error) {
	text, err := toDecimal(path, v)
	if err != nil {
		return 0, err
	}
	whole, fraction, _ := strings.Cut(text, ".")
	if strings.Trim(fraction, "0") != "" {
		return 0, fault.Invalid(path, "must be a whole number of seconds")
	}
	if strings.Trim(whole, "+-") == "" {
		whole = "0"
	}
	n, err := strconv.ParseInt(whole, 10, 64)
	const most = int64(1<<63-1) / int64(time.Second)
	if err != nil || n > most || n < -most {
		return 0, fault.Invalid(path, "is out of range")
	}
	return time.Duration(n) * time.Second, nil
}

// toFeeRate takes a fee rate in any chain's form: a string, or a JSON number for Bitcoin.
func toFeeRate(path string, v value) (string, error) {
	if v.kind == kindNumber {
		return toDecimal(path, v)
	}
	return toText(path, v)
}

func toBool(path string, v value) (bool, error) {
	switch {
	case v.kind == kindBool:
		return v.truth, nil
	case v.kind == kindString && v.text == "true":
		return true, nil
	case v.kind == kindString && v.text == "false":
		return false, nil
	case v.kind == kindString:
		return false, fault.Invalid(path, "must be true or false")
	}
	return false, wrongKind(path, "true or false", v)
}

func toList[T any](path string, v value, item func(string, value) (T, error)) ([]T, error) {
	if v.kind != kindArray {
		return nil, wrongKind(path, "an array", v)
	}
	list := make([]T, len(v.items))
	for i, it := range v.items {
		var err error
		if list[i], err = item(path+"["+strconv.Itoa(i)+"]", it); err != nil {
			return nil, err
		}
	}
	return list, nil
}

func allDigits(s string) bool {
	for i := range len(s) {
		if !isDigit(s[i]) {
			return false
		}
	}
	return s != ""
}
