package jsonrpc

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

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

// Says reports whether a text contains one of others.
func Says(text string, any ...string) bool {
	for _, s := range any {
		if strings.Contains(text, s) {
			return true
		}
	}
	return false
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
