package lnurl

import (
	"errors"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	golnurl "github.com/fiatjaf/go-lnurl"
)

// Encode returns the bech32 form of a service's URL, in lower case.
func Encode(url string) (string, error) {
	text, err := golnurl.LNURLEncode(url)
	if err != nil {
		return "", fmt.Errorf("encode LNURL: %w", err)
	}
	return strings.ToLower(text), nil
}

// decode returns the URL in a bech32 LNURL, which must not mix cases. The URL
// is checked only for being valid UTF-8.
func decode(text string) (url string, err error) {
	for _, r := range text {
		if r > unicode.MaxASCII { // some letters of other alphabets have ASCII letters as their lower case
			return "", errors.New("LNURL contains characters other than letters and digits")
		}
	}
	lower := strings.ToLower(text)
	switch {
	case !strings.HasPrefix(lower, "lnurl1"): // go-lnurl takes other forms too, which [Parse] reads
		return "", errors.New("not a bech32 LNURL: it must begin with lnurl1")
	case text != lower && text != strings.ToUpper(text): // go-lnurl does not mind
		return "", errors.New("LNURL mixes upper and lower case, so it is damaged")
	}
	url, err = golnurl.LNURLDecode(lower)
	if err != nil {
		return "", fmt.Errorf("invalid LNURL: %w", shortened(err))
	}
	if !utf8.ValidString(url) {
		return "", errors.New("LNURL contains a web address that is not valid UTF-8")
	}
	return url, nil
}

// shortened drops what the decoder would have expected in place of a wrong
// checksum: a person can only make a damaged link look good with it.
func shortened(err error) error {
	if strings.Contains(err.Error(), "checksum") {
		return errors.New("checksum mismatch: a character is wrong or missing")
	}
	return err
}
