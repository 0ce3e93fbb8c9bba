package httpapi_test

import (
	"bytes"
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers"
	"github.com/getkin/kin-openapi/routers/legacy"
	"github.com/google/go-cmp/cmp"

	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/httpapi"
	"github.com/swapper-go/swapper/internal/trial"
	"github.com/swapper-go/swapper/internal/vectors"
)

// served returns the document that a handler serves.
func served(t *testing.T, o httpapi.Options) []byte {
	t.Helper()
	w := httptest.NewRecorder()
	httpapi.New(&fake{}, o).ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/openapi.json", nil))
	if w.Code != http.StatusOK {
		t.Fatalf("status %d: %s", w.Code, w.Body)
	}
	return w.Body.Bytes()
}

func TestDocumentIsValid(t *testing.T) {
	doc, err := openapi3.NewLoader().LoadFromData(served(t, httpapi.Options{}))
	if err != nil {
		t.Fatal(err)
	}
	trial.Do(t, doc.Validate(t.Context()))
	if doc.OpenAPI != "3.0.3" || doc.Info.Version != "1.0.1" {
		t.Errorf("OpenAPI %s, version %s", doc.OpenAPI, doc.Info.Version)
	}
	mux := http.NewServeMux()
	httpapi.Mount(mux, "/v1/api", &fake{}, httpapi.Options{})
	w := httptest.NewRecorder()
	mux.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/v1/api/openapi.json", nil))
	if doc, err = openapi3.NewLoader().LoadFromData(w.Body.Bytes()); err != nil || doc.Servers[0].URL != "/v1/api" {
		t.Errorf("mounted: %v", err)
	}
}

// checked validates what passes between a client and a server by the document.
type checked struct {
	t      *testing.T
	router routers.Router
	next   http.Handler
	seen   map[string]bool
}

func (c *checked) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		c.t.Error(err)
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	route, params, err := c.router.FindRoute(r)
	if err != nil {
		c.t.Errorf("%s %s: %v", r.Method, r.URL, err)
		return
	}
	c.seen[route.Operation.OperationID] = true
	in := &openapi3filter.RequestValidationInput{Request: r, Route: route, PathParams: params,
		Options: &openapi3filter.Options{AuthenticationFunc: openapi3filter.NoopAuthenticationFunc}} // callers without a name are let in here
	if err := openapi3filter.ValidateRequest(r.Context(), in); err != nil {
		c.t.Errorf("request %s %s: %v", r.Method, r.URL, err)
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	answer := httptest.NewRecorder()
	c.next.ServeHTTP(answer, r)
	out := &openapi3filter.ResponseValidationInput{RequestValidationInput: in, Status: answer.Code, Header: answer.Header(),
		Options: &openapi3filter.Options{IncludeResponseStatus: true}}
	out.SetBodyBytes(answer.Body.Bytes())
	if err := openapi3filter.ValidateResponse(r.Context(), out); err != nil {
		c.t.Errorf("answer to %s %s: %s: %v", r.Method, r.URL, answer.Body, err)
	}
	maps.Copy(w.Header(), answer.Header())
	w.WriteHeader(answer.Code)
	_, _ = w.Write(answer.Body.Bytes())
}

func TestEverythingFollowsTheDocument(t *testing.T) {
	doc := trial.Must(openapi3.NewLoader().LoadFromData(served(t, httpapi.Options{})))(t)
	doc.Servers = nil
	router := trial.Must(legacy.NewRouter(doc))(t)
	check := &checked{t, router, httpapi.New(&fake{}, httpapi.Options{}), map[string]bool{}}
	server := httptest.NewServer(check)
	defer server.Close()
	client := dial(t, server.URL, httpapi.ClientOptions{})
	for _, exchange := range exchanges() {
		if _, err := exchange.call(t.Context(), client); err != nil {
			t.Errorf("%s: %v", exchange.name, err)
		}
		for code := range codes {
			if code == fault.Internal {
				continue // logged; describes itself like the others
			}
			if failing, ok := exchange.withKey("error-" + string(code)); ok {
				_, _ = failing.call(t.Context(), client)
			}
		}
	}
	for _, item := range doc.Paths.Map() {
		for _, operation := range item.Operations() {
			if !check.seen[operation.OperationID] {
				t.Errorf("%s was not called", operation.OperationID)
			}
		}
	}
}

// document is the served document as plain JSON.
type document struct {
	Paths      map[string]map[string]map[string]any
	Components struct{ Schemas map[string]any }
}

