package httpapi

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/big"
	"mime"
	"net/http"
	"net/url"
	"strings"

	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/internal/httpx"
)

// Bounds of what the client reads: a list of ten thousand swaps has about 20 MB.
const (
	maxAnswer = 64 << 20
	maxError  = 64 << 10
)

// method is how an input is sent.
type method int

const (
	get       method = iota // in the query string
	post                    // as JSON in the body
	postOrGet               // post, or get if the service does not know the operation that way
)

// errUnknown says that the path or the method is unknown, to something that is not
// this package's handler.
var errUnknown = errors.New("the service does not offer this operation or method")

// send checks the input, sends it and returns the body of a successful answer.
func send[In any, P input[In]](ctx context.Context, c *client, how method, operation string, fields []field[In], in P) ([]byte, error) {
	body, _, err := ask(ctx, c, how, operation, fields, in)
	return body, err
}

// ask is send with the header of the answer.
func ask[In any, P input[In]](ctx context.Context, c *client, how method, operation string, fields []field[In], in P) ([]byte, http.Header, error) {
	if err := in.Validate(); err != nil {
		return nil, nil, err
	}
	values := make(map[string]any, len(fields))
	for _, f := range fields {
		if v := f.get((*In)(in)); v != nil {
			values[f.name] = v
		}
	}
	key, _ := values[swapKeyMember].(string)
	delete(values, swapKeyMember)
	if how != get {
		body, head, err := c.post(ctx, operation, key, values)
		if how != postOrGet || !errors.Is(err, errUnknown) {
			return body, head, err
		}
	}
	query := make(url.Values, len(values))
	for name, v := range values {
		query.Set(name, fmt.Sprint(v))
	}
	return c.do(ctx, operation, http.MethodGet, c.base+"/"+operation+"?"+query.Encode(), key, nil)
}

func (c *client) post(ctx context.Context, operation, key string, values map[string]any) ([]byte, http.Header, error) {
	text, err := json.Marshal(values)
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", operation, err)
	}
	return c.do(ctx, operation, http.MethodPost, c.base+"/"+operation, key, text)
}

func (c *client) do(ctx context.Context, operation, method, target, key string, body []byte) ([]byte, http.Header, error) {
	request, err := http.NewRequestWithContext(ctx, method, target, bytes.NewReader(body))
	if err != nil {
		return nil, nil, upstream(operation, httpx.WithoutURL(err))
	}
	request.Header = c.header.Clone()
	request.Header.Set("Accept", "application/json")
	if key != "" {
		request.Header.Set(swapKeyHeader, key)
	}
	if method == http.MethodPost {
		request.Header.Set("Content-Type", "application/json")
	}
	response, err := c.http.Do(request)
	if err != nil {
		return nil, nil, upstream(operation, httpx.WithoutURL(err))
	}
	defer response.Body.Close()
	most := maxAnswer
	if response.StatusCode != http.StatusOK {
		most = maxError
	}
	answer, err := io.ReadAll(io.LimitReader(response.Body, int64(most)+1))
	switch {
	case err != nil:
		return nil, nil, upstream(operation, err)
	case response.StatusCode != http.StatusOK:
		return nil, nil, readError(operation, response, answer)
	case len(answer) > most:
		return nil, nil, upstream(operation, fmt.Errorf("the response is larger than %d bytes", most))
	}
	return answer, response.Header, nil
}

// upstream is the error for a response that does not follow the API.
func upstream(operation string, err error) error {
	code := fault.Upstream
	if fault.CodeOf(err) == fault.Timeout {
		code = fault.Timeout
	}
	return newError(code, "", "%s: %w", operation, err)
}

// readError turns an answer that is not 200 into an error.
func readError(operation string, response *http.Response, text []byte) error {
	var body errorBody
	kind, _, _ := mime.ParseMediaType(response.Header.Get("Content-Type"))
	if kind != "application/json" || json.Unmarshal(text, &body) != nil || body.Error == "" {
		body = errorBody{Error: "the service responded with HTTP status " + response.Status}
	}
	if body.Code == "" {
		if s := response.StatusCode; s == http.StatusNotFound || s == http.StatusMethodNotAllowed {
			return newError(fault.Upstream, "", "%s: %s: %w", operation, body.Error, errUnknown)
		}
		body.Code = codeOf(response.StatusCode)
	}
	message := body.Error
	if body.Field != "" {
		message = strings.TrimPrefix(message, body.Field+": ")
	}
	return &fault.Error{Code: body.Code, Field: body.Field, Message: message, Min: bound(body.Min), Max: bound(body.Max)}
}

// codeOf guesses the code of an answer without one, as the reference's service
// gives it: 400 for whatever went wrong.
func codeOf(status int) fault.Code {
	switch status {
	case http.StatusBadRequest:
		return fault.InvalidInput
	case http.StatusGatewayTimeout:
		return fault.Timeout
	}
	return fault.Upstream
}

func bound(s string) *big.Int {
	if n, err := toBigInt("", value{kind: kindString, text: s}); err == nil {
		return n
	}
	return nil
}

func object[Out any](answer []byte, err error) (*Out, error) {
	if err != nil {
		return nil, err
	}
	var out *Out
	if err := json.Unmarshal(answer, &out); err != nil {
		return nil, unreadable(err)
	}
	if out == nil {
		return nil, unreadable(errors.New("null"))
	}
	return out, nil
}

func array[Out any](answer []byte, err error) ([]Out, error) {
	out, err := object[[]Out](answer, err)
	if err != nil {
		return nil, err
	}
	return *out, nil
}

func unreadable(err error) error {
	return newError(fault.Upstream, "", "the service's response could not be decoded: %w", err)
}
