package httpx

import (
	"bytes"
	"net/url"
	"slices"
	"strings"
)

// leastKey is the length, in bytes, from which a part of a URL may be an access key.
const leastKey = 8

// Conceal returns what a server wrote with *** in the place of whatever may be an access key
// in the URL that was asked: user, password, long parts of the path, and values of the query.
// Error pages like to repeat the URL, and logs show them.
func Conceal(text []byte, of string) []byte {
	u, err := url.Parse(of)
	if err != nil {
		return text
	}
	password, _ := u.User.Password()
	keys := append(strings.Split(u.EscapedPath(), "/"), u.User.Username(), password)
	keys = append(keys, strings.Split(u.Path, "/")...)
	for _, values := range u.Query() {
		for _, v := range values {
			keys = append(keys, v, url.QueryEscape(v))
		}
	}
	slices.SortFunc(keys, func(a, b string) int { return len(b) - len(a) }) // one may be a part of another
	for _, k := range keys {
		if len(k) >= leastKey {
			text = bytes.ReplaceAll(text, []byte(k), []byte("***"))
		}
	}
	return text
}