func readDocument(t *testing.T) document {
	t.Helper()
	var d document
	trial.Do(t, json.Unmarshal(served(t, httpapi.Options{}), &d))
	return d
}

// flat returns a schema in the form of the vectors: inheritance resolved, words for
// people left out, and so what the reference refuses without a word in its document:
// texts and lists that are empty, lists that are too long.
func (d document) flat(schema any) any {
	s, ok := schema.(map[string]any)
	if !ok {
		return schema
	}
	if ref, ok := s["$ref"].(string); ok {
		return map[string]any{"ref": strings.TrimPrefix(ref, "#/components/schemas/")}
	}
	if parts, ok := s["allOf"].([]any); ok { // of one: a reference with more beside it
		out := d.flat(parts[0]).(map[string]any)
		if s["nullable"] == true {
			out["nullable"] = true
		}
		return out
	}
	out := map[string]any{}
	for k, v := range s {
		switch k {
		case "description", "minLength", "minItems", "maxItems":
		case "properties":
			props := map[string]any{}
			for name, p := range v.(map[string]any) {
				props[name] = d.flat(p)
			}
			out[k] = props
		case "oneOf":
			of := v.([]any)
			if last, _ := of[len(of)-1].(map[string]any); cmp.Equal(last["enum"], []any{nil}) { // a reference, or null
				ref := d.flat(of[0]).(map[string]any)
				ref["nullable"] = true
				return ref
			}
			var list []any
			for _, alternative := range of {
				flat := d.flat(alternative).(map[string]any)
				if name, ok := flat["ref"].(string); ok && namedHere[name] {
					flat = d.named(name).(map[string]any)
				}
				list = append(list, flat)
			}
			out[k] = list
		case "items":
			out[k] = d.flat(v)
		case "discriminator":
			out[k] = v.(map[string]any)["propertyName"]
		default:
			out[k] = v
		}
	}
	if out["properties"] != nil && out["required"] == nil {
		out["required"] = []any{}
	}
	return out
}

// named returns a schema of its own, where allOf means inheritance.
func (d document) named(name string) any {
	schema := d.Components.Schemas[name].(map[string]any)
	parts, ok := schema["allOf"].([]any)
	if !ok {
		return d.flat(schema)
	}
	props, required := map[string]any{}, []any{}
	for _, part := range parts {
		flat := d.flat(part).(map[string]any)
		if ref, ok := flat["ref"].(string); ok {
			flat = d.named(ref).(map[string]any)
		}
		maps.Copy(props, flat["properties"].(map[string]any))
		required = append(required, flat["required"].([]any)...)
	}
	return map[string]any{"type": "object", "properties": props, "required": required}
}

// sorted makes the order of required members not matter.
func sorted(schema any) any {
	m, ok := schema.(map[string]any)
	if !ok {
		return schema
	}
	if r, ok := m["required"].([]any); ok {
		slices.SortFunc(r, func(a, b any) int { return strings.Compare(a.(string), b.(string)) })
	}
	for _, v := range m {
		sorted(v)
	}
	if list, ok := m["oneOf"].([]any); ok {
		for _, v := range list {
			sorted(v)
		}
	}
	return m
}

// additions are the optional members that this library adds to the interface, with a space between two.
var additions = map[string]string{"CreateSwapInput": "idempotencyKey", "GetSwapStatusOutput": "actionError vault asOf", "CreateSwapOutput": "swapKey", "GetSwapStatusInput": "swapKey",
	"SubmitTransactionInput": "swapKey", "SettleWithLnurlInput": "swapKey",
	"SwapQuoteFees": "networkInput", "SerializedActionSignPSBTFundedTx": "networkFee", "SerializedActionSignPSBTRawTx": "maxNetworkFee", "EscrowInfo": "nonce confirmations address"}

// wide are the integer members that may exceed 31 bits, in whose place the reference's document has integers of
// no format, which generators of Java and Go read into 32 bits.
var wide = map[string]string{"SerializedActionSignPSBTRawTx": "in1sequence"}

// namedHere are the schemas that have no name in the reference's document, which has them
// where they are used.
var namedHere = map[string]bool{"SerializedActionSignPSBTFunded": true, "SerializedActionSignPSBTRaw": true}

// ownParameters are the parameters that this library adds to operations.
var ownParameters = map[string][]string{"listSwaps": {"limit", "after"}, "listPendingSwaps": {"limit", "after"},
	"getSwapStatus": {"Swap-Key"}, "submitTransaction": {"Swap-Key"}, "settleWithLnurl": {"Swap-Key"}}

