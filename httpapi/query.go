package httpapi

import (
	"net/url"
	"strings"
	"unicode/utf8"

	"github.com/swapper-go/swapper/fault"
)

// Bounds of a query string.
const (
	maxQuery      = 32 << 10
	maxParameters = 64
)

// parseQuery reads a query string as an object of strings. A semicolon is an
// ordinary character, as in the fee rate `1000;500`. A parameter that occurs twice,
// a broken escape and invalid UTF-8 are refused.
func parseQuery(query string) (value, error) {
	v := value{kind: kindObject}
	for query != "" {
		var pair string
		pair, query, _ = strings.Cut(query, "&")
		if pair == "" {
			continue
		}
		name, text, _ := strings.Cut(pair, "=")
		name, err := unescape(name)
		if err != nil {
			return value{}, fault.Invalid("query", "has a parameter name that %s", err.Message)
		}
		if _, twice := find(v.members, name); twice {
			return value{}, fault.Invalid(shown(name), "is given twice")
		}
		if len(v.members) == maxParameters {
			return value{}, fault.Invalid("query", "has more than %d parameters", maxParameters)
		}
		if text, err = unescape(text); err != nil {
			return value{}, fault.Invalid(shown(name), "%s", err.Message)
		}
		v.members = append(v.members, member{name, value{kind: kindString, text: text}})
	}
	return v, nil
}

func unescape(s string) (string, *fault.Error) {
	if strings.ContainsAny(s, "%+") {
		plain, err := url.QueryUnescape(s)
		if err != nil { // its text would repeat the value
			return "", fault.New(fault.InvalidInput, "has an invalid percent escape")
		}
		s = plain
	}
	if !utf8.ValidString(s) {
		return "", fault.New(fault.InvalidInput, "is not valid UTF-8")
	}
	return s, nil
}
