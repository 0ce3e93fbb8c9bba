package address

import (
	"net/url"
	"regexp"
	"strings"

	"github.com/btcsuite/btcd/btcutil/bech32"

	evmwire "github.com/swapper-go/swapper/internal/evm/wire"
)

// The rules by which our answers differ from the reference's where a vector has
// no better answer of its own. They are written down here once more, on the text
// alone, so that a test does not take the parser's word for it.

var (
	strictAmount = regexp.MustCompile(`^[0-9]+(\.[0-9]{1,8})?$`)
	zeroAddress  = regexp.MustCompile(`^(0[xX](0{40}|0{64})|1{32})$`)
	invoice      = regexp.MustCompile(`(?i)^(lightning:(//)?)?\s*ln(bc|tb|tbs|bcrt|sb)[0-9]`)
	schemes      = regexp.MustCompile(`(?i)^(bitcoin|lightning):`)
)

// withoutZeros is an address of Starknet whose leading zeros are missing, which the reference takes where
// the chain is named and refuses where an address says whose it is.
var withoutZeros = regexp.MustCompile(`^0[xX][0-9a-fA-F]{56,63}$`)

// refusedByRule returns the difference by which a text must be refused.
func refusedByRule(text string) (id string, ok bool) {
	text = trim(text)
	_, query, found := strings.Cut(text, "?")
	if found && !strings.Contains(strings.ToLower(text), "lnurl") && !invoice.MatchString(text) {
		amounts := 0
		for param := range strings.SplitSeq(query, "&") {
			key, value, _ := strings.Cut(param, "=")
			value, err := url.PathUnescape(value)
			switch key = strings.ToLower(key); {
			case strings.HasPrefix(key, "req-"):
				return "bip21-required", true
			case key == "amount":
				amounts++
				if err != nil || !strictAmount.MatchString(value) || tooMuch(value) || amounts > 1 {
					return "bip21-amount", true
				}
			}
		}
	}
	if zeroAddress.MatchString(schemes.ReplaceAllString(text, "")) {
		return "address-zero", true
	}
	if refusedByZpay32(schemes.ReplaceAllString(text, "")) {
		return "bolt11-zpay32", true
	}
	return "", false
}

var zeroPico = regexp.MustCompile(`^ln(bcrt|tbs|bc|tb|sb)0+p$`)

// refusedByZpay32 reports whether a text is an invoice of a form that BOLT11
// forbids: an amount of 0p, or other than one description.
func refusedByZpay32(text string) bool {
	text, _, _ = strings.Cut(text, "?")
	hrp, words, err := bech32.DecodeNoLimit(text)
	const timestamp, signature, description, descriptionHash = 7, 104, 13, 23
	if err != nil || !strings.HasPrefix(hrp, "ln") || len(words) < timestamp+signature {
		return false
	}
	described, hashed := 0, 0
	for words = words[timestamp : len(words)-signature]; len(words) >= 3; {
		tag, n := words[0], min(int(words[1])*32+int(words[2]), len(words)-3)
		switch {
		case tag == description:
			described = 1
		case tag == descriptionHash && n == 52:
			hashed = 1
		}
		words = words[3+n:]
	}
	return zeroPico.MatchString(hrp) || described+hashed != 1
}

// onlyLength reports whether a text is an EVM address to the reference, because
// it has as many characters, but not by its form.
func onlyLength(text string) bool {
	_, err := evmwire.Address(text)
	return len(text) == 42 && err != nil
}

func tooMuch(btc string) bool {
	whole, frac, _ := strings.Cut(btc, ".")
	whole = strings.TrimLeft(whole, "0")
	return len(whole) > 8 || len(whole) == 8 && (whole > "21000000" || whole == "21000000" && strings.Trim(frac, "0") != "")
}

// plainly returns the text as the reference would have accepted it, where we
// only accept more spellings of it: blanks around it, schemes and keys in any
// case, slashes, other parameters that cannot be decoded, any behind an invoice.
func plainly(text string) string {
	text = trim(text)
	if at := schemes.FindStringIndex(text); at != nil {
		text = strings.ToLower(text[:at[1]]) + trim(strings.TrimPrefix(text[at[1]:], "//"))
	}
	base, query, found := strings.Cut(text, "?")
	if !found || invoice.MatchString(text) {
		return base
	}
	var params []string
	for param := range strings.SplitSeq(query, "&") {
		key, value, _ := strings.Cut(param, "=")
		if _, err := url.PathUnescape(value); err == nil {
			params = append(params, strings.ToLower(key)+"="+value)
		}
	}
	return base + "?" + strings.Join(params, "&")
}
