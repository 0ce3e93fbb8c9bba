// Package httpx holds what every HTTP client of the library needs so that
// nothing outside can make it hang, allocate without bound or call where it
// must not: bounded bodies, strict JSON, and a guard on the addresses dialled.
//
// [Retry] repeats a call that may fail for a while.
//
// [DialWebSocket] opens WebSocket connections to servers that are not trusted, and reads from
// them: redirects are not followed, messages are bounded, and errors repeat neither a URL,
// which may hold a key, nor what the server wrote.
//
// For servers it has what the API and the packages of middleware share: errors with a status
// of their own, the refusals of middleware in the form of the API's errors, and a record of how
// a request was answered.
package httpx

import (
	"errors"
	"fmt"
	"io"
	"net/http"
)

// ErrTooLarge is the error of a body past its limit.
var ErrTooLarge = errors.New("response too large")

// ReadAll returns the body of resp, which may have limit bytes at most after
// decompression; past that the error wraps [ErrTooLarge] and the rest stays
// unread. It does not close the body.
func ReadAll(resp *http.Response, limit int64) ([]byte, error) {
	if resp.ContentLength > limit {
		return nil, fmt.Errorf("%w: %d bytes, at most %d are accepted", ErrTooLarge, resp.ContentLength, limit)
	}
	data, err := io.ReadAll(io.LimitReader(resp.Body, limit+1))
	if int64(len(data)) > limit {
		return nil, fmt.Errorf("%w: more than %d bytes", ErrTooLarge, limit)
	}
	if err != nil {
		return nil, fmt.Errorf("read the response: %w", err)
	}
	return data, nil
}
