package noderpc

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/internal/async"
	"github.com/swapper-go/swapper/internal/httpx"
)

const (
	maxBatch    = 100      // calls in one HTTP request
	answerLimit = 64 << 20 // bytes of an answer: a large mempool with all its transactions
)

// call is one JSON-RPC call.
type call struct {
	Version string `json:"jsonrpc"`
	ID      int    `json:"id"`
	Method  string `json:"method"`
	Params  []any  `json:"params"`
}

func method(name string, params ...any) call {
	if params == nil {
		params = []any{}
	}
	return call{Version: "1.0", Method: name, Params: params}
}

// answer is the node's answer to one call.
type answer struct {
	ID     *int            `json:"id"`
	Result json.RawMessage `json:"result"`
	Error  *rpcError       `json:"error"`
}

// Error codes of both nodes that the client acts on.
const (
	codeMethodNotFound = -32601
	codeInternal       = -32603
	codeMisc           = -1 // btcd: also a height out of range
	codeNotFound       = -5 // block, transaction, address
	codeOutOfRange     = -8 // height; another scan is running
	codeDecode         = -22
	codeInputs         = -25
	codePolicy         = -26
	codeInChain        = -27
	codeWarmup         = -28
)

// rpcError is the node's refusal of a call.
type rpcError struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
}

func (e *rpcError) Error() string {
	return fmt.Sprintf("the node returned error %q (%d)", e.Message, e.Code)
}

// Public returns the code alone.
func (e *rpcError) Public() string { return fmt.Sprintf("the node returned error %d", e.Code) }

// refused returns the node's refusal if err is one with one of the codes.
func refused(err error, codes ...int) (*rpcError, bool) {
	e, ok := errors.AsType[*rpcError](err)
	if !ok {
		return nil, false
	}
	for _, code := range codes {
		if e.Code == code {
			return e, true
		}
	}
	return nil, false
}

// decode puts the result into v; the node's refusal is a [*rpcError].
func (a answer) decode(v any) error {
	if a.Error != nil {
		return a.Error
	}
	return httpx.Decode(a.Result, v)
}

// isNull reports whether the call succeeded with nothing.
func (a answer) isNull() bool {
	return a.Error == nil && (len(a.Result) == 0 || string(a.Result) == "null")
}

// do sends calls together, in as many requests as they need, and returns their
// answers in the same order. Identical concurrent batches are sent once. An
// error means that the node did not answer.
func (c *Client) do(ctx context.Context, calls ...call) ([]answer, error) {
	return c.send(ctx, c.o.Timeout, calls)
}

func (c *Client) send(ctx context.Context, timeout time.Duration, calls []call) ([]answer, error) {
	answers := make([]answer, 0, len(calls))
	for len(calls) > 0 {
		n := min(len(calls), maxBatch)
		part, err := c.batch(ctx, timeout, calls[:n])
		if err != nil {
			return nil, err
		}
		answers, calls = append(answers, part...), calls[n:]
	}
	return answers, nil
}

func (c *Client) batch(ctx context.Context, timeout time.Duration, calls []call) ([]answer, error) {
	numbered := make([]call, len(calls))
	for i, r := range calls {
		r.ID = i
		numbered[i] = r
	}
	body, err := json.Marshal(numbered)
	if err != nil {
		return nil, err
	}
	answers, err := async.Do(ctx, &c.flight, string(body), func(ctx context.Context) ([]answer, error) {
		policy := httpx.RetryPolicy{Calls: c.o.Attempts, Delay: c.o.RetryDelay}
		policy.Final = func(err error) bool {
			e, ok := errors.AsType[*httpError](err)
			return ok && (e.status == http.StatusUnauthorized || e.status == http.StatusForbidden)
		}
		return httpx.Retry(ctx, policy, func(ctx context.Context) ([]answer, error) {
			return c.post(ctx, timeout, body, len(calls))
		})
	})
	return answers, c.failed(ctx, calls[0].Method, err)
}

// failed is the error of a request that the node did not answer.
func (c *Client) failed(ctx context.Context, method string, err error) error {
	if err == nil || ctx.Err() != nil {
		return err
	}
	return fault.New(fault.Upstream, "Bitcoin node%s, %s: %w", fault.Hidden(c.named()), method, httpx.Concealed(err, c.asked()))
}

