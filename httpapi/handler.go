package httpapi

import (
	"context"
	"crypto/rand"
	"fmt"
	"log/slog"
	"net/http"
	"path"
	"runtime/debug"
	"strings"
	"time"

	"github.com/swapper-go/swapper"
	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/internal/httpx"
)

// handler answers the operations of a service.
type handler struct {
	Options
	service    swapper.Service
	operations map[string]*operation
	others     map[string]http.Handler
	document   []byte
}

// New returns a handler that serves the operations of service, each under its
// name below the base path (the root unless there is one), their
// description at openapi.json and a page to try them on at docs. Paths must match exactly. The handler is safe
// for concurrent use if service is.
func New(service swapper.Service, o Options) http.Handler {
	h := &handler{Options: o, service: service, operations: map[string]*operation{}, others: map[string]http.Handler{}}
	h.BasePath = cleanBase(o.BasePath)
	h.Deadlines = o.Deadlines.orDefault()
	if h.Address == nil {
		h.Address = peer
	}
	if h.Logger == nil {
		h.Logger = slog.Default()
	}
	ops := operations()
	for i := range ops {
		h.operations[ops[i].name] = &ops[i]
	}
	h.document = document(h.BasePath)
	for _, more := range o.Operations {
		more.check(h)
		h.others[more.Name] = more.Handler
		h.document = more.described(h.document)
	}
	return h
}

// Mount registers a handler for the operations of service in mux below a base
// path, such as "/api"; "" and "/" mean the root. Anything else
// below the base path gets a JSON error. Like mux.Handle, it panics if the path
// is already registered.
func Mount(mux *http.ServeMux, base string, service swapper.Service, o Options) {
	o.BasePath = cleanBase(base)
	h := New(service, o)
	if o.BasePath != "" {
		mux.Handle(o.BasePath, h) // else mux would redirect it to the path with a slash
	}
	mux.Handle(o.BasePath+"/", h)
}

// ServeHTTP implements [http.Handler].
func (h *handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	name, ok := strings.CutPrefix(r.URL.Path, h.BasePath+"/")
	op, beside := h.operations[name], h.others[name]
	switch {
	case ok && beside != nil:
		h.serveOther(w, r, beside)
	case ok && name == docsName:
		h.serveDocs(w, r)
	case !ok || op == nil && name != documentName:
		writeError(w, r, &httpx.Refusal{Status: http.StatusNotFound, Err: newError(fault.Unsupported, "path", "unknown operation; openapi.json lists the operations, and docs is a page of them")})
	case op == nil:
		h.serveDocument(w, r)
	default:
		h.serve(w, r, op)
	}
}

func (h *handler) serveDocument(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		writeError(w, r, wrongMethod("GET, HEAD"))
		return
	}
	write(w, r, http.StatusOK, h.document)
}

func (h *handler) serve(w http.ResponseWriter, r *http.Request, op *operation) {
	err := h.answer(w, r, op)
	if err == nil {
		return
	}
	WriteError(w, r, h.Logger, err)
}

// requestID names a request whose answer tells less than the log.
const requestID = "X-Request-Id"

// WriteError answers a request with an error as the operations do: with the status of its
// code, and the body that the package comment shows. Errors without a code and internal ones
// reveal no details. An error of which the answer does not tell all is logged with the last
// segment of the path and a number that the answer has in the header X-Request-Id; a nil
// logger is slog.Default(). It is for handlers that are served beside the operations, or in
// front of them.
func WriteError(w http.ResponseWriter, r *http.Request, log *slog.Logger, err error) {
	defer writeError(w, r, err)
	if log == nil {
		log = slog.Default()
	}
	level := slog.LevelWarn
	switch _, told := describe(err); {
	case told.Error == err.Error():
		return
	case fault.CodeOf(err) == fault.Internal:
		level = slog.LevelError
	case r.Context().Err() != nil: // the caller has gone
		return
	}
	id := rand.Text()
	w.Header().Set(requestID, id)
	log.Log(r.Context(), level, "operation failed", "operation", path.Base(r.URL.Path), "request", id, "error", err)
}

// answer runs the operation and writes its answer. If it returns an error, nothing
// has been written. A panic on the way is an error with its stack.
func (h *handler) answer(w http.ResponseWriter, r *http.Request, op *operation) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v\n%s", p, debug.Stack())
		}
	}()
	run, err := h.read(w, r, op)
	if err != nil {
		return err
	}
	deadline := op.deadline(h.Deadlines)
	if op.waits {
		pushBack(w, r, time.Now().Add(deadline+10*time.Second))
	}
	ctx, cancel := context.WithTimeout(h.named(r), deadline)
	defer cancel()
	out, err := run(ctx, h.service)
	if err != nil {
		return err
	}
	if p, ok := out.(page); ok {
		p.link(w.Header())
		out = p.swaps
	}
	return writeJSON(w, r, http.StatusOK, out)
}

// pushBack moves the deadline for writing that the server has set for the
// connection. Where the server sets none, none is set, because nothing would
// remove it again. (The one for reading ends with the request's body.)
func pushBack(w http.ResponseWriter, r *http.Request, until time.Time) {
	if server, ok := r.Context().Value(http.ServerContextKey).(*http.Server); ok && server.WriteTimeout > 0 {
		// What wraps the writer may be unable to do it. Then the answer is lost.
		_ = http.NewResponseController(w).SetWriteDeadline(until)
	}
}
