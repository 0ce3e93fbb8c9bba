package wire

import (
	"encoding/json"
	"fmt"
	"strings"
)

// maxReason bounds what is told of why a transaction reverted.
const maxReason = 300

// RevertReason reads why a call or a transaction reverted, as nodes say it: a text, or
// since version 0.8 of their interface an object for each contract on the way, the
// innermost of which says it. Felts that are text are shown as it. It fails on nothing:
// what it does not know comes out as it is.
func RevertReason(raw json.RawMessage) string {
	var of struct {
		RevertError json.RawMessage `json:"revert_error"`
	}
	if json.Unmarshal(raw, &of) == nil && len(of.RevertError) > 0 {
		raw = of.RevertError
	}
	for range maxTraceDepth {
		var text string
		if json.Unmarshal(raw, &text) == nil {
			return readable(text)
		}
		var nested struct{ Error json.RawMessage }
		if json.Unmarshal(raw, &nested) != nil || len(nested.Error) == 0 {
			break
		}
		raw = nested.Error
	}
	return readable(fmt.Sprintf("%.*s", maxReason, raw))
}

// readable shows felts that are text as it, and cuts a reason to a length that fits an
// error: its end, where the innermost contract speaks.
func readable(reason string) string {
	if len(reason) > 64*maxReason {
		reason = reason[len(reason)-64*maxReason:]
	}
	var b strings.Builder
	for rest := reason; rest != ""; {
		at := strings.Index(rest, "0x")
		if at < 0 {
			b.WriteString(rest)
			break
		}
		end := at + 2
		for end < len(rest) && nibble(rest[end]) <= 15 {
			end++
		}
		b.WriteString(rest[:at])
		b.WriteString(shortText(rest[at:end]))
		rest = rest[end:]
	}
	text := strings.Map(func(c rune) rune {
		if c < 0x20 || c == 0x7f || c == '\ufffd' {
			return ' '
		}
		return c
	}, b.String())
	if len(text) > maxReason {
		return "..." + strings.ToValidUTF8(text[len(text)-maxReason:], "")
	}
	return text
}

// shortText returns the text in a felt, or the felt itself if it holds anything but
// printable ASCII. Fewer than three characters are taken for a number.
func shortText(hex string) string {
	f, err := ParseFelt(hex)
	if err != nil {
		return hex
	}
	b := Number(f).Bytes()
	if len(b) < 3 || len(b) > chunk {
		return hex
	}
	for _, c := range b {
		if c < 0x20 || c > 0x7e {
			return hex
		}
	}
	return "'" + string(b) + "'"
}
