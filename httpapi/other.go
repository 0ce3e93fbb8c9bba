package httpapi

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
)

// Operation is one more operation below the base path, with a handler of its own. Package
// httpapi/events makes one. The handler answers all methods, is told the caller of
// [Options] by the request's context, and has no deadline.
//
// [New] and [Mount] panic if the name is taken or empty, or the item is not JSON.
type Operation struct {
	Name    string
	Handler http.Handler
	// Item is the operation's path item (OpenAPI 3.0.3) in the document. It may refer to
	// the schemas and responses of the document.
	Item json.RawMessage
}

// check panics if the operation cannot be served beside the others.
func (o Operation) check(h *handler) {
	switch {
	case o.Name == "" || strings.Contains(o.Name, "/"):
		panic(fmt.Sprintf("httpapi: the operation %q must be named by one segment of a path", o.Name))
	case h.operations[o.Name] != nil || h.others[o.Name] != nil || o.Name == documentName || o.Name == docsName:
		panic(fmt.Sprintf("httpapi: the operation %q is served already", o.Name))
	case o.Handler == nil || !json.Valid(o.Item):
		panic(fmt.Sprintf("httpapi: the operation %q needs a handler and a path item in JSON", o.Name))
	}
}

// described adds the operation to a document.
func (o Operation) described(document []byte) []byte {
	const paths = `"paths": {`
	return bytes.Replace(document, []byte(paths), fmt.Appendf(nil, "%s\n    %q: %s,", paths, "/"+o.Name, bytes.TrimSpace(o.Item)), 1)
}

func (h *handler) serveOther(w http.ResponseWriter, r *http.Request, served http.Handler) {
	served.ServeHTTP(w, r.WithContext(h.named(r)))
}
