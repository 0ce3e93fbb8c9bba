package lp

import (
	"bytes"
	"encoding/json"
)

// object is a JSON object whose members keep their order.
type object []member

type member struct {
	Name  string
	Value any
}

// MarshalJSON writes the members in order.
func (o object) MarshalJSON() ([]byte, error) {
	b := []byte{'{'}
	for i, m := range o {
		if i > 0 {
			b = append(b, ',')
		}
		name, err := text(m.Name)
		if err != nil {
			return nil, err
		}
		value, err := text(m.Value)
		if err != nil {
			return nil, err
		}
		b = append(append(append(b, name...), ':'), value...)
	}
	return append(b, '}'), nil
}

// merge adds the members of other that o has not.
func (o object) merge(other object) object {
	for _, m := range other {
		if !o.has(m.Name) {
			o = append(o, m)
		}
	}
	return o
}

func (o object) has(name string) bool {
	for _, m := range o {
		if m.Name == name {
			return true
		}
	}
	return false
}

// text is JSON without the escapes of package encoding/json for HTML: what is
// signed must be the text that others would write.
func text(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}
