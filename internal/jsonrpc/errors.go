package jsonrpc

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/internal/httpx"
)

// maxErrorText bounds what is repeated of a node's own words.
const maxErrorText = 200

// Error is an error that a node answered a call with.
type Error struct {
	Code int
	Text string          // cut
	Data json.RawMessage // what the node adds; may be empty
}

func (e *Error) Error() string { return e.Text }

// Public returns the code alone: the text is the node's, which may repeat an access key.
func (e *Error) Public() string { return fmt.Sprintf("the node returned error %d", e.Code) }

// ErrorCode returns the code.
func (e *Error) ErrorCode() int { return e.Code }

// UnmarshalJSON reads an error object, also those of servers that put a word where
// the code belongs.
func (e *Error) UnmarshalJSON(data []byte) error {
	var raw struct {
		Code    json.RawMessage
		Message json.RawMessage
		Data    json.RawMessage
	}
	if json.Unmarshal(data, &raw) != nil { // an error that is a text
		raw.Message = data
	}
	if json.Unmarshal(raw.Code, &e.Code) != nil {
		e.Code = 0
	}
	if json.Unmarshal(raw.Message, &e.Text) != nil {
		e.Text = string(raw.Message)
	}
	e.Data = raw.Data
	if e.Text = cut(e.Text); e.Text == "" {
		e.Text = fmt.Sprintf("error %d", e.Code)
	}
	return nil
}

// Known returns an error of a node of which callers are shown words of our own; err itself
// if there are none.
func Known(err error, words string) error {
	if words == "" {
		return err
	}
	return &known{err, words}
}

// Reason is what a node said of a refusal, of which callers are shown no more than the first
// of words that it contains.
func Reason(said string, words ...string) error {
	return &known{errors.New(said), cmp.Or(Said(said, words...), fault.Public(errors.New(said)))}
}

type known struct {
	error
	words string
}

// Public returns the words.
func (e *known) Public() string { return e.words }

func (e *known) Unwrap() error { return e.error }

// CodeOf returns the JSON-RPC code of an error, 0 if it has none.
func CodeOf(err error) int {
	if e, ok := errors.AsType[interface {
		error
		ErrorCode() int
	}](err); ok {
		return e.ErrorCode()
	}
	return 0
}

// HasCode reports whether an error has one of the codes.
func HasCode(err error, codes ...int) bool { return slices.Contains(codes, CodeOf(err)) }

// Says reports whether a text contains one of others.
func Says(text string, any ...string) bool { return Said(text, any...) != "" }

// Said returns the first of others that a text contains, "" if it contains none.
func Said(text string, any ...string) string {
	for _, s := range any {
		if strings.Contains(text, s) {
			return s
		}
	}
	return ""
}

func cut(text string) string {
	if len(text) > maxErrorText {
		text = strings.ToValidUTF8(text[:maxErrorText], "")
	}
	return text
}

// brief says in few words what became of an HTTP request.
func brief(err error) error {
	if s, ok := errors.AsType[*httpx.StatusError](err); ok {
		return fmt.Errorf("HTTP status %d", s.Status)
	}
	if text := err.Error(); len(text) > maxErrorText {
		return errors.New(cut(text))
	}
	return err
}
