package httpx

import (
	"bytes"
	"encoding/base64"
	"net/url"
	"slices"
	"strings"
)

// leastKey is the length, in bytes, from which a part of a URL may be an access key.
const leastKey = 8

// Conceal returns what a server wrote with *** in the place of whatever may be an access key
// in the URL that was asked: user and password, also as the header has them, long parts of the path, and values of the query.
// Error pages like to repeat the URL, and logs show them.
func Conceal(text []byte, of string) []byte {
	u, err := url.Parse(of)
	if err != nil {
		return text
	}
	user := u.User.Username()
	password, _ := u.User.Password()
	keys := append(strings.Split(u.EscapedPath(), "/"), user, password, base64.StdEncoding.EncodeToString([]byte(user+":"+password)))
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

// Concealed returns an error about what a server wrote, whose text is what [Conceal] makes of
// err's. Concealed(nil) is nil.
func Concealed(err error, of string) error {
	if err == nil {
		return nil
	}
	return &concealed{err, of}
}

type concealed struct {
	error
	url string
}

func (e *concealed) Error() string { return string(Conceal([]byte(e.error.Error()), e.url)) }

func (e *concealed) Unwrap() error { return e.error }
