package httpapi

import (
	"errors"
	"math/big"
	"net/http"
	"strings"

	"github.com/swapper-go/swapper"
	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/internal/httpx"
)

// errorBody is the body of every answer that is not 200. Only `error` is part of
// the reference's wire contract (protocol: utilities.md §12).
type errorBody struct {
	Error string     `json:"error"`
	Code  fault.Code `json:"code"`
	Field string     `json:"field,omitempty"`
	Min   string     `json:"min,omitempty"`
	Max   string     `json:"max,omitempty"`
}

func wrongMethod(allowed string) error {
	header := allowed
	allowed = strings.ReplaceAll(allowed, ", ", " or ")
	return &httpx.Refusal{Status: http.StatusMethodNotAllowed, Allow: header, Err: newError(fault.Unsupported, "method", "must be %s", allowed)}
}

// newError returns an error about a field, which may be empty.
func newError(code fault.Code, field, format string, args ...any) *fault.Error {
	err := fault.New(code, format, args...)
	err.Field = field
	return err
}

// statusOf is the table of protocol: utilities.md §12.
func statusOf(code fault.Code) int {
	switch code {
	case fault.InvalidInput, fault.Unsupported, fault.AmountOutOfBounds:
		return http.StatusBadRequest
	case fault.NotFound:
		return http.StatusNotFound
	case fault.InvalidState:
		return http.StatusConflict
	case fault.Upstream:
		return http.StatusBadGateway
	case fault.Timeout:
		return http.StatusGatewayTimeout
	}
	return http.StatusInternalServerError
}

// describe returns the status and the body of an error. Errors without a code
// and internal ones reveal no details.
func describe(err error) (int, errorBody) {
	status := statusOf(fault.CodeOf(err))
	if r, ok := errors.AsType[*httpx.Refusal](err); ok {
		status = r.Status
	}
	e, ok := errors.AsType[*fault.Error](err)
	switch {
	case errors.Is(err, swapper.ErrClosed): // of a service that is shutting down: another one may already be up
		return http.StatusServiceUnavailable, errorBody{Error: swapper.ErrClosed.Error(), Code: fault.Internal}
	case status == http.StatusInternalServerError:
		return status, errorBody{Error: "internal error", Code: fault.Internal}
	case !ok: // the context's, or the network's
		return status, errorBody{Error: "the operation timed out", Code: fault.Timeout}
	}
	return status, errorBody{Error: e.Public(), Code: e.Code, Field: e.Field, Min: digits(e.Min), Max: digits(e.Max)}
}

func digits(n *big.Int) string {
	if n == nil {
		return ""
	}
	return n.String()
}
