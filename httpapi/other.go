package httpapi

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	"github.com/swapper-go/swapper/fault"
)

// other is an operation that somebody else serves below the base path.
type other struct {
	name    string
	handler http.Handler
	item    []byte
}

// WithOperation serves one more operation below the base path, by a handler of its
// own, and describes it in the document: item is its path item (OpenAPI 3.0.3), which
// may refer to the schemas and responses of the document. Package httpapi/events makes
// such an option. The handler answers all methods, is told the caller of [WithCaller]
// by the request's context, and has no deadline.
//
// [New] and [Mount] panic if the name is taken or empty, or item is not JSON.
func WithOperation(name string, h http.Handler, item json.RawMessage) Option {
	return func(o *options) { o.others = append(o.others, other{name, h, item}) }
}

// check panics if the operation cannot be served beside the others.
func (o other) check(h *handler) {
	switch {
	case o.name == "" || strings.Contains(o.name, "/"):
		panic(fmt.Sprintf("httpapi: the operation %q must be named by one segment of a path", o.name))
	case h.operations[o.name] != nil || h.others[o.name] != nil || o.name == documentName || o.name == docsName:
		panic(fmt.Sprintf("httpapi: the operation %q is served already", o.name))
	case o.handler == nil || !json.Valid(o.item):
		panic(fmt.Sprintf("httpapi: the operation %q needs a handler and a path item in JSON", o.name))
	}
}

// described adds the operation to a document.
func (o other) described(document []byte) []byte {
	const paths = `"paths": {`
	return bytes.Replace(document, []byte(paths), fmt.Appendf(nil, "%s\n    %q: %s,", paths, "/"+o.name, bytes.TrimSpace(o.item)), 1)
}

func (h *handler) serveOther(w http.ResponseWriter, r *http.Request, served http.Handler) {
	served.ServeHTTP(w, r.WithContext(h.named(r)))
}

// WriteError answers a request with an error as the operations do: with the status of
// its code, or that of [WithStatus], and the body that the package comment shows. Errors
// without a code and internal ones reveal no details; they are not logged here. It is for
// handlers that are served beside the operations, or in front of them.
func WriteError(w http.ResponseWriter, r *http.Request, err error) { writeError(w, r, err) }

// WithStatus gives an error a status of its own, such as 429, in place of its code's.
func WithStatus(status int, err *fault.Error) error { return &refusal{status, "", err} }
