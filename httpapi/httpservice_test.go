package httpapi_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/swapper-go/swapper/httpapi"
	"github.com/swapper-go/swapper/internal/trial"
	"github.com/swapper-go/swapper/internal/vectors"
)

// methods are the methods of every operation.
var methods = map[string]string{
	"createSwap": "POST", "createGasSwap": "POST", "submitTransaction": "POST", "settleWithLnurl": "POST", "getSwapStatus": "GET HEAD POST",
	"listSwaps": "GET HEAD", "listPendingSwaps": "GET HEAD", "getSupportedTokens": "GET HEAD", "getSwapCounterTokens": "GET HEAD",
	"getSwapLimits": "GET HEAD", "parseAddress": "GET HEAD", "getSpendableBalance": "GET HEAD",
}

func TestVectorsHTTPService(t *testing.T) {
	server := httptest.NewServer(httpapi.New(&fake{}, httpapi.Options{}))
	defer server.Close()
	doc := readDocument(t)
	vectors.Each(t, "utilities", "http_service", func(t *testing.T, c *vectors.Case) {
		var in struct {
			Method, Path, Body string
			Headers            map[string]string
		}
		c.Input(t, &in)
		var want struct {
			Status  int
			Headers map[string]string
			Body    json.RawMessage
			Text    *string
		}
		c.Expected(t, &want)
		if in.Headers["x-api-key"] == "" || in.Method == http.MethodOptions {
			c.NotRun(t, "keys and preflights belong to a service around the mount")
		}
		var size int
		if n, _ := fmt.Sscanf(in.Body, "%d bytes", &size); n == 1 {
			in.Body = `{"srcToken":"` + strings.Repeat("a", size-len(`{"srcToken":""}`)) + `"}`
		}
		request, err := http.NewRequest(in.Method, server.URL+in.Path, strings.NewReader(in.Body))
		if err != nil { // a path that is no URL to Go's client, as with a broken escape
			request = &http.Request{Method: in.Method, Header: http.Header{}, URL: opaque(t, server.URL, in.Path), Body: io.NopCloser(strings.NewReader(in.Body))}
		}
		for name, x := range in.Headers {
			request.Header.Set(name, x)
		}
		response := trial.Must(http.DefaultClient.Do(request))(t)
		defer response.Body.Close()
		body := trial.Must(io.ReadAll(response.Body))(t)
		status := want.Status
		if id, own := ownStatus(doc, in.Method, in.Path, in.Headers["content-type"], want.Status); id != "" {
			c.Differ(t, id)
			status = own
		} else if strings.HasPrefix(want.Headers["content-type"], "text/html") {
			c.Differ(t, "http-json-errors")
		}
		if response.StatusCode != status {
			t.Fatalf("status %d, want %d: %s", response.StatusCode, status, body)
		}
		if got := response.Header.Get("Content-Type"); got != "application/json; charset=utf-8" {
			t.Errorf("content type %q", got)
		}
		switch {
		case in.Method == http.MethodHead:
			if len(body) > 0 {
				t.Errorf("body %q", body)
			}
		case status == http.StatusOK:
			vectors.SameJSON(t, want.Body, json.RawMessage(body))
		default:
			var e struct{ Error, Code, Field string }
			if err := json.Unmarshal(body, &e); err != nil || e.Error == "" || e.Code == "" || e.Field == "" {
				t.Errorf("error body %s", body)
			}
		}
		if status == http.StatusMethodNotAllowed && response.Header.Get("Allow") == "" {
			t.Error("no Allow header")
		}
	})
}

func opaque(t *testing.T, server, path string) *url.URL {
	t.Helper()
	u := trial.Must(url.Parse(server))(t)
	u.Opaque = strings.TrimPrefix(server, u.Scheme+":") + path
	return u
}

// ownStatus is the status of the mount where it is another than the reference's.
func ownStatus(doc document, method, target, contentType string, reference int) (id string, status int) {
	path, query, _ := strings.Cut(target, "?")
	name := strings.TrimPrefix(path, "/")
	allowed, known := methods[name]
	switch {
	case !known && reference != http.StatusNotFound && slices.ContainsFunc(names(), func(n string) bool { return strings.EqualFold(n, strings.TrimRight(name, "/")) }):
		return "http-exact-paths", http.StatusNotFound
	case known && !strings.Contains(allowed, method) && reference == http.StatusNotFound:
		return "http-json-errors", http.StatusMethodNotAllowed
	case known && method == http.MethodPost && !strings.HasPrefix(strings.ToLower(contentType), "application/json"):
		return "http-content-type", http.StatusUnsupportedMediaType
	}
	given, err := url.ParseQuery(query)
	if err != nil || reference != http.StatusOK {
		return "", 0
	}
	for _, p := range list(doc.Paths["/"+name]["get"]["parameters"]) {
		given.Del(p.(map[string]any)["name"].(string))
	}
	if len(given) > 0 {
		return "input-unknown-fields", http.StatusBadRequest
	}
	return "", 0
}

func names() (all []string) {
	for name := range methods {
		all = append(all, name)
	}
	return all
}
