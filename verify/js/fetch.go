//go:build js

package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"syscall/js"
)

// fetcher sends requests with the page's fetch. Package net/http has a transport for browsers
// of its own, which does not work in node.
type fetcher struct{ fetch js.Value }

// maxAnswer is more than any answer has that is read here.
const maxAnswer = 64 << 20

// RoundTrip implements [http.RoundTripper]. Neither cookies nor the page's address are sent,
// and redirects are refused.
func (f fetcher) RoundTrip(r *http.Request) (*http.Response, error) {
	ctx := r.Context()
	headers := map[string]any{}
	for name := range r.Header {
		headers[name] = r.Header.Get(name)
	}
	abort := js.Global().Get("AbortController").New()
	ended := context.AfterFunc(ctx, func() { abort.Call("abort") })
	defer ended()
	options := map[string]any{"method": r.Method, "headers": headers, "signal": abort.Get("signal"), "redirect": "error", "credentials": "omit", "referrerPolicy": "no-referrer", "cache": "no-store"}
	if r.Body != nil {
		body, err := io.ReadAll(r.Body)
		_ = r.Body.Close()
		if err != nil {
			return nil, err
		}
		if len(body) > 0 {
			options["body"] = toJS(body)
		}
	}
	response, err := call(ctx, f.fetch, r.URL.String(), options)
	if err != nil {
		return nil, fmt.Errorf("%s cannot be reached: %w", r.URL.Host, err)
	}
	body, err := readBody(ctx, response)
	if err != nil {
		abort.Call("abort")
		return nil, err
	}
	status := response.Get("status").Int()
	header := http.Header{}
	take := js.FuncOf(func(_ js.Value, args []js.Value) any { header.Add(args[1].String(), args[0].String()); return nil })
	response.Get("headers").Call("forEach", take)
	take.Release()
	return &http.Response{Status: fmt.Sprintf("%d %s", status, http.StatusText(status)), StatusCode: status, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: header, Body: io.NopCloser(bytes.NewReader(body)), ContentLength: int64(len(body)), Request: r}, nil
}

// readBody reads an answer up to the bound.
func readBody(ctx context.Context, response js.Value) (body []byte, err error) {
	if response.Get("body").IsNull() {
		return nil, nil
	}
	reader := response.Get("body").Call("getReader")
	for {
		part, err := await(ctx, reader.Call("read"))
		if err != nil {
			return nil, err
		}
		if part.Get("done").Bool() {
			return body, nil
		}
		bytes := part.Get("value")
		at := len(body)
		if at+bytes.Length() > maxAnswer {
			return nil, fmt.Errorf("the response is larger than %d bytes", maxAnswer)
		}
		body = append(body, make([]byte, bytes.Length())...)
		js.CopyBytesToGo(body[at:], bytes)
	}
}

func toJS(b []byte) js.Value {
	v := js.Global().Get("Uint8Array").New(len(b))
	js.CopyBytesToJS(v, b)
	return v
}
