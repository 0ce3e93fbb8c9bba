package webhook

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"strconv"
	"strings"
	"time"
)

// secretPrefix begins the text of a secret, so that it is known for one.
const secretPrefix = "whsec_"

// NewSecret returns a new random secret of 32 bytes, as endpoint and receiver are
// configured with it: whsec_ and base64.
func NewSecret() string {
	var key [32]byte
	_, _ = rand.Read(key[:]) // never fails
	return secretPrefix + base64.StdEncoding.EncodeToString(key[:])
}

// errSecret does not repeat what was given.
var errSecret = errors.New("a secret must be whsec_ and the base64 of 24 to 64 bytes")

func parseSecret(s string) ([]byte, error) {
	text, ok := strings.CutPrefix(s, secretPrefix)
	key, err := base64.StdEncoding.Strict().DecodeString(text)
	if !ok || err != nil || len(key) < 24 || len(key) > 64 || base64.StdEncoding.EncodeToString(key) != text {
		return nil, errSecret
	}
	return key, nil
}

// signature is the header of a message: one signature for each key.
func signature(keys [][]byte, id string, at time.Time, body []byte) string {
	var all []string
	for _, key := range keys {
		h := hmac.New(sha256.New, key)
		h.Write([]byte(id + "." + strconv.FormatInt(at.Unix(), 10) + "."))
		h.Write(body)
		all = append(all, "v1,"+base64.StdEncoding.EncodeToString(h.Sum(nil)))
	}
	return strings.Join(all, " ")
}
