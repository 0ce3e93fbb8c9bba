package swapper

import (
	"bytes"
	"encoding/json"
)

// List is a slice that is an array in JSON even when it is nil, because the
// schemas know no null lists. Any []T can be assigned to it.
type List[T any] []T

// MarshalJSON implements [json.Marshaler].
func (l List[T]) MarshalJSON() ([]byte, error) {
	if l == nil {
		return []byte("[]"), nil
	}
	return marshal([]T(l))
}

// marshal is json.Marshal without the escaping of &, < and >, which links and
// URIs are full of.
func marshal(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimRight(b.Bytes(), "\n"), nil
}
