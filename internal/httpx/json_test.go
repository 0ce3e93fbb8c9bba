package httpx_test

import (
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/internal/httpx"
)

func serve(t *testing.T, h http.HandlerFunc) string {
	s := httptest.NewServer(h)
	t.Cleanup(func() {
		s.CloseClientConnections()
		s.Close()
	})
	return s.URL
}

func TestGetAndPost(t *testing.T) {
	url := serve(t, func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		if r.Header.Get("X-Key") != "k" || r.Header.Get("Accept") != "application/json" {
			t.Errorf("headers %v", r.Header)
		}
		if (r.Method == http.MethodPost) != (r.Header.Get("Content-Type") == "application/json") {
			t.Errorf("%s with content type %q", r.Method, r.Header.Get("Content-Type"))
		}
		_, _ = io.WriteString(w, `{"got":"`+r.Method+strings.ReplaceAll(string(body), `"`, `'`)+`"} `)
	})
	j := httpx.JSON{Header: http.Header{"X-Key": {"k"}}}
	var out struct{ Got string }
	if err := j.Get(t.Context(), url, &out); err != nil || out.Got != "GET" {
		t.Errorf("get: %v, %v", out, err)
	}
	if err := j.Do(t.Context(), http.MethodPost, url, []byte(`{"a":1}`), &out); err != nil || out.Got != "POST{'a':1}" {
		t.Errorf("post: %v, %v", out, err)
	}
}

func TestStatusErrorCarriesTheBody(t *testing.T) {
	url := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusTeapot)
		_, _ = io.WriteString(w, `{"reason":"short and stout"}`)
	})
	err := httpx.JSON{}.Get(t.Context(), url, new(any))
	if e, ok := errors.AsType[*httpx.StatusError](err); !ok || e.Status != 418 || string(e.Body) != `{"reason":"short and stout"}` {
		t.Errorf("error %v", err)
	}
}

func TestBodiesAreBounded(t *testing.T) {
	for name, h := range map[string]http.HandlerFunc{
		"announced": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "5000000000")
			_, _ = io.WriteString(w, "1")
		},
		"streamed": func(w http.ResponseWriter, _ *http.Request) {
			for range 4096 {
				if _, err := io.WriteString(w, strings.Repeat(" ", 1024)); err != nil {
					return
				}
			}
		},
		"gzip bomb": func(w http.ResponseWriter, r *http.Request) {
			if !strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") {
				t.Error("no gzip asked for")
			}
			w.Header().Set("Content-Encoding", "gzip")
			z := gzip.NewWriter(w)
			for range 4096 {
				if _, err := io.WriteString(z, strings.Repeat(" ", 65536)); err != nil {
					return
				}
			}
			_ = z.Close()
		},
	} {
		t.Run(name, func(t *testing.T) {
			err := httpx.JSON{Limit: 65536}.Get(t.Context(), serve(t, h), new(any))
			if !errors.Is(err, httpx.ErrTooLarge) {
				t.Errorf("error %v, want too large", err)
			}
		})
	}
}

func TestBodiesOfRefusalsAreCut(t *testing.T) {
	url := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusBadGateway)
		_, _ = io.WriteString(w, strings.Repeat("x", 70000))
	})
	err := httpx.JSON{Limit: 65536}.Get(t.Context(), url, new(any))
	if e, ok := errors.AsType[*httpx.StatusError](err); !ok || e.Status != 502 || len(e.Body) != 65536 || len(e.Error()) > 300 {
		t.Errorf("error %.300v", err)
	}
}

func TestSlowAnswersEnd(t *testing.T) {
	for name, h := range map[string]http.HandlerFunc{
		"no headers": func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() },
		"body drips": func(w http.ResponseWriter, r *http.Request) {
			for r.Context().Err() == nil {
				_, _ = io.WriteString(w, " ")
				w.(http.Flusher).Flush()
				time.Sleep(5 * time.Millisecond)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			url := serve(t, h)
			start := time.Now()
			err := httpx.JSON{Timeout: 50 * time.Millisecond}.Get(t.Context(), url+"/?secret=hush", new(any))
			if fault.CodeOf(err) != fault.Timeout || strings.Contains(err.Error(), "hush") {
				t.Errorf("own deadline: %v", err)
			}
			ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
			defer cancel()
			if err := (httpx.JSON{}).Get(ctx, url, new(any)); fault.CodeOf(err) != fault.Timeout {
				t.Errorf("the caller's deadline: %v", err)
			}
			if took := time.Since(start); took > 30*time.Second {
				t.Errorf("took %v", took)
			}
		})
	}
}

func TestDecodeIsStrict(t *testing.T) {
	for text, ok := range map[string]bool{
		`{}`: true, " {} \n": true, `null`: true, `[1]`: true,
		``: false, ` `: false, `{} {}`: false, `{}x`: false, `{}]`: false, `{"a":`: false, "{\"a\":\"\xff\"}": false, `<html>`: false, `NaN`: false,
	} {
		if err := httpx.Decode([]byte(text), new(any)); (err == nil) != ok {
			t.Errorf("Decode(%q): %v", text, err)
		}
	}
	if err := httpx.Decode([]byte(strings.Repeat("[", 1<<20)), new(any)); err == nil {
		t.Error("endless nesting accepted")
	}
}

func FuzzDecode(f *testing.F) {
	for _, text := range []string{`{"a":[1,2,{"b":null}]}`, `{} {}`, "\xff", `[[[`, `"\ud800"`, `1e999`} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var raw json.RawMessage
		if err := httpx.Decode(data, &raw); (err == nil) != (json.Valid(data) && utf8.Valid(data)) {
			t.Errorf("Decode(%q) into raw: %v", data, err)
		}
	})
}

// Who refuses access may repeat the access key, which is nobody's business but the
// operator's; every other answer is told with its words.
func TestRefusedAccessIsToldWithoutItsWords(t *testing.T) {
	for status, silent := range map[int]bool{401: true, 402: true, 403: true, 407: true, 429: true, 400: false, 404: false, 500: false, 503: false} {
		err := &httpx.StatusError{Status: status, Body: []byte("no access with key-0123456789")}
		if got := !strings.Contains(err.Error(), "key-0123456789"); got != silent {
			t.Errorf("%d: %v", status, err)
		}
	}
}
