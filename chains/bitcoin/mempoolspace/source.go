package mempoolspace

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/internal/async"
	"github.com/swapper-go/swapper/internal/httpx"
)

// source is one base URL.
type source struct {
	client *Client
	base   string
	slots  chan struct{} // bounds the requests at once
	proofs async.Group

	mu     sync.Mutex
	health health
	proven bool // serves the right network
	plain  bool // has no paths under v1/: a plain Esplora
}

func newSource(c *Client, base string) *source {
	return &source{client: c, base: base, slots: make(chan struct{}, c.o.Concurrency)}
}

// A response body of each kind is read up to a limit. A transaction of a whole
// block, in hex and once more disassembled, stays below the highest one.
const (
	textLimit = 64 << 10
	listLimit = 4 << 20
	txLimit   = 32 << 20
)

// get returns the body of a GET. Every status but 200 is a [*statusError].
func (s *source) get(ctx context.Context, path string, limit int64) ([]byte, error) {
	return s.do(ctx, http.MethodGet, path, nil, limit)
}

func (s *source) do(ctx context.Context, method, path string, body []byte, limit int64) ([]byte, error) {
	select {
	case s.slots <- struct{}{}:
		defer func() { <-s.slots }()
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	ctx, cancel := context.WithTimeoutCause(ctx, s.client.o.Timeout, fmt.Errorf("no response within %s: %w", s.client.o.Timeout, context.DeadlineExceeded))
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, method, s.base+path, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	resp, err := s.client.http.Do(req)
	if err != nil {
		return nil, plainError(ctx, err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		// The words matter, a whole page does not.
		text, _ := io.ReadAll(io.LimitReader(resp.Body, textLimit))
		return nil, &statusError{resp.StatusCode, strings.TrimSpace(string(text)), retryAfter(resp.Header)}
	}
	answer, err := httpx.ReadAll(resp, limit)
	if err != nil {
		return nil, plainError(ctx, err)
	}
	return answer, nil
}

// plainError is what went wrong without the URL that package http repeats in it.
func plainError(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if e, ok := errors.AsType[*url.Error](err); ok {
		return e.Err
	}
	return err
}

// getJSON decodes the answer to a GET into v.
func (s *source) getJSON(ctx context.Context, path string, limit int64, v any) error {
	body, err := s.get(ctx, path, limit)
	if err != nil {
		return err
	}
	return httpx.Decode(body, v)
}

// statusError is an answer whose status is not 200.
type statusError struct {
	status int
	text   string
	wait   time.Duration // Retry-After; 0 when absent
}

func (e *statusError) Error() string {
	text := e.text
	if len(text) > 200 {
		text = text[:200] + "..."
	}
	if text == "" || httpx.AboutAccess(e.status) {
		text = http.StatusText(e.status)
	}
	return fmt.Sprintf("HTTP status %d: %s", e.status, text)
}

// Public returns the status alone.
func (e *statusError) Public() string { return fmt.Sprintf("HTTP status %d", e.status) }

// says reports whether err is an answer with these words, whatever its status:
// servers disagree on that.
func says(err error, words ...string) bool {
	e, ok := errors.AsType[*statusError](err)
	return ok && slices.ContainsFunc(words, func(w string) bool { return strings.Contains(e.text, w) })
}

// retryAfter reads the header in both of its forms; at most ten minutes.
func retryAfter(h http.Header) time.Duration {
	const most = 10 * time.Minute
	text := h.Get("Retry-After")
	if seconds, err := strconv.ParseUint(text, 10, 31); err == nil {
		return min(time.Duration(seconds)*time.Second, most)
	}
	if at, err := http.ParseTime(text); err == nil {
		return max(0, min(time.Until(at), most))
	}
	return 0
}

func (s *source) isProven() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.proven
}

func (s *source) isPlain() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.plain
}

// missing notes that a path under v1/ does not exist here, and reports whether
// err says so: then the plain path is worth a try.
func (s *source) missing(err error) bool {
	e, ok := errors.AsType[*statusError](err)
	if !ok || e.status != http.StatusNotFound {
		return false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.plain = true
	return true
}

// doubt takes the note of missing back if the plain path failed as well: then it
// was not the path.
func (s *source) doubt(err error) {
	if err != nil {
		s.mu.Lock()
		s.plain = false
		s.mu.Unlock()
	}
}

// prove asks once for block 0: a server of another network may speak the same
// language and know the same addresses (protocol: bitcoin.md §1).
func (s *source) prove(ctx context.Context) error {
	if s.isProven() {
		return nil
	}
	_, err := async.Do(ctx, &s.proofs, "", func(ctx context.Context) (struct{}, error) {
		body, err := s.get(ctx, "block-height/0", textLimit)
		if err != nil {
			return struct{}{}, fmt.Errorf("genesis block: %w", err)
		}
		h, err := bitcoin.ParseHash(strings.TrimSpace(string(body)))
		if err != nil {
			return struct{}{}, fmt.Errorf("genesis block: %w", err)
		}
		if h != s.client.genesis {
			return struct{}{}, &networkError{s.client.network, h}
		}
		s.mu.Lock()
		s.proven = true
		s.mu.Unlock()
		return struct{}{}, nil
	})
	return err
}

// networkError is the discovery that a URL serves another network.
type networkError struct {
	want    bitcoin.Network
	genesis bitcoin.Hash
}

func (e *networkError) Error() string {
	return fmt.Sprintf("is not on Bitcoin %s: its genesis block is %s", e.want, e.genesis)
}
