package httpapi_test

import (
	"encoding/json"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/swapper-go/swapper/httpapi"
	"github.com/swapper-go/swapper/internal/trial"
)

// samples are a value of each field that some operation requires.
var samples = map[string]any{
	"srcToken": "BITCOIN-BTC", "dstToken": "CITREA-CBTC", "token": "BITCOIN-BTC", "amount": "100", "amountType": "EXACT_IN", "dstAddress": "x",
	"swapId": "x", "chainId": "CITREA", "signer": "x", "side": "INPUT", "address": "x", "wallet": "x", "signedTxs": []any{"x"},
}

// TestEmpty holds the document to the handler: a text or list whose schema says that
// it is not empty is refused by its name when it is, and no other is refused for that.
func TestEmpty(t *testing.T) {
	d := readDocument(t)
	h := httpapi.New(&fake{}, httpapi.Options{})
	for path, item := range d.Paths {
		for method, operation := range item {
			fields, required := map[string]any{}, []any{}
			for _, p := range list(operation["parameters"]) {
				p := p.(map[string]any)
				if p["in"] != "query" { // TestSwapKeys sends headers
					continue
				}
				fields[p["name"].(string)] = p["schema"]
				if p["required"] == true {
					required = append(required, p["name"])
				}
			}
			if operation["requestBody"] != nil {
				input := d.Components.Schemas[bodySchema(operation["requestBody"])].(map[string]any)
				fields, required = input["properties"].(map[string]any), input["required"].([]any)
			}
			base := map[string]any{}
			for _, name := range required {
				if base[name.(string)] = samples[name.(string)]; base[name.(string)] == nil {
					t.Fatalf("samples has no %s", name)
				}
			}
			try := func(name, field string, value any, mustFail bool) {
				in := maps.Clone(base)
				in[name] = value
				got, refusal := send(t, h, method, path, in)
				switch {
				case mustFail && (got != http.StatusBadRequest || refusal["field"] != field):
					t.Errorf("%s %s with %s empty: %d %v, want 400 that names it", method, path, field, got, refusal)
				case !mustFail && got == http.StatusBadRequest:
					t.Errorf("%s %s with %s empty, which the document allows: %d %v", method, path, field, got, refusal)
				}
			}
			for name, schema := range fields {
				s := schema.(map[string]any)
				switch s["type"] {
				case "string":
					try(name, name, "", s["minLength"] == 1.0)
				case "array":
					try(name, name, []any{}, s["minItems"] == 1.0)
					try(name, name+"[0]", []any{""}, s["items"].(map[string]any)["minLength"] == 1.0)
				}
			}
		}
	}
}

// send sends the fields to an operation, in its query or its body.
func send(t *testing.T, h http.Handler, method, path string, in map[string]any) (int, map[string]string) {
	t.Helper()
	if method == "get" {
		query := url.Values{}
		for _, name := range slices.Sorted(maps.Keys(in)) {
			query.Set(name, in[name].(string))
		}
		w, refusal := ask(t, h, http.MethodGet, path+"?"+query.Encode(), "", nil)
		return w.Code, refusal
	}
	body := trial.Must(json.Marshal(in))(t)
	w, refusal := ask(t, h, http.MethodPost, path, "application/json", strings.NewReader(string(body)))
	return w.Code, refusal
}
