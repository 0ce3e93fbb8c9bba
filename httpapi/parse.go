package httpapi

import (
	"strconv"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/swapper-go/swapper/fault"
)

// Bounds of a JSON body beside its size. An operation's input needs neither depth
// nor many values; what is far beyond only costs memory.
const (
	maxDepth  = 32
	maxValues = 4096
)

// kind is a JSON type.
type kind uint8

const (
	kindNull kind = iota
	kindBool
	kindNumber
	kindString
	kindArray
	kindObject
)

func (k kind) String() string {
	return [...]string{"null", "a boolean", "a number", "a string", "an array", "an object"}[k]
}

// value is an input value as it arrived: nothing is converted yet. A number is
// its text, so that no digit is lost.
type value struct {
	kind    kind
	truth   bool
	text    string
	items   []value
	members []member
}

// member is a member of an object, or a query parameter.
type member struct {
	name  string
	value value
}

// parseJSON reads one JSON value (RFC 8259), and nothing after it. Beyond the
// standard it refuses invalid UTF-8, halves of surrogate pairs, members that occur
// twice, and what exceeds the bounds above.
func parseJSON(text []byte) (value, error) {
	if !utf8.Valid(text) {
		return value{}, badBody("is not valid UTF-8")
	}
	p := parser{text: string(text)}
	p.space()
	v, err := p.value("", 1)
	if err != nil {
		return value{}, err
	}
	p.space()
	if p.at < len(p.text) {
		return value{}, p.unexpected("the end of the text")
	}
	return v, nil
}

func badBody(format string, args ...any) *fault.Error {
	return fault.Invalid("body", format, args...)
}

type parser struct {
	text   string
	at     int
	values int
}

func (p *parser) unexpected(wanted string) error {
	if p.at >= len(p.text) {
		return badBody("is not valid JSON: unexpected end, expected %s", wanted)
	}
	return badBody("is not valid JSON: expected %s at byte %d", wanted, p.at)
}

func (p *parser) space() {
	for p.at < len(p.text) {
		switch p.text[p.at] {
		case ' ', '\t', '\r', '\n':
			p.at++
		default:
			return
		}
	}
}

// peek returns the next byte, 0 at the end; 0 begins nothing in JSON.
func (p *parser) peek() byte {
	if p.at < len(p.text) {
		return p.text[p.at]
	}
	return 0
}

// take skips c if it comes next.
func (p *parser) take(c byte) bool {
	if p.peek() == c {
		p.at++
		return true
	}
	return false
}

func (p *parser) value(path string, depth int) (value, error) {
	p.values++
	switch {
	case depth > maxDepth:
		return value{}, badBody("is nested deeper than %d levels", maxDepth)
	case p.values > maxValues:
		return value{}, badBody("has more than %d values", maxValues)
	}
	switch c := p.peek(); {
	case c == '{':
		return p.object(path, depth)
	case c == '[':
		return p.array(path, depth)
	case c == '"':
		s, err := p.str()
		return value{kind: kindString, text: s}, err
	case c == '-' || isDigit(c):
		return p.number()
	case c == 't':
		return value{kind: kindBool, truth: true}, p.word("true")
	case c == 'f':
		return value{kind: kindBool}, p.word("false")
	case c == 'n':
		return value{kind: kindNull}, p.word("null")
	}
	return value{}, p.unexpected("a value")
}

func (p *parser) word(w string) error {
	if len(p.text)-p.at < len(w) || p.text[p.at:p.at+len(w)] != w {
		return p.unexpected("a value")
	}
	p.at += len(w)
	return nil
}

