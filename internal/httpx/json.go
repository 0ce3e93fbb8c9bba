package httpx

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"time"
	"unicode/utf8"
)

// Doer sends a request; [*http.Client] is one. It must honour the request's
// context while the body is read too.
type Doer interface {
	Do(*http.Request) (*http.Response, error)
}

// JSON sends requests whose answers are JSON. The zero value uses
// [http.DefaultClient], 15 s and 1 MiB. It is not changed by use and may be
// shared if its Doer may.
type JSON struct {
	HTTP    Doer
	Timeout time.Duration // of one request, headers and body; 0 means 15 s; the context may end it sooner
	Limit   int64         // bytes of an answer after decompression; 0 means 1 MiB
	Header  http.Header   // added to every request
}

// StatusError is an answer whose status is not 2xx.
type StatusError struct {
	Status int
	Body   []byte // as received, but for access keys, cut at the limit of the request
}

// AboutAccess reports whether a status says that access was refused. The text of such
// an answer may repeat the access key, which is the operator's: it is not even logged.
func AboutAccess(status int) bool {
	return slices.Contains([]int{http.StatusUnauthorized, http.StatusPaymentRequired, http.StatusForbidden, http.StatusProxyAuthRequired, http.StatusTooManyRequests}, status)
}

// Error returns the status and the start of the body.
func (e *StatusError) Error() string {
	const shown = 200
	switch body := bytes.TrimSpace(e.Body); {
	case len(body) == 0 || AboutAccess(e.Status):
		return fmt.Sprintf("HTTP status %d", e.Status)
	case len(body) > shown:
		return fmt.Sprintf("HTTP status %d: %q...", e.Status, body[:shown])
	default:
		return fmt.Sprintf("HTTP status %d: %q", e.Status, body)
	}
}

// Public returns the status alone.
func (e *StatusError) Public() string { return fmt.Sprintf("HTTP status %d", e.Status) }

// Get requests url and decodes the answer into out as [Decode] does. A status
// that is not 2xx is a [*StatusError]; errors never contain the query of url,
// which may be secret.
func (j JSON) Get(ctx context.Context, url string, out any) error {
	return j.Do(ctx, http.MethodGet, url, nil, out)
}

// Do sends body (nil: none) and decodes the answer into out; see [JSON.Get].
func (j JSON) Do(ctx context.Context, method, url string, body []byte, out any) error {
	answer, err := j.Raw(ctx, method, url, body)
	if err != nil {
		return err
	}
	return Decode(answer, out)
}

// Raw is [JSON.Do] without the decoding: it returns the body of a 2xx answer.
func (j JSON) Raw(ctx context.Context, method, url string, body []byte) ([]byte, error) {
	timeout, limit, client := j.Timeout, j.Limit, j.HTTP
	if timeout <= 0 {
		timeout = 15 * time.Second
	}
	if limit <= 0 {
		limit = 1 << 20
	}
	if client == nil {
		client = http.DefaultClient
	}
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, method, url, bytes.NewReader(body))
	if err != nil {
		return nil, WithoutURL(err)
	}
	req.Header.Set("Accept", "application/json")
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	for name, values := range j.Header {
		req.Header[name] = values
	}
	resp, err := client.Do(req)
	if err != nil {
		return nil, WithoutURL(err)
	}
	defer resp.Body.Close()
	if resp.StatusCode < 200 || resp.StatusCode > 299 {
		// The status is the news; of the body as much as can be had.
		body, _ := io.ReadAll(io.LimitReader(resp.Body, limit))
		return nil, &StatusError{Status: resp.StatusCode, Body: Conceal(body, url)}
	}
	return ReadAll(resp, limit)
}

// Decode decodes data, which must be one JSON value in valid UTF-8 with nothing
// but white space after it, into v.
func Decode(data []byte, v any) error {
	if !utf8.Valid(data) {
		return errors.New("response is not valid UTF-8")
	}
	d := json.NewDecoder(bytes.NewReader(data))
	if err := d.Decode(v); err != nil {
		if errors.Is(err, io.EOF) {
			err = io.ErrUnexpectedEOF
		}
		return fmt.Errorf("response is not the expected JSON: %w", err)
	}
	if _, err := d.Token(); err != io.EOF {
		return errors.New("response has more than one JSON value")
	}
	return nil
}

// WithoutURL drops the URL that net/http puts into its errors: queries carry
// preimages, k1 values and API keys.
func WithoutURL(err error) error {
	if e, ok := errors.AsType[*url.Error](err); ok {
		return e.Err
	}
	return err
}
