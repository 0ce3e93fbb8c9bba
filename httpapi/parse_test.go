package httpapi

import (
	"encoding/json"
	"net/url"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/internal/trial"
	"github.com/swapper-go/swapper/internal/vectors"
)

// standard is the same value as encoding/json reads it.
func (v value) standard() any {
	switch v.kind {
	case kindBool:
		return v.truth
	case kindNumber:
		return json.Number(v.text)
	case kindString:
		return v.text
	case kindArray:
		list := []any{}
		for _, item := range v.items {
			list = append(list, item.standard())
		}
		return list
	case kindObject:
		m := map[string]any{}
		for _, member := range v.members {
			m[member.name] = member.value.standard()
		}
		return m
	}
	return nil
}

func readStandard(text string) (any, error) {
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	var v any
	err := d.Decode(&v)
	return v, err
}

// What the parser takes is JSON, and means the same to the standard library. What it
// refuses beyond that, it refuses for a reason that it names.
func FuzzParseJSON(f *testing.F) {
	for _, seed := range []string{`{"a":1,"b":[true,false,null,"x\u00e9\ud83d\ude00\n"],"c":{"d":-0.5e+10}}`, `{"a":1,"a":2}`, `"\ud800"`, `[1 2]`, `01`, `-`, `1.`, `1e`,
		"\"\x00\"", "{\"a\"\t:\r\n1 } ", `nul`, `{"a"}`, `[,]`, `{,}`, "\xff", `"\u12"`, `"\x"`, `""""`, strings.Repeat("[", 40)} {
		f.Add(seed)
	}
	for _, c := range vectors.Load(f, "utilities", "api_input").Cases[:60] {
		var in struct{ JSON string }
		c.Input(f, &in)
		f.Add(in.JSON)
	}
	f.Fuzz(func(t *testing.T, text string) {
		got, err := parseJSON([]byte(text))
		valid := json.Valid([]byte(text))
		if err == nil {
			if !valid {
				t.Fatalf("took %q, which is not JSON", text)
			}
			want := trial.Must(readStandard(text))(t)
			if !reflect.DeepEqual(got.standard(), want) {
				t.Errorf("%q read as %#v, want %#v", text, got.standard(), want)
			}
			return
		}
		e, ok := err.(*fault.Error)
		if !ok || e.Code != fault.InvalidInput || e.Field == "" && !strings.Contains(text, `""`) || !utf8.ValidString(e.Error()) {
			t.Fatalf("%q: %#v", text, err)
		}
		if !valid {
			return
		}
		for _, reason := range []string{"twice", "UTF-8", "deeper", "more than", "a valid \\u escape"} {
			if strings.Contains(e.Message, reason) {
				return
			}
		}
		t.Errorf("refused %q: %v", text, err)
	})
}

// A query without semicolons means the same as to the standard library.
func FuzzParseQuery(f *testing.F) {
	for _, seed := range []string{"a=1&b=2", "a=1&a=2", "a", "&&=&", "a=%20+%zz", "%61=1", "a=%ff", "a=1;2", "a==", "\xff=1"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, query string) {
		got, err := parseQuery(query)
		want, wantErr := url.ParseQuery(query)
		if err != nil {
			e, ok := err.(*fault.Error)
			if !ok || e.Code != fault.InvalidInput || !utf8.ValidString(e.Error()) {
				t.Fatalf("%q: %#v", query, err)
			}
			return
		}
		if strings.Contains(query, ";") {
			return
		}
		if wantErr != nil || len(want) != len(got.members) {
			t.Fatalf("%q: %v read, want %v, %v", query, got.members, want, wantErr)
		}
		for _, m := range got.members {
			if len(want[m.name]) != 1 || want.Get(m.name) != m.value.text || !utf8.ValidString(m.name+m.value.text) {
				t.Errorf("%q: %q is %q, want %q", query, m.name, m.value.text, want[m.name])
			}
		}
	})
}
