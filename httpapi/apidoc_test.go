package httpapi

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/swapper-go/swapper/internal/trial"
)

var update = flag.Bool("update", false, "write the reference part of docs/api.md")

const (
	apiDocument    = "../docs/api.md"
	referenceBegin = "<!-- reference: written by .ci/texts -->\n"
)

// TestAPIDocument holds the reference part of docs/api.md to the OpenAPI
// document, and demands a word on every operation before it.
func TestAPIDocument(t *testing.T) {
	text := trial.Must(os.ReadFile(apiDocument))(t)
	prose, _, found := strings.Cut(string(text), referenceBegin)
	if !found {
		t.Fatalf("%s has no line %q", apiDocument, strings.TrimSpace(referenceBegin))
	}
	for _, op := range operations() {
		if !strings.Contains(prose, "### "+op.name+"\n") {
			t.Errorf("%s has no section on %s", apiDocument, op.name)
		}
	}
	want := prose + referenceBegin + reference(t)
	if *update {
		trial.Do(t, os.WriteFile(apiDocument, []byte(want), 0o644))
		return
	}
	if diff := cmp.Diff(strings.Split(want, "\n"), strings.Split(string(text), "\n")); diff != "" {
		t.Errorf("%s differs from the OpenAPI document; run .ci/texts (-want +got):\n%s", apiDocument, diff)
	}
}

// ordered is a JSON object whose members keep their order.
type ordered struct {
	names  []string
	values map[string]json.RawMessage
}

func (o *ordered) UnmarshalJSON(text []byte) error {
	o.values = map[string]json.RawMessage{}
	if err := json.Unmarshal(text, &o.values); err != nil {
		return err
	}
	d := json.NewDecoder(bytes.NewReader(text))
	if _, err := d.Token(); err != nil {
		return err
	}
	for d.More() {
		name, err := d.Token()
		if err != nil {
			return err
		}
		o.names = append(o.names, name.(string))
		var skip json.RawMessage
		if err := d.Decode(&skip); err != nil {
			return err
		}
	}
	return nil
}

type docSchema struct {
	Ref         string            `json:"$ref"`
	Type        string            `json:"type"`
	Const       json.RawMessage   `json:"const"`
	Enum        []json.RawMessage `json:"enum"`
	OneOf       []docSchema       `json:"oneOf"`
	AllOf       []docSchema       `json:"allOf"`
	Items       *docSchema        `json:"items"`
	Pattern     string            `json:"pattern"`
	MinLength   int               `json:"minLength"`
	MinItems    int               `json:"minItems"`
	Description string            `json:"description"`
	Properties  *ordered          `json:"properties"`
	Required    []string          `json:"required"`
}

type docOperation struct {
	Parameters []struct {
		Name, In, Description string
		Required              bool
		Schema                docSchema
	}
	RequestBody *struct {
		Content map[string]struct{ Schema docSchema }
	}
	Responses map[string]struct {
		Content map[string]struct{ Schema docSchema }
	}
}

// reference prints the OpenAPI document as tables.
func reference(t *testing.T) string {
	t.Helper()
	var doc struct {
		Paths      ordered
		Components struct{ Schemas ordered }
	}
	trial.Do(t, json.Unmarshal(openAPI, &doc))
	var b strings.Builder
	b.WriteString("\n## Reference: operations\n")
	for _, path := range doc.Paths.names {
		var methods ordered
		unpack(t, doc.Paths.values[path], &methods)
		for _, method := range methods.names {
			var op docOperation
			unpack(t, methods.values[method], &op)
			fmt.Fprintf(&b, "\n### %s %s\n\n", strings.ToUpper(method), path)
			if len(op.Parameters) > 0 {
				row(&b, "Parameter", "Type", "Required", "Meaning")
				row(&b, "---", "---", "---", "---")
			}
			for _, p := range op.Parameters {
				if p.Description == "" {
					p.Description = p.Schema.Description
				}
				name := "`" + p.Name + "`"
				if p.In != "query" {
					name += " (" + p.In + ")"
				}
				row(&b, name, p.Schema.text(), yes(p.Required), p.Description)
			}
			if op.RequestBody != nil {
				if len(op.Parameters) > 0 {
					b.WriteString("\n")
				}
				fmt.Fprintf(&b, "Body: %s.\n", op.RequestBody.Content["application/json"].Schema.text())
			}
			fmt.Fprintf(&b, "\nAnswer: %s.\n", op.Responses["200"].Content["application/json"].Schema.text())
		}
	}
	b.WriteString("\n## Reference: types\n")
	for _, name := range doc.Components.Schemas.names {
		var s docSchema
		unpack(t, doc.Components.Schemas.values[name], &s)
		fmt.Fprintf(&b, "\n### %s\n\n", name)
		if s.Description != "" {
			fmt.Fprintf(&b, "%s.\n\n", strings.TrimSuffix(s.Description, "."))
		}
		parts := append([]docSchema{s}, s.AllOf...)
		shown := false
		for _, part := range parts {
			if part.Ref != "" {
				fmt.Fprintf(&b, "Everything of %s.\n\n", part.text())
			}
			if part.Properties == nil {
				continue
			}
			shown = true
			row(&b, "Member", "Type", "Required", "Meaning")
			row(&b, "---", "---", "---", "---")
			for _, member := range part.Properties.names {
				var m docSchema
				unpack(t, part.Properties.values[member], &m)
				row(&b, "`"+member+"`", m.text(), yes(slices.Contains(part.Required, member)), m.Description)
			}
		}
		if !shown && len(s.AllOf) == 0 {
			fmt.Fprintln(&b, s.text())
		}
	}
	return b.String()
}

func unpack(t *testing.T, raw json.RawMessage, v any) {
	t.Helper()
	if err := json.Unmarshal(raw, v); err != nil {
		t.Fatalf("%s: %v", raw, err)
	}
}

func row(b *strings.Builder, cells ...string) {
	for i := range cells {
		cells[i] = strings.ReplaceAll(cells[i], "|", "\\|")
	}
	fmt.Fprintf(b, "| %s |\n", strings.Join(cells, " | "))
}

func yes(b bool) string {
	if b {
		return "yes"
	}
	return "no"
}

// text says what a value looks like.
func (s docSchema) text() string {
	list := func(all []docSchema, between string) string {
		texts := make([]string, len(all))
		for i, one := range all {
			texts[i] = one.text()
		}
		return strings.Join(texts, between)
	}
	quoted := func(raw json.RawMessage) string { return "`" + strings.Trim(string(raw), `"`) + "`" }
	switch {
	case s.Ref != "":
		return "`" + s.Ref[strings.LastIndexByte(s.Ref, '/')+1:] + "`"
	case s.Const != nil:
		return quoted(s.Const)
	case s.Enum != nil:
		texts := make([]string, len(s.Enum))
		for i, raw := range s.Enum {
			texts[i] = quoted(raw)
		}
		return strings.Join(texts, ", ")
	case s.OneOf != nil:
		return list(s.OneOf, " or ")
	case s.AllOf != nil:
		return list(s.AllOf, " with ")
	case s.Items != nil:
		return "list of " + s.Items.text() + notEmpty(s.MinItems)
	case s.Pattern != "":
		return s.Type + " matching `" + s.Pattern + "`"
	}
	return s.Type + notEmpty(s.MinLength)
}

func notEmpty(least int) string {
	if least > 0 {
		return ", not empty"
	}
	return ""
}
