package httpapi_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"

	"github.com/swapper-go/swapper"
	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/httpapi"
	"github.com/swapper-go/swapper/internal/trial"
)

const otherItem = `{"get": {"operationId": "more", "summary": "More", "parameters": [{"name": "swapId", "in": "query", "schema": {"type": "string"}}],
	"responses": {"200": {"description": "Success", "content": {"application/json": {"schema": {"$ref": "#/components/schemas/GetSwapStatusOutput"}}}}, "default": {"$ref": "#/components/responses/Error"}}}}`

func TestOneMoreOperation(t *testing.T) {
	more := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodDelete {
			httpapi.WriteError(w, r, nil, fault.Invalid("method", "is not wanted"))
			return
		}
		fmt.Fprintf(w, "%s for %s", r.Method, swapper.CallerOf(r.Context()))
	})
	mux := http.NewServeMux()
	httpapi.Mount(mux, "/api", &fake{}, httpapi.Options{
		Operations: []httpapi.Operation{{Name: "more", Handler: more, Item: []byte(otherItem)}}, Caller: func(*http.Request) string { return "alice" },
	})
	server := httptest.NewServer(mux)
	defer server.Close()
	for _, tt := range []struct {
		method, path string
		status       int
		answer       string
	}{
		{http.MethodGet, "/api/more", 200, "GET for alice"},
		{http.MethodPut, "/api/more", 200, "PUT for alice"},
		{http.MethodDelete, "/api/more", 400, `{"error":"method: is not wanted","code":"invalid_input","field":"method"}` + "\n"},
		{http.MethodGet, "/api/more/", 404, ""},
		{http.MethodGet, "/api/parseAddress?address=bc1", 200, ""},
	} {
		request := trial.Must(http.NewRequest(tt.method, server.URL+tt.path, nil))(t)
		status, answer := do(t, request)
		if status != tt.status || tt.answer != "" && answer != tt.answer {
			t.Errorf("%s %s: %d %q", tt.method, tt.path, status, answer)
		}
	}
	request := trial.Must(http.NewRequest(http.MethodGet, server.URL+"/api/openapi.json", nil))(t)
	_, document := do(t, request)
	doc := trial.Must(openapi3.NewLoader().LoadFromData([]byte(document)))(t)
	trial.Do(t, doc.Validate(t.Context()))
	if item := doc.Paths.Find("/more"); item == nil || item.Get.OperationID != "more" || doc.Paths.Len() != 13 || doc.Servers[0].URL != "/api" {
		t.Errorf("%d paths, %+v", doc.Paths.Len(), item)
	}
}

func do(t *testing.T, r *http.Request) (int, string) {
	t.Helper()
	response := trial.Must(http.DefaultClient.Do(r))(t)
	defer response.Body.Close()
	body := trial.Must(io.ReadAll(response.Body))(t)
	return response.StatusCode, string(body)
}

func TestOperationsThatCannotBeServed(t *testing.T) {
	h := http.NotFoundHandler()
	for name, operation := range map[string]httpapi.Operation{
		"taken":       {"createSwap", h, []byte("{}")},
		"document":    {"openapi.json", h, []byte("{}")},
		"no name":     {"", h, []byte("{}")},
		"path":        {"a/b", h, []byte("{}")},
		"no handler":  {"more", nil, []byte("{}")},
		"broken item": {"more", h, []byte("{")},
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: served", name)
				}
			}()
			httpapi.New(&fake{}, httpapi.Options{Operations: []httpapi.Operation{operation}})
		}()
	}
}
