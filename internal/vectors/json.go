package vectors

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// SameJSON fails the test unless got, marshalled, is the same JSON value as
// want. Order of members and white space do not matter; 1, 1.0 and "1" are
// three values.
func SameJSON(t *testing.T, want json.RawMessage, got any) {
	t.Helper()
	text, err := json.Marshal(got)
	if err != nil {
		t.Fatalf("marshal the answer: %v", err)
	}
	if diff := cmp.Diff(neutral(t, want), neutral(t, text)); diff != "" {
		t.Errorf("answer differs (-want +got):\n%s", diff)
	}
}

// Without returns an object without some of its members: those that the project has no
// use for, which internal/vectors/unwatched.md names.
func Without(t *testing.T, object json.RawMessage, members ...string) json.RawMessage {
	t.Helper()
	var m map[string]json.RawMessage
	if err := json.Unmarshal(object, &m); err != nil {
		t.Fatal(err)
	}
	for _, name := range members {
		if _, ok := m[name]; !ok {
			t.Fatalf("no member %q", name)
		}
		delete(m, name)
	}
	return JSON(t, m)
}

// JSON marshals v.
func JSON(t *testing.T, v any) json.RawMessage {
	t.Helper()
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// DropTexts removes the members of v that are worded freely, at any depth.
func DropTexts(v any) {
	switch v := v.(type) {
	case map[string]any:
		delete(v, "description")
		for _, m := range v {
			DropTexts(m)
		}
	case []any:
		for _, m := range v {
			DropTexts(m)
		}
	}
}

func neutral(t *testing.T, text []byte) any {
	t.Helper()
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		t.Fatalf("JSON %.80q: %v", text, err)
	}
	return v
}
