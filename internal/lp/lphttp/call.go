package lphttp

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/swapper-go/swapper/internal/httpx"
	"github.com/swapper-go/swapper/internal/lp"
)

// quote asks a streamed endpoint until it answers, and returns the data of a
// success. The first attempt streams late parameters, the others wait for them
// (protocol: lp-protocol.md §3.5).
func (c *Client) quote(ctx context.Context, base, path string, b lp.Body, early lp.Early) (json.RawMessage, error) {
	return c.post(ctx, toQuote, c.o.Retry, base, path, b, early)
}

func (c *Client) post(ctx context.Context, why purpose, p httpx.RetryPolicy, base, path string, b lp.Body, early lp.Early) (json.RawMessage, error) {
	base, err := c.CheckURL(base)
	if err != nil {
		return nil, err
	}
	stream := !c.o.NoStreams
	data, err := httpx.Retry(ctx, p, func(ctx context.Context) (json.RawMessage, error) {
		data, err := c.attempt(ctx, why, base, path, b, stream, early)
		stream = false
		return data, err
	})
	if late, ok := errors.AsType[*lp.LateError](err); ok {
		err = late.Err
	}
	return data, err
}

// attempt makes one request and reads its answer.
func (c *Client) attempt(ctx context.Context, why purpose, base, path string, b lp.Body, stream bool, early lp.Early) (json.RawMessage, error) {
	began := time.Now()
	data, err := c.streamed(ctx, why, base, path, b, stream, early)
	c.note(base, time.Since(began), err)
	return data, err
}

func (c *Client) streamed(ctx context.Context, why purpose, base, path string, b lp.Body, stream bool, early lp.Early) (json.RawMessage, error) {
	release, err := c.place(ctx, base, why, c.o.PostTimeout)
	if err != nil {
		return nil, err
	}
	defer release()
	ctx, end := c.begin(ctx, c.o.PostTimeout)
	defer end(nil)

	var payload io.Reader
	contentType := "application/json"
	if stream && b.Late() {
		contentType = lp.StreamType
		pr, pw := io.Pipe()
		done := make(chan struct{})
		go func() {
			defer close(done)
			err := b.Stream(ctx, pw)
			if late, ok := errors.AsType[*lp.LateError](err); ok {
				end(late)
			}
			pw.CloseWithError(err)
		}()
		defer func() {
			end(nil)
			pr.Close()
			<-done
		}()
		payload = pr
	} else {
		whole, err := b.Whole(ctx)
		if err != nil {
			return nil, failed(ctx, base, err)
		}
		payload = bytes.NewReader(whole)
	}

	req, err := c.request(ctx, http.MethodPost, base+path, payload)
	if err != nil {
		return nil, err
	}
	req.Header.Set("Content-Type", contentType)
	req.Header.Set("Accept", lp.StreamType)
	resp, err := c.http.Do(req)
	if err != nil {
		return nil, failed(ctx, base, httpx.WithoutURL(err))
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		text, err := httpx.ReadAll(resp, c.o.Limit)
		if err != nil {
			return nil, failed(ctx, base, err)
		}
		return nil, lp.PlainRefusal(base, resp.StatusCode, string(text))
	}
	env, err := c.envelope(resp, early)
	if err != nil {
		return nil, failed(ctx, base, err)
	}
	return env.Quoted(base)
}

// place waits for a place among the calls to an LP, no longer than the call itself
// may take.
func (c *Client) place(ctx context.Context, base string, why purpose, patience time.Duration) (release func(), err error) {
	ctx, cancel := context.WithTimeoutCause(ctx, patience, errCrowded)
	defer cancel()
	if release, err = c.slots.take(ctx, base, why); err != nil {
		return nil, &lp.CallError{LP: base, Err: err}
	}
	return release, nil
}

// errCrowded is a fault.Timeout when it reaches the API.
var errCrowded = fmt.Errorf("%w: too many calls to this liquidity provider are in progress", context.DeadlineExceeded)

// begin bounds a call. Its end may carry the reason why it ended early.
func (c *Client) begin(ctx context.Context, timeout time.Duration) (context.Context, context.CancelCauseFunc) {
	ctx, stop := context.WithTimeout(ctx, timeout)
	ctx, end := context.WithCancelCause(ctx)
	return ctx, func(cause error) { end(cause); stop() }
}

// failed says why a call failed: the late parameter that was not to be had, or
// the deadline, rather than what the connection made of it.
func failed(ctx context.Context, base string, err error) error {
	if late, ok := errors.AsType[*lp.LateError](err); ok {
		return late
	}
	if late, ok := errors.AsType[*lp.LateError](context.Cause(ctx)); ok {
		return late
	}
	if ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	return &lp.CallError{LP: base, Err: err}
}

// envelope reads an answer, as frames or as one object.
func (c *Client) envelope(resp *http.Response, early lp.Early) (lp.Envelope, error) {
	if resp.Header.Get("Content-Type") == lp.StreamType {
		return lp.ReadFrames(resp.Body, c.o.Limit, early)
	}
	text, err := httpx.ReadAll(resp, c.o.Limit)
	if err != nil {
		return lp.Envelope{}, err
	}
	return lp.ReadObject(text, early)
}

// get makes a GET and returns the body of an answer with status 200.
func (c *Client) get(ctx context.Context, why purpose, base, path string) ([]byte, error) {
	base, err := c.CheckURL(base)
	if err != nil {
		return nil, err
	}
	return httpx.Retry(ctx, c.o.Retry, func(ctx context.Context) ([]byte, error) {
		return c.once(ctx, why, base, http.MethodGet, path, nil)
	})
}

// once makes one plain request.
func (c *Client) once(ctx context.Context, why purpose, base, method, path string, payload []byte) ([]byte, error) {
	began := time.Now()
	text, err := c.plain(ctx, why, base, method, path, payload)
	c.note(base, time.Since(began), err)
	return text, err
}

func (c *Client) plain(ctx context.Context, why purpose, base, method, path string, payload []byte) ([]byte, error) {
	release, err := c.place(ctx, base, why, c.o.GetTimeout)
	if err != nil {
		return nil, err
	}
	defer release()
	ctx, end := c.begin(ctx, c.o.GetTimeout)
	defer end(nil)
	var reader io.Reader
	if payload != nil {
		reader = bytes.NewReader(payload)
	}
	req, err := c.request(ctx, method, base+path, reader)
	if err != nil {
		return nil, err
	}
	if payload != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	resp, err := c.http.Do(req)
	if err != nil {
		return nil, failed(ctx, base, httpx.WithoutURL(err))
	}
	defer resp.Body.Close()
	text, err := httpx.ReadAll(resp, c.o.Limit)
	if err != nil {
		return nil, failed(ctx, base, err)
	}
	if resp.StatusCode != http.StatusOK {
		return nil, lp.Refusal(base, resp.StatusCode, string(text))
	}
	return text, nil
}
