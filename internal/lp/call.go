package lp

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
	"github.com/swapper-go/swapper/internal/retry"
)

// Codes of success: of streamed endpoints, and of quotes of trusted gas swaps.
const (
	codeQuoted  = 20000
	codeTrusted = 10000
)

// Early receives what an LP sends while it still computes a quote (protocol:
// lp-protocol.md §3.2). Each function may be nil, and is called at most once per
// attempt, before the call returns; it must not block.
type Early struct {
	SignData func(json.RawMessage) // data of the chain to sign with, fetched ahead
	NodeKey  func(string)          // the LP's Lightning node, 66 hexadecimal digits if it is honest
}

// quote asks a streamed endpoint until it answers, and returns the data of a
// success. The first attempt streams late parameters, the others wait for them
// (protocol: lp-protocol.md §3.5).
func (c *Client) quote(ctx context.Context, base, path string, b body, early Early) (json.RawMessage, error) {
	return c.post(ctx, toQuote, c.o.Retry, base, path, b, early)
}

func (c *Client) post(ctx context.Context, why purpose, p retry.Policy, base, path string, b body, early Early) (json.RawMessage, error) {
	base, err := c.CheckURL(base)
	if err != nil {
		return nil, err
	}
	stream := !c.o.NoStreams
	data, err := retry.Do(ctx, p, func(ctx context.Context) (json.RawMessage, error) {
		data, err := c.attempt(ctx, why, base, path, b, stream, early)
		stream = false
		return data, err
	})
	if late, ok := errors.AsType[*lateError](err); ok {
		err = late.error
	}
	return data, err
}

// attempt makes one request and reads its answer.
func (c *Client) attempt(ctx context.Context, why purpose, base, path string, b body, stream bool, early Early) (json.RawMessage, error) {
	began := time.Now()
	data, err := c.streamed(ctx, why, base, path, b, stream, early)
	c.note(base, time.Since(began), err)
	return data, err
}