// post sends one request in a slot.
func (c *Client) post(ctx context.Context, timeout time.Duration, body []byte, count int) ([]answer, error) {
	select {
	case c.slots <- struct{}{}:
		defer func() { <-c.slots }()
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	ctx, cancel := context.WithTimeoutCause(ctx, timeout, fmt.Errorf("no response within %s: %w", timeout, context.DeadlineExceeded))
	defer cancel()
	return c.attempt(ctx, c.http, body, count)
}

// attempt sends one request; a refused cookie is read anew once.
func (c *Client) attempt(ctx context.Context, by *http.Client, body []byte, count int) ([]answer, error) {
	status, text, err := c.exchange(ctx, by, body, false)
	if err == nil && status == http.StatusUnauthorized && c.o.CookieFile != "" {
		status, text, err = c.exchange(ctx, by, body, true)
	}
	if err != nil {
		return nil, err
	}
	answers, err := matched(text, count)
	if err != nil && status != http.StatusOK {
		return nil, &httpError{status, string(bytes.TrimSpace(text))}
	}
	if err != nil {
		return nil, err
	}
	for _, a := range answers {
		if a.Error != nil {
			a.Error.Message = string(httpx.Conceal([]byte(a.Error.Message), c.asked()))
		}
		if _, starting := refused(a.errOrNil(), codeWarmup); starting {
			return nil, a.Error
		}
	}
	return answers, nil
}

// httpError is an answer without JSON-RPC in it.
type httpError struct {
	status int
	text   string
}

func (e *httpError) Error() string {
	text := e.text
	if text == "" || httpx.AboutAccess(e.status) {
		text = http.StatusText(e.status)
	}
	return fmt.Sprintf("HTTP status %d: %.200s", e.status, text)
}

// Public returns the status alone.
func (e *httpError) Public() string { return fmt.Sprintf("HTTP status %d", e.status) }

func (a answer) errOrNil() error {
	if a.Error == nil {
		return nil
	}
	return a.Error
}

// matched reads the answers to a batch of count calls and puts them in order. A
// single refusal instead of a list is that of the whole batch.
func matched(text []byte, count int) ([]answer, error) {
	var list []answer
	if err := httpx.Decode(text, &list); err != nil {
		var one answer
		if httpx.Decode(text, &one) == nil && one.Error != nil {
			return nil, one.Error
		}
		return nil, err
	}
	answers := make([]answer, count)
	seen := make([]bool, count)
	for _, a := range list {
		if a.ID == nil || *a.ID < 0 || *a.ID >= count || seen[*a.ID] {
			return nil, errors.New("response to a call that was not made")
		}
		answers[*a.ID], seen[*a.ID] = a, true
	}
	for i, ok := range seen {
		if !ok {
			return nil, fmt.Errorf("no response to call %d of %d", i+1, count)
		}
	}
	return answers, nil
}

func (c *Client) exchange(ctx context.Context, by *http.Client, body []byte, anew bool) (status int, text []byte, err error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, c.o.URL, bytes.NewReader(body))
	if err != nil {
		return 0, nil, err
	}
	req.Header.Set("Content-Type", "application/json")
	user, password, err := c.credentials(anew)
	if err != nil {
		return 0, nil, err
	}
	if user != "" || password != "" {
		req.SetBasicAuth(user, password)
	}
	resp, err := by.Do(req)
	if err != nil {
		if ctx.Err() != nil {
			return 0, nil, context.Cause(ctx)
		}
		if e, ok := errors.AsType[*url.Error](err); ok {
			err = e.Err
		}
		return 0, nil, err
	}
	defer resp.Body.Close()
	text, err = httpx.ReadAll(resp, answerLimit)
	if err != nil && ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	return resp.StatusCode, text, err
}

// credentials returns user and password, from the cookie file if there is one.
func (c *Client) credentials(anew bool) (user, password string, err error) {
	if c.o.CookieFile == "" {
		return c.o.User, c.o.Password, nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.secret == "" || anew {
		text, err := os.ReadFile(c.o.CookieFile)
		if err != nil {
			return "", "", fmt.Errorf("cookie: %w", err)
		}
		c.secret = strings.TrimSpace(string(text))
	}
	user, password, ok := strings.Cut(c.secret, ":")
	if !ok {
		return "", "", errors.New("cookie file does not hold user:password")
	}
	return user, password, nil
}