func (p *parser) object(path string, depth int) (value, error) {
	v := value{kind: kindObject}
	p.at++
	if p.space(); p.take('}') {
		return v, nil
	}
	for {
		p.space()
		if p.peek() != '"' {
			return value{}, p.unexpected("a member name")
		}
		name, err := p.str()
		if err != nil {
			return value{}, err
		}
		inside := join(path, name)
		if _, twice := find(v.members, name); twice {
			return value{}, fault.Invalid(shown(inside), "is given twice")
		}
		if p.space(); !p.take(':') {
			return value{}, p.unexpected("a colon")
		}
		p.space()
		m, err := p.value(inside, depth+1)
		if err != nil {
			return value{}, err
		}
		v.members = append(v.members, member{name, m})
		if p.space(); p.take('}') {
			return v, nil
		}
		if !p.take(',') {
			return value{}, p.unexpected("a comma or closing brace")
		}
	}
}

func (p *parser) array(path string, depth int) (value, error) {
	v := value{kind: kindArray}
	p.at++
	if p.space(); p.take(']') {
		return v, nil
	}
	for {
		p.space()
		item, err := p.value(path, depth+1)
		if err != nil {
			return value{}, err
		}
		v.items = append(v.items, item)
		if p.space(); p.take(']') {
			return v, nil
		}
		if !p.take(',') {
			return value{}, p.unexpected("a comma or closing bracket")
		}
	}
}

func (p *parser) number() (value, error) {
	start := p.at
	p.take('-')
	if !p.take('0') && !p.digits() {
		return value{}, p.unexpected("a digit")
	}
	if p.take('.') && !p.digits() {
		return value{}, p.unexpected("a digit")
	}
	if p.take('e') || p.take('E') {
		if !p.take('+') {
			p.take('-')
		}
		if !p.digits() {
			return value{}, p.unexpected("a digit")
		}
	}
	return value{kind: kindNumber, text: p.text[start:p.at]}, nil
}

// digits skips digits and reports whether there were any.
func (p *parser) digits() bool {
	start := p.at
	for isDigit(p.peek()) {
		p.at++
	}
	return p.at > start
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

// str reads a string; the opening quote is next.
func (p *parser) str() (string, error) {
	p.at++
	start := p.at
	for p.at < len(p.text) {
		switch c := p.text[p.at]; {
		case c == '"':
			p.at++
			return p.text[start : p.at-1], nil
		case c == '\\':
			return p.escaped([]byte(p.text[start:p.at]))
		case c < ' ':
			return "", p.unexpected("a printable character")
		}
		p.at++
	}
	return "", p.unexpected("a closing quote")
}

// escaped reads the rest of a string from its first backslash on.
func (p *parser) escaped(s []byte) (string, error) {
	for p.at < len(p.text) {
		c := p.text[p.at]
		switch {
		case c == '"':
			p.at++
			return string(s), nil
		case c < ' ':
			return "", p.unexpected("a printable character")
		case c != '\\':
			p.at++
			s = append(s, c)
			continue
		}
		p.at++
		c = p.peek()
		switch c {
		case '"', '\\', '/':
		case 'b':
			c = '\b'
		case 'f':
			c = '\f'
		case 'n':
			c = '\n'
		case 'r':
			c = '\r'
		case 't':
			c = '\t'
		case 'u':
			r, ok := p.codePoint()
			if !ok {
				return "", p.unexpected("a valid \\u escape")
			}
			s = utf8.AppendRune(s, r)
			continue
		default:
			return "", p.unexpected("a valid escape")
		}
		p.at++
		s = append(s, c)
	}
	return "", p.unexpected("a closing quote")
}

// codePoint reads `uXXXX`, or two of them for a surrogate pair.
func (p *parser) codePoint() (rune, bool) {
	r, ok := p.codeUnit()
	if !ok || !utf16.IsSurrogate(r) {
		return r, ok
	}
	if !p.take('\\') {
		return 0, false
	}
	low, ok := p.codeUnit()
	r = utf16.DecodeRune(r, low)
	return r, ok && r != utf8.RuneError
}

func (p *parser) codeUnit() (rune, bool) {
	if p.peek() != 'u' || len(p.text)-p.at < 5 {
		return 0, false
	}
	n, err := strconv.ParseUint(p.text[p.at+1:p.at+5], 16, 16)
	if err != nil {
		return 0, false
	}
	p.at += 5
	return rune(n), true
}
