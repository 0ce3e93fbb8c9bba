package httpapi

import (
	"encoding/json"
	"fmt"
	"math/big"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// What the library refuses although the reference takes it, as rules on the input
// that are written down here a second time: by field, the id in docs/differences.md.

var (
	integerText   = regexp.MustCompile(`^[+-]?[0-9]{1,128}$`)
	integerNumber = regexp.MustCompile(`^(0|-?[1-9][0-9]*)$`)
	decimalText   = regexp.MustCompile(`^[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)$`)
	hash          = regexp.MustCompile(`^[0-9a-fA-F]{64}$`)
	publicKey     = regexp.MustCompile(`^([0-9a-fA-F]{64}|[0-9a-fA-F]{66}|[0-9a-fA-F]{130})$`)
	feeRate       = regexp.MustCompile(`^(\d+(\.\d+)?|\d+;\d+|\d+,\d+,\d+;v3|\d+,\d+)$`)
)

// given is an input as the standard library reads it, and which members occur twice.
func given(text string) (in map[string]any, twice []string) {
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	if d.Decode(&in) != nil {
		return nil, nil
	}
	d = json.NewDecoder(strings.NewReader(text))
	depth, name, seen := 0, true, map[string]bool{}
	for {
		token, err := d.Token()
		if err != nil {
			return in, twice
		}
		switch token {
		case json.Delim('{'), json.Delim('['):
			depth++
			name = depth == 1
			continue
		case json.Delim('}'), json.Delim(']'):
			depth--
			name = depth == 1
			continue
		}
		if s, ok := token.(string); ok && depth == 1 && name {
			if seen[s] {
				twice = append(twice, s)
			}
			seen[s] = true
			name = false
			continue
		}
		name = depth == 1
	}
}

func ownRefusals(operation, text string) map[string]string {
	rules := map[string]string{}
	in, twice := given(text)
	for _, name := range twice {
		rules[name] = "input-duplicates"
	}
	for name, x := range in {
		if !slices.Contains(fieldNames[operation], name) {
			rules[name] = "input-unknown-fields"
		} else if id := refusedValue(operation, name, x); id != "" {
			rules[name] = id
		} else if s, ok := x.(string); ok && len(s) > longest(name) {
			rules[name] = "input-ranges"
		}
	}
	if list, ok := in["signedTxs"].([]any); ok {
		for i, tx := range list {
			if tx == "" {
				rules["signedTxs["+strconv.Itoa(i)+"]"] = "input-empty"
			}
		}
		if len(list) > 256 {
			rules["signedTxs"] = "input-ranges"
		}
	}
	has := func(name string) bool { return in[name] != nil && in[name] != "" }
	switch {
	case has("bitcoinAddress") && !has("bitcoinPublicKey"):
		rules["bitcoinPublicKey"] = "input-together"
	case has("bitcoinPublicKey") && !has("bitcoinAddress"):
		rules["bitcoinAddress"] = "input-together"
	case has("feeRate") && has("feeMultiplier"):
		rules["feeMultiplier"] = "input-together"
	}
	const usual, most = "lightningPaymentHTLCTimeout", "lightningPaymentMaxHTLCTimeout"
	a, okA := new(big.Rat).SetString(fmt.Sprint(in[usual]))
	b, okB := new(big.Rat).SetString(fmt.Sprint(in[most]))
	if okA && okB && b.Cmp(a) < 0 {
		rules[most] = "input-together"
	}
	return rules
}

// longest is the greatest length of a text.
func longest(name string) int {
	switch name {
	case "srcAddress", "dstAddress", "address", "lnurlWithdraw":
		return 8192
	case "lightningInvoiceDescription":
		return 500
	}
	return 256
}

func refusedValue(operation, name string, x any) string {
	s, isText := x.(string)
	n, isNumber := x.(json.Number)
	if isNumber {
		s = string(n)
	}
	switch name {
	case "amount", "gasAmount":
		if isText && !integerText.MatchString(s) || isNumber && !integerNumber.MatchString(s) {
			return "input-notation"
		}
		least := int64(1)
		if name == "gasAmount" {
			least = 0
		}
		i, ok := new(big.Int).SetString(s, 10)
		if ok && (i.Cmp(big.NewInt(least)) < 0 || i.BitLen() > 256) {
			return "input-ranges"
		}
	case "lightningPaymentHTLCTimeout", "lightningPaymentMaxHTLCTimeout", "bitcoinFeeRate", "minBitcoinFeeRate", "feeMultiplier":
		if (isText || isNumber) && (!decimalText.MatchString(s) || len(s) > 129) {
			return "input-notation"
		}
		if !isText && !isNumber && x != nil && name == "lightningPaymentMaxHTLCTimeout" {
			return "interface-1.0.1"
		}
		f, ok := new(big.Rat).SetString(s)
		switch {
		case !ok:
		case f.Sign() <= 0,
			strings.HasPrefix(name, "lightning") && (!f.IsInt() || f.Cmp(big.NewRat(365*24*3600, 1)) > 0):
			return "input-ranges"
		}
	case "paymentHash", "lightningInvoiceDescriptionHash", "secret":
		if isText && s != "" && !hash.MatchString(s) {
			return "input-hexadecimal"
		}
	case "bitcoinPublicKey":
		if isText && s != "" && !publicKey.MatchString(s) {
			return "input-hexadecimal"
		}
	case "feeRate":
		if isText && s != "" && !feeRate.MatchString(s) {
			return "input-fee-rate"
		}
	case "signedTxs":
		if list, ok := x.([]any); ok && len(list) == 0 {
			return "input-empty"
		}
	case "srcAddress", "signer", "chainId", "targetChain", "lightningInvoiceDescription", "lnurlWithdraw", "bitcoinAddress", "idempotencyKey":
		if name == "signer" && s == "" && strings.HasPrefix(operation, "list") {
			return "input-empty"
		}
	default:
		if isText && s == "" {
			return "input-empty"
		}
	}
	return ""
}

// ownAcceptance is the id of the rule by which the library takes what the reference
// refuses: a fee rate as a JSON number.
func ownAcceptance(operation, text string) string {
	in, twice := given(text)
	n, ok := in["feeRate"].(json.Number)
	if !ok || operation != "getSpendableBalance" || len(twice) > 0 || !decimalText.MatchString(string(n)) || strings.HasPrefix(string(n), "-") {
		return ""
	}
	in["feeRate"] = string(n)
	if in["wallet"] == nil || in["token"] == nil {
		return ""
	}
	rest, err := json.Marshal(in)
	if err != nil || len(ownRefusals(operation, string(rest))) > 0 {
		return ""
	}
	return "input-fee-rate"
}

// ownNotation is the same for an input that is read by a declared schema: numbers
// that are not in plain decimal digits, repeated and unknown members.
func ownNotation(schema orderedSchema, text string) string {
	in, twice := given(text)
	if len(twice) > 0 {
		return "input-duplicates"
	}
	for name, x := range in {
		i := slices.IndexFunc(schema, func(n named) bool { return n.name == name })
		if i < 0 {
			return "input-unknown-fields"
		}
		if id := schema[i].ownNotation(x); id != "" {
			return id
		}
	}
	return ""
}

func (d declared) ownNotation(x any) string {
	switch x := x.(type) {
	case string:
		if d.Type == "bigint" && !integerText.MatchString(x) || d.Type == "number" && (!decimalText.MatchString(x) || len(x) > 129) {
			return "input-notation"
		}
	case json.Number:
		if d.Type == "bigint" && !integerNumber.MatchString(string(x)) || d.Type == "number" && (!decimalText.MatchString(string(x)) || len(x) > 129) {
			return "input-notation"
		}
	case []any:
		for _, item := range x {
			if d.Items != nil {
				if id := d.Items.ownNotation(item); id != "" {
					return id
				}
			}
		}
	case map[string]any:
		if d.Properties != nil {
			if inner, err := json.Marshal(x); err == nil {
				return ownNotation(d.Properties, string(inner))
			}
		}
	}
	return ""
}
