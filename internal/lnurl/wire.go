package lnurl

import (
	"encoding/json"
	"strconv"
	"strings"
)

// wireOf reads the named members of an answer into one of go-lnurl's types.
// Members of another kind than the type's are left out, so that what is optional
// and not understood does not spoil the rest; whether what is required is there
// is for the caller to check.
func wireOf[T any](o object, texts, integers []string) (T, error) {
	sound := object{}
	for _, name := range texts {
		if _, ok := o.text(name); ok {
			sound[name] = o[name]
		}
	}
	for _, name := range integers {
		if v, ok := o.integer(name); ok {
			sound[name] = strconv.AppendInt(nil, v, 10)
		}
	}
	var wire T
	raw, err := json.Marshal(sound)
	if err != nil {
		return wire, err
	}
	return wire, json.Unmarshal(raw, &wire)
}

// bounds demands that both bounds of an amount are integers.
func (o object) bounds(host string, names ...string) error {
	for _, name := range names {
		if _, ok := o.integer(name); !ok {
			return wrong(host, "sent no valid %s", name)
		}
	}
	return nil
}

// integer returns a member that is a JSON number without fraction and fits int64.
func (o object) integer(name string) (int64, bool) {
	text := string(o[name])
	if whole, zeros, ok := strings.Cut(text, "."); ok && zeros != "" && strings.Trim(zeros, "0") == "" {
		text = whole
	}
	v, err := strconv.ParseInt(text, 10, 64)
	return v, err == nil
}
