package httpapi

import (
	"errors"
	"io"
	"mime"
	"net/http"

	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/internal/httpx"
)

// read reads the input of a request. The error is a [*httpx.Refusal] or an error with a code.
func (h *handler) read(w http.ResponseWriter, r *http.Request, op *operation) (call, error) {
	if len(r.URL.RawQuery) > maxQuery {
		return nil, &httpx.Refusal{Status: http.StatusRequestURITooLong, Err: newError(fault.InvalidInput, "query", "must be at most 32 KiB long")}
	}
	input, err := parseQuery(r.URL.RawQuery)
	if err != nil {
		return nil, err
	}
	switch {
	case r.Method == http.MethodGet && op.get, r.Method == http.MethodHead && op.get:
	case r.Method == http.MethodPost && op.post:
		if len(input.members) > 0 && !h.AcceptUnknown {
			return nil, newError(fault.InvalidInput, shown(input.members[0].name), "must be in the JSON body: POST does not read the query string")
		}
		body, err := readBody(w, r, op.maxBody)
		if err != nil {
			return nil, err
		}
		if input, err = parseJSON(body); err != nil {
			return nil, err
		}
	default:
		return nil, wrongMethod(op.allowed())
	}
	if op.keyed {
		if input, err = withSwapKey(r, input); err != nil {
			return nil, err
		}
	}
	return op.read(input, h.AcceptUnknown)
}

func readBody(w http.ResponseWriter, r *http.Request, most int64) ([]byte, error) {
	kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err != nil || kind != "application/json" || r.Header.Get("Content-Encoding") != "" {
		return nil, &httpx.Refusal{Status: http.StatusUnsupportedMediaType, Err: newError(fault.InvalidInput, "content-type", "must be application/json, without a Content-Encoding")}
	}
	if r.Body == nil {
		return nil, badBody("is missing")
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, most))
	if _, tooLarge := errors.AsType[*http.MaxBytesError](err); tooLarge {
		return nil, &httpx.Refusal{Status: http.StatusRequestEntityTooLarge, Err: newError(fault.InvalidInput, "body", "must be at most %d bytes", most)}
	}
	if err != nil {
		return nil, badBody("could not be read completely")
	}
	return body, nil
}
