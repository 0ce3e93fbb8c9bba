package lnurl

import (
	"crypto/aes"
	"crypto/cipher"
	"encoding/base64"
	"encoding/json"
	"errors"
	"net/url"
	"slices"
	"strings"
	"unicode/utf8"

	golnurl "github.com/fiatjaf/go-lnurl"

	"github.com/swapper-go/swapper/internal/httpx"
)

// SuccessAction is what an LNURL-pay service wants displayed once it was paid:
// Tag is message, url or aes; Ciphertext and IV of an aes action are base64.
// Its JSON is that of the service, reduced to the fields that the action needs;
// unmarshalling validates it as [parseSuccessAction] does (protocol:
// utilities.md §8).
type SuccessAction golnurl.SuccessAction

// MarshalJSON implements [json.Marshaler].
func (a SuccessAction) MarshalJSON() ([]byte, error) {
	o := map[string]string{"tag": a.Tag}
	switch a.Tag {
	case "message":
		o["message"] = a.Message
	case "url":
		o["description"], o["url"] = a.Description, a.URL
	case "aes":
		o["description"], o["ciphertext"], o["iv"] = a.Description, a.Ciphertext, a.IV
	}
	return json.Marshal(o)
}

// UnmarshalJSON implements [json.Unmarshaler].
func (a *SuccessAction) UnmarshalJSON(raw []byte) error {
	parsed, err := parseSuccessAction(raw)
	if err != nil {
		return err
	}
	*a = *parsed
	return nil
}

// DecodedAction is a success action ready for display.
type DecodedAction struct {
	Description string  `json:"description"`
	Text        *string `json:"text,omitempty"` // decrypted text of an aes action
	URL         *string `json:"url,omitempty"`  // https, or http of an onion host
}

const (
	maxActionText = 144 // UTF-16 units
	maxCiphertext = 4096
)

var errAction = errors.New("not a valid success action")

// parseSuccessAction reads and validates a success action. Anything else,
// including null and no input, is an error.
func parseSuccessAction(raw json.RawMessage) (*SuccessAction, error) {
	var o object
	if json.Unmarshal(raw, &o) != nil || !utf8.Valid(raw) {
		return nil, errAction
	}
	a := &SuccessAction{}
	var ok bool
	a.Tag, _ = o.text("tag")
	switch a.Tag {
	case "message":
		if a.Message, ok = o.text("message"); !ok || utf16Length(a.Message) > maxActionText {
			return nil, errAction
		}
		return a, nil
	case "url", "aes":
		if a.Description, ok = o.text("description"); !ok || utf16Length(a.Description) > maxActionText {
			return nil, errAction
		}
	default:
		return nil, errAction
	}
	if a.Tag == "url" {
		a.URL, _ = o.text("url")
		if err := checkActionURL(a.URL); err != nil {
			return nil, err
		}
		return a, nil
	}
	a.Ciphertext, _ = o.text("ciphertext")
	a.IV, _ = o.text("iv")
	iv, err := decodeBase64(a.IV)
	if err != nil || len(iv) != aes.BlockSize {
		return nil, errAction
	}
	if b, err := decodeBase64(a.Ciphertext); err != nil || len(b) == 0 || len(a.Ciphertext) > maxCiphertext {
		return nil, errAction
	}
	return a, nil
}

// Decode returns what to display. It returns nil if the preimage does not have
// 32 bytes, or if the action cannot be decrypted with it: a bad action never
// makes anything else fail.
func (a *SuccessAction) Decode(preimage []byte) *DecodedAction {
	if a == nil || len(preimage) != 32 {
		return nil
	}
	switch a.Tag {
	case "message":
		return &DecodedAction{Description: a.Message}
	case "url":
		address := a.URL
		return &DecodedAction{Description: a.Description, URL: &address}
	case "aes":
		if text, err := a.decipher(preimage); err == nil {
			return &DecodedAction{Description: a.Description, Text: &text}
		}
	}
	return nil
}

// onHost reports whether the action may come from a service with this callback:
// LUD-09 binds web addresses to the callback's host.
func (a *SuccessAction) onHost(callback *url.URL) bool {
	if a.Tag != "url" {
		return true
	}
	u, err := url.Parse(a.URL)
	return err == nil && strings.EqualFold(u.Hostname(), callback.Hostname())
}

// checkActionURL accepts what a person may be sent to with one click.
func checkActionURL(text string) error {
	u, err := url.Parse(text)
	if err != nil || u.Hostname() == "" || u.User != nil || u.Scheme != "https" && !(u.Scheme == "http" && httpx.IsOnion(u.Hostname())) {
		return errAction
	}
	return nil
}

// decipher reads an aes action as LUD-10 says: AES-256-CBC with PKCS#7 padding.
// go-lnurl trusts lengths and padding, so they are checked before it is called.
func (a *SuccessAction) decipher(key []byte) (string, error) {
	iv, err := decodeBase64(a.IV)
	if err != nil {
		return "", err
	}
	sealed, err := decodeBase64(a.Ciphertext)
	if err != nil {
		return "", err
	}
	if len(iv) != aes.BlockSize || len(sealed) == 0 || len(sealed)%aes.BlockSize != 0 {
		return "", errAction
	}
	block, err := aes.NewCipher(key)
	if err != nil {
		return "", err
	}
	if !padded(block, iv, sealed) {
		return "", errAction
	}
	text, err := (*golnurl.SuccessAction)(a).Decipher(key)
	if err != nil || !utf8.ValidString(text) {
		return "", errAction
	}
	return text, nil
}

// padded reports whether the last block ends in a PKCS#7 padding.
func padded(block cipher.Block, iv, sealed []byte) bool {
	before := iv // the block that the last one is chained to
	if n := len(sealed); n > aes.BlockSize {
		before = sealed[n-2*aes.BlockSize : n-aes.BlockSize]
	}
	last := make([]byte, aes.BlockSize)
	cipher.NewCBCDecrypter(block, before).CryptBlocks(last, sealed[len(sealed)-aes.BlockSize:])
	pad := int(last[aes.BlockSize-1])
	if pad == 0 || pad > aes.BlockSize {
		return false
	}
	return !slices.ContainsFunc(last[aes.BlockSize-pad:], func(b byte) bool { return int(b) != pad })
}

// decodeBase64 refuses the line breaks that the standard decoder skips.
func decodeBase64(s string) ([]byte, error) {
	if strings.ContainsAny(s, "\r\n") {
		return nil, errAction
	}
	return base64.StdEncoding.DecodeString(s)
}
