package httpapi_test

import (
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/routers/legacy"
	"github.com/google/go-cmp/cmp"

	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/httpapi"
	"github.com/swapper-go/swapper/internal/trial"
)

// described returns the served document, for routes from the root.
func described(t *testing.T) *openapi3.T {
	t.Helper()
	doc := trial.Must(openapi3.NewLoader().LoadFromData(served(t, httpapi.Options{})))(t)
	doc.Servers = nil
	return doc
}

// relay sends a request through a handler, a client and a service that gives the answer,
// and returns what arrived: the members of the request, and the answer.
func relay(t *testing.T, doc *openapi3.T, request *http.Request, status int, answer any) (members map[string]any, gotStatus int, got any) {
	t.Helper()
	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		members = membersOf(t, r)
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		_ = json.NewEncoder(w).Encode(answer)
	}))
	defer service.Close()
	router := trial.Must(legacy.NewRouter(doc))(t)
	w := httptest.NewRecorder()
	(&checked{t, router, httpapi.New(dial(t, service.URL, httpapi.ClientOptions{}), httpapi.Options{}), map[string]bool{}}).ServeHTTP(w, request)
	if err := json.Unmarshal(w.Body.Bytes(), &got); err != nil {
		t.Fatalf("%s: %v", w.Body, err)
	}
	return members, w.Code, got
}

// membersOf returns what a request gives, in its query or in its body.
func membersOf(t *testing.T, r *http.Request) map[string]any {
	members := map[string]any{}
	for name, values := range r.URL.Query() {
		members[name] = values[0]
	}
	body, err := io.ReadAll(r.Body)
	if err == nil && len(body) > 0 {
		err = json.Unmarshal(body, &members)
	}
	if err != nil {
		t.Error(err)
	}
	return members
}

// Every operation has an example of its input and of its answer. Handler and client take
// both, and pass them on as they are.
func TestExamplesOfOperations(t *testing.T) {
	doc := described(t)
	for path, item := range doc.Paths.Map() {
		for method, operation := range item.Operations() {
			t.Run(operation.OperationID, func(t *testing.T) {
				query, body := url.Values{}, ""
				for _, p := range operation.Parameters {
					if example, ok := p.Value.Example.(string); ok {
						query.Set(p.Value.Name, example)
					} else if p.Value.Required {
						t.Fatalf("the parameter %s has no example", p.Value.Name)
					}
				}
				if operation.RequestBody != nil {
					example := operation.RequestBody.Value.Content.Get("application/json").Example
					text, err := json.Marshal(example)
					if err != nil || example == nil {
						t.Fatalf("the body has no example: %v", err)
					}
					body = string(text)
				}
				request := func() *http.Request {
					r := httptest.NewRequest(method, path+"?"+query.Encode(), strings.NewReader(body))
					if body != "" {
						r.Header.Set("Content-Type", "application/json")
					}
					return r
				}
				answer := operation.Responses.Status(http.StatusOK).Value.Content.Get("application/json").Example
				if answer == nil {
					t.Fatal("the answer has no example")
				}
				members, status, got := relay(t, doc, request(), http.StatusOK, answer)
				given := membersOf(t, request())
				maps.DeleteFunc(members, func(name string, _ any) bool { return given[name] == nil }) // a page's length is added
				if diff := cmp.Diff(given, members); diff != "" || status != http.StatusOK {
					t.Errorf("status %d; the input arrives otherwise (-example +arrived):\n%s", status, diff)
				}
				if diff := cmp.Diff(answer, got); diff != "" {
					t.Errorf("the answer arrives otherwise (-example +arrived):\n%s", diff)
				}
			})
		}
	}
}

// Every code of an error has an example: a sentence of docs/errors.md, with the members and
// the status that the handler gives it. Those that stand in front of the operations are
// tested where they stand, in examples/server.
func TestExamplesOfErrors(t *testing.T) {
	doc := described(t)
	examples := doc.Components.Responses["Error"].Value.Content.Get("application/json").Examples
	for _, code := range doc.Components.Schemas["ErrorCode"].Value.Enum {
		if examples[code.(string)] == nil {
			t.Errorf("%s has no example", code)
		}
	}
	text := trial.Must(os.ReadFile("../docs/errors.md"))(t)
	for code, status := range codes {
		t.Run(string(code), func(t *testing.T) {
			example := examples[string(code)].Value
			value := example.Value.(map[string]any)
			if !strings.HasPrefix(example.Summary, strconv.Itoa(status)) || value["code"] != string(code) {
				t.Errorf("%q of %v, whose status is %d", example.Summary, value["code"], status)
			}
			if field, sentence := value["field"], value["error"].(string); !says(string(text), code, field, sentence) {
				t.Errorf("docs/errors.md has no %q of %v", sentence, field)
			}
			_, got, answer := relay(t, doc, httptest.NewRequest(http.MethodGet, "/parseAddress?address=x", nil), status, value)
			if diff := cmp.Diff(example.Value, answer); diff != "" || got != status {
				t.Errorf("status %d, want %d; the error arrives otherwise (-example +arrived):\n%s", got, status, diff)
			}
		})
	}
}

// says reports whether docs/errors.md has a sentence about a field below a code, or as a
// reason that may be alone.
func says(document string, code fault.Code, field any, sentence string) bool {
	_, section, _ := strings.Cut(document, "\n### `"+string(code)+"`\n")
	section, _, _ = strings.Cut(section, "\n### ")
	if name, ok := field.(string); ok && code != fault.AmountOutOfBounds {
		sentence = strings.TrimPrefix(sentence, name+": ")
	}
	if strings.Contains(document, "\n- `"+sentence+"`\n") {
		return true
	}
	values := regexp.MustCompile(`<[^<>]+>`)
	for _, row := range regexp.MustCompile("(?m)^\\| (.*) \\| `(.+)` \\|$").FindAllStringSubmatch(section, -1) {
		of := strings.Trim(row[1], "`")
		pattern := "^" + values.ReplaceAllString(regexp.QuoteMeta(row[2]), ".+") + "$"
		if (of == "" || of == field || of == "*" && field != nil) && regexp.MustCompile(pattern).MatchString(sentence) {
			return true
		}
	}
	return false
}