func (c *Client) streamed(ctx context.Context, why purpose, base, path string, b body, stream bool, early Early) (json.RawMessage, error) {
	release, err := c.place(ctx, base, why, c.o.PostTimeout)
	if err != nil {
		return nil, err
	}
	defer release()
	ctx, end := c.begin(ctx, c.o.PostTimeout)
	defer end(nil)

	var payload io.Reader
	contentType := "application/json"
	if stream && len(b.late) > 0 {
		contentType = streamType
		pr, pw := io.Pipe()
		done := make(chan struct{})
		go func() {
			defer close(done)
			err := b.stream(ctx, pw)
			if late, ok := errors.AsType[*lateError](err); ok {
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
		whole, err := b.whole(ctx)
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
	req.Header.Set("Accept", streamType)
	resp, err := c.http.Do(req)
	if err != nil {
		return nil, failed(ctx, base, withoutURL(err))
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		text, err := httpx.ReadAll(resp, c.o.Limit)
		if err != nil {
			return nil, failed(ctx, base, err)
		}
		return nil, plainRefusal(base, resp.StatusCode, string(text))
	}
	env, err := c.envelope(resp, early)
	if err != nil {
		return nil, failed(ctx, base, err)
	}
	return env.result(base, codeQuoted)
}

// place waits for a place among the calls to an LP, no longer than the call itself
// may take.
func (c *Client) place(ctx context.Context, base string, why purpose, patience time.Duration) (release func(), err error) {
	ctx, cancel := context.WithTimeoutCause(ctx, patience, errCrowded)
	defer cancel()
	if release, err = c.slots.take(ctx, base, why); err != nil {
		return nil, &CallError{base, err}
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
	if late, ok := errors.AsType[*lateError](err); ok {
		return late
	}
	if late, ok := errors.AsType[*lateError](context.Cause(ctx)); ok {
		return late
	}
	if ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	return &CallError{base, err}
}

// stream writes the body as frames: what is known at once, then each late
// parameter in a frame of its own. One without a value makes an empty frame.
func (b *body) stream(ctx context.Context, w io.Writer) error {
	write := func(params []Param) error {
		frame, err := appendFrame(nil, encode(params))
		if err != nil {
			return err
		}
		_, err = w.Write(frame)
		return err
	}
	if err := write(b.params); err != nil {
		return err
	}
	return b.each(ctx, func(name string, value json.RawMessage) error {
		if value == nil {
			return write(nil)
		}
		return write([]Param{{name, value}})
	})
}

// whole returns the body as one object, once everything is known.
func (b *body) whole(ctx context.Context) ([]byte, error) {
	all := body{params: append([]Param(nil), b.params...)}
	err := b.each(ctx, func(name string, value json.RawMessage) error {
		if value != nil {
			all.set(name, value)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return encode(all.params), nil
}

// envelope is what a streamed endpoint answers (protocol: lp-protocol.md §3.2).
type envelope struct {
	code, msg, data json.RawMessage
}

// envelope reads an answer, as frames or as one object, until it has all that
// it wants or the answer ends.
func (c *Client) envelope(resp *http.Response, early Early) (envelope, error) {
	if resp.Header.Get("Content-Type") != streamType {
		text, err := httpx.ReadAll(resp, c.o.Limit)
		if err != nil {
			return envelope{}, err
		}
		fields, err := object(text)
		if err != nil {
			return envelope{}, err
		}
		return readEnvelope(func() (map[string]json.RawMessage, error) {
			next := fields
			if fields = nil; next == nil {
				return nil, io.EOF
			}
			return next, nil
		}, early)
	}
	f := frames{r: resp.Body, left: int(c.o.Limit)}
	return readEnvelope(f.next, early)
}

// readEnvelope collects the parameters of an answer; of each the first counts.
func readEnvelope(next func() (map[string]json.RawMessage, error), early Early) (envelope, error) {
	var e envelope
	seen := map[string]json.RawMessage{}
	for {
		fields, err := next()
		if err == io.EOF || err == io.ErrUnexpectedEOF {
			break // what is missing shows below
		}
		if err != nil {
			return e, err
		}
		for _, name := range []string{"signDataPrefetch", "lnPublicKey", "code", "msg", "data"} {
			value, ok := fields[name]
			if _, before := seen[name]; before || !ok {
				continue
			}
			seen[name] = value
			early.tell(name, value)
		}
		e = envelope{seen["code"], seen["msg"], seen["data"]}
		if e.code != nil && e.msg != nil && e.data != nil {
			return e, nil // whatever follows says nothing that is wanted
		}
	}
	if e.code == nil || e.msg == nil {
		return e, errors.New("the response ends before code and msg")
	}
	return e, nil
}

func (e Early) tell(name string, value json.RawMessage) {
	switch {
	case name == "signDataPrefetch" && e.SignData != nil && string(value) != "null":
		e.SignData(value)
	case name == "lnPublicKey" && e.NodeKey != nil:
		if key, ok := jsonString(value); ok {
			e.NodeKey(key)
		}
	}
}

// result returns the data of a success, or the refusal.
func (e envelope) result(base string, success int) (json.RawMessage, error) {
	code, ok := jsonNumber(e.code)
	if !ok {
		return nil, &CallError{base, errors.New("code: must be a number")}
	}
	if _, ok := jsonString(e.msg); !ok {
		return nil, &CallError{base, errors.New("msg: must be a string")}
	}
	if code == float64(success) {
		return e.data, nil
	}
	params := []Param{{"code", e.code}, {"msg", e.msg}}
	if e.data != nil {
		params = append(params, Param{"data", e.data})
	}
	return nil, refusal(base, http.StatusBadRequest, string(encode(params)))
}

// get makes a GET and returns the body of an answer with status 200.
func (c *Client) get(ctx context.Context, why purpose, base, path string) ([]byte, error) {
	base, err := c.CheckURL(base)
	if err != nil {
		return nil, err
	}
	return retry.Do(ctx, c.o.Retry, func(ctx context.Context) ([]byte, error) {
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
		return nil, failed(ctx, base, withoutURL(err))
	}
	defer resp.Body.Close()
	text, err := httpx.ReadAll(resp, c.o.Limit)
	if err != nil {
		return nil, failed(ctx, base, err)
	}
	if resp.StatusCode != http.StatusOK {
		return nil, refusal(base, resp.StatusCode, string(text))
	}
	return text, nil
}

// bad is the refusal of data that lacks a field or has one of the wrong type.
func bad(base string, err error) error {
	return &RequestError{LP: base, Status: http.StatusOK, Message: fmt.Sprintf("the response does not follow the protocol: %v", err)}
}