func TestVectorsOpenAPISchemas(t *testing.T) {
	d := readDocument(t)
	vectors.Each(t, "utilities", "openapi_schemas", func(t *testing.T, c *vectors.Case) {
		var in struct{ Schema string }
		c.Input(t, &in)
		if d.Components.Schemas[in.Schema] == nil {
			t.Fatalf("no schema %s", in.Schema)
		}
		var want any
		trial.Do(t, json.Unmarshal(c.Want(t), &want))
		got := d.named(in.Schema)
		for _, own := range strings.Fields(additions[in.Schema]) {
			c.Differ(t, "interface-additions")
			m := got.(map[string]any)
			props := m["properties"].(map[string]any)
			if props[own] == nil || slices.Contains(m["required"].([]any), any(own)) {
				t.Errorf("%s must be an optional member", own)
			}
			delete(props, own)
		}
		if name, ok := wide[in.Schema]; ok {
			c.Differ(t, "interface-additions")
			member := got.(map[string]any)["properties"].(map[string]any)[name].(map[string]any)
			if member["format"] != "int64" {
				t.Errorf("%s must be of 64 bits", name)
			}
			delete(member, "format")
		}
		text := trial.Must(json.Marshal(sorted(want)))(t)
		vectors.SameJSON(t, text, sorted(got))

		// The older document has the same, but for what was added since.
		var older map[string]any
		var better any
		if c.Expected(t, &older); older != nil && c.Member(t, "better", &better) {
			vectors.SameJSON(t, vectors.JSON(t, sorted(older)), sorted(without(got, older)))
		}
	})
}

// without leaves of a schema what an older one has too.
func without(got any, older map[string]any) any {
	m, ok := got.(map[string]any)
	if !ok {
		return got
	}
	m = maps.Clone(m)
	if had, ok := older["properties"].(map[string]any); ok {
		props := maps.Clone(m["properties"].(map[string]any))
		maps.DeleteFunc(props, func(name string, _ any) bool { return had[name] == nil })
		m["properties"] = props
		required := slices.DeleteFunc(slices.Clone(list(m["required"])), func(name any) bool { return props[name.(string)] == nil })
		m["required"] = required
	}
	return m
}

func TestVectorsOpenAPIOperations(t *testing.T) {
	d := readDocument(t)
	vectors.Each(t, "utilities", "openapi_operations", func(t *testing.T, c *vectors.Case) {
		var want struct{ Method, Path string }
		c.Expected(t, &want)
		operation := d.Paths[want.Path][strings.ToLower(want.Method)]
		if operation == nil {
			t.Fatalf("no %s %s", want.Method, want.Path)
		}
		var in struct{ Operation string }
		c.Input(t, &in)
		if operation["operationId"] != in.Operation {
			t.Errorf("operationId %s", operation["operationId"])
		}
		parameters := []any{}
		for _, p := range list(operation["parameters"]) {
			m := p.(map[string]any)
			if name := m["name"].(string); slices.Contains(ownParameters[in.Operation], name) {
				c.Differ(t, "interface-additions")
				if m["required"] != false {
					t.Errorf("%s must be optional", name)
				}
				continue
			}
			parameters = append(parameters, map[string]any{"name": m["name"], "in": m["in"], "required": m["required"], "schema": d.flat(m["schema"])})
		}
		responses := maps.Clone(operation["responses"].(map[string]any))
		if vectors.SameJSON(t, vectors.JSON(t, responses["default"]), responses["4XX"]); responses["4XX"] != nil {
			c.Differ(t, "interface-additions")
			delete(responses, "4XX")
		}
		got := map[string]any{
			"method": want.Method, "path": want.Path, "tag": list(operation["tags"])[0],
			"parameters": parameters, "body": nil, "bodyRequired": false,
			"response":  bodySchema(responses["200"]),
			"responses": slices.Sorted(maps.Keys(responses)),
		}
		if body, ok := operation["requestBody"].(map[string]any); ok {
			got["body"], got["bodyRequired"] = bodySchema(body), body["required"]
		}
		vectors.SameJSON(t, c.Want(t), got)
	})
}

func list(v any) []any {
	l, _ := v.([]any)
	return l
}

func bodySchema(v any) string {
	content := v.(map[string]any)["content"].(map[string]any)["application/json"].(map[string]any)
	return strings.TrimPrefix(content["schema"].(map[string]any)["$ref"].(string), "#/components/schemas/")
}
