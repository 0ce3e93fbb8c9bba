package httpapi_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/swapper-go/swapper/httpapi"
	"github.com/swapper-go/swapper/internal/trial"
	"github.com/swapper-go/swapper/internal/vectors"
)

// schema is as much of a schema as is needed to make a value of it.
type schema struct {
	Ref        string `json:"$ref"`
	Type       any
	Enum       []any
	Properties map[string]schema
	Items      *schema
	AllOf      []schema
	OneOf      []schema
	AnyOf      []schema
	Minimum    *float64
}

// sample is a value of a schema, with all its members.
func (s schema) sample(all map[string]schema, deep int) any {
	switch {
	case deep > 6:
		return nil
	case s.Ref != "":
		return all[s.Ref[strings.LastIndexByte(s.Ref, '/')+1:]].sample(all, deep+1)
	case len(s.Enum) > 0:
		return s.Enum[0]
	case len(s.AllOf) > 0:
		return s.AllOf[0].sample(all, deep+1)
	case len(s.OneOf) > 0:
		return s.OneOf[0].sample(all, deep+1)
	case len(s.AnyOf) > 0:
		return s.AnyOf[0].sample(all, deep+1)
	case s.Properties != nil:
		v := map[string]any{}
		for name, p := range s.Properties {
			v[name] = p.sample(all, deep+1)
		}
		return v
	case s.Items != nil:
		return []any{s.Items.sample(all, deep+1)}
	}
	switch fmt.Sprint(s.Type) {
	case "boolean":
		return true
	case "integer", "number":
		if s.Minimum != nil {
			return *s.Minimum
		}
		return 1
	}
	return "100"
}

// FuzzOperations sends requests that are made of the OpenAPI document, with members and
// parameters left out, renamed, doubled, exchanged and of other types, to a handler that
// takes what it does not know and to one that does not: no request makes it fail, and each
// refusal says what is wrong.
func FuzzOperations(f *testing.F) {
	text := trial.Must(os.ReadFile("openapi.json"))(f)
	var doc struct {
		Paths map[string]map[string]struct {
			Parameters []struct {
				Name   string
				Schema schema
			}
			RequestBody struct {
				Content map[string]struct{ Schema schema }
			}
		}
		Components struct{ Schemas map[string]schema }
	}
	trial.Do(f, json.Unmarshal(text, &doc))
	type request struct {
		method, path string
		members      []byte // of the body, or parameters of the query
	}
	var all []request
	for _, path := range slices.Sorted(maps.Keys(doc.Paths)) {
		for _, method := range slices.Sorted(maps.Keys(doc.Paths[path])) {
			op := doc.Paths[path][method]
			members := op.RequestBody.Content["application/json"].Schema.sample(doc.Components.Schemas, 0)
			if len(op.Parameters) > 0 {
				query := map[string]any{}
				for _, p := range op.Parameters {
					query[p.Name] = p.Schema.sample(doc.Components.Schemas, 0)
				}
				members = query
			}
			text := trial.Must(json.Marshal(members))(f)
			all = append(all, request{strings.ToUpper(method), path, text})
		}
	}
	if len(all) < 12 {
		f.Fatalf("the document has %d operations", len(all))
	}
	for i := range all {
		for change := range byte(8) {
			f.Add([]byte{byte(i), 0, 1, change, change, 3})
		}
	}
	quiet := slog.New(slog.DiscardHandler)
	handlers := []http.Handler{httpapi.New(&fake{}, httpapi.Options{Logger: quiet}), httpapi.New(&fake{}, httpapi.Options{AcceptUnknown: true, Logger: quiet})}
	f.Fuzz(func(t *testing.T, fields []byte) {
		d := vectors.Draw(fields)
		is := all[d.Int(len(all))]
		members := is.members
		if d.Int(16) > 0 {
			members = d.JSON(members)
		}
		for _, h := range handlers {
			r := &http.Request{Method: is.method, URL: &url.URL{Path: is.path}, Header: http.Header{"Content-Type": {"application/json"}}, Body: http.NoBody}
			if is.method == http.MethodPost {
				r.Body = io.NopCloser(bytes.NewReader(members))
			} else {
				r.URL.RawQuery = queryOf(members)
			}
			r = r.WithContext(t.Context())
			w := httptest.NewRecorder()
			h.ServeHTTP(w, r)
			check(t, r, w)
		}
	})
}

// queryOf writes the members of an object as parameters, those of a list several times.
func queryOf(text []byte) string {
	var members map[string]any
	if json.Unmarshal(text, &members) != nil {
		return string(text)
	}
	q := url.Values{}
	for name, v := range members {
		several, ok := v.([]any)
		if !ok {
			several = []any{v}
		}
		for _, one := range several {
			if s, ok := one.(string); ok {
				q.Add(name, s)
			} else {
				text, _ := json.Marshal(one) // was read a moment ago
				q.Add(name, string(text))
			}
		}
	}
	return q.Encode()
}
