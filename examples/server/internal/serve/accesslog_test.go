package serve

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strings"
	"testing"
	"time"
)

func TestLine(t *testing.T) {
	var out bytes.Buffer
	h := LogAccess(AccessLog{
		Logger: slog.New(slog.NewJSONHandler(&out, nil)), Client: func(*http.Request) netip.Addr { return netip.MustParseAddr("203.0.113.9") },
		Quiet: func(r *http.Request) bool { return r.URL.Path == "/healthz" },
	})(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		Add(r.Context(), slog.String("entry", "backend"))
		time.Sleep(time.Millisecond)
		w.WriteHeader(http.StatusTeapot)
		_, _ = w.Write([]byte("short and stout"))
	}))
	h.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest("GET", "/healthz", nil))
	if out.Len() != 0 {
		t.Errorf("a quiet request is logged: %s", &out)
	}
	r := httptest.NewRequest("POST", "/api/getSwapStatus?secret=preimage-text", strings.NewReader("body-text"))
	r.Header.Set("X-Api-Key", "key-text")
	h.ServeHTTP(httptest.NewRecorder(), r)
	var line struct {
		Msg, Method, Path, Client, Entry string
		Status                           int
		Bytes                            int64
		MS                               float64
	}
	if err := json.Unmarshal(out.Bytes(), &line); err != nil {
		t.Fatal(err)
	}
	if line.MS <= 0 || line.MS > 10_000 {
		t.Errorf("took %v ms", line.MS)
	}
	line.MS = 0
	if fmt.Sprint(line) != "{request POST /api/getSwapStatus 203.0.113.9 backend 418 15 0}" {
		t.Errorf("%+v", line)
	}
	for _, secret := range []string{"preimage-text", "body-text", "key-text"} {
		if strings.Contains(out.String(), secret) {
			t.Errorf("%s is logged: %s", secret, &out)
		}
	}
	out.Reset()
	h.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest("GET", "/"+strings.Repeat("x", 10_000), nil))
	if out.Len() > 1000 {
		t.Errorf("a path fills the log: %d bytes", out.Len())
	}
	out.Reset()
	forged := httptest.NewRequest("GET", "/", nil)
	forged.URL.Path = "/a\n{\"msg\":\"forged\"}"
	h.ServeHTTP(httptest.NewRecorder(), forged)
	if n := strings.Count(out.String(), "\n"); n != 1 {
		t.Errorf("%d lines for one request: %s", n, &out)
	}
	func() {
		defer func() { _ = recover() }()
		LogAccess(AccessLog{Logger: slog.New(slog.NewJSONHandler(&out, nil))})(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { panic("x") })).ServeHTTP(httptest.NewRecorder(), r)
	}()
	if n := strings.Count(out.String(), "\n"); n != 2 {
		t.Errorf("a request that panicked is not logged: %s", &out)
	}
}

type secretive struct{ Key string }

// Secrets are found wherever they are: in messages, attributes, groups, errors and
// values of any type.
func TestRedact(t *testing.T) {
	const secret, longer = "hunter2hunter2", "hunter2hunter2-and-more"
	var out bytes.Buffer
	log := slog.New(Redact(slog.NewJSONHandler(&out, nil), secret, longer, "short"))
	u, _ := url.Parse("https://user:" + secret + "@node.example/" + longer)
	log.With("in", "with "+secret).WithGroup("g").Info("message "+secret, "text", longer, "err", fmt.Errorf("call: %w", errors.New(secret)), "url", u,
		slog.Group("inner", "deep", secret), "struct", secretive{secret}, "pointer", &secretive{secret}, "list", []string{secret}, "map", map[string]any{secret: 1},
		secret, 1, "short", "short word", "fine", 7, "lazy", slog.AnyValue(lazy(secret)))
	if text := out.String(); strings.Contains(text, secret) || strings.Contains(text, "and-more") || !strings.Contains(text, `"fine":7`) || !strings.Contains(text, "short word") {
		t.Errorf("%s", text)
	}
	if n := strings.Count(out.String(), "***"); n < 11 {
		t.Errorf("%d places: %s", n, &out)
	}
	plain := slog.NewJSONHandler(&out, nil)
	if Redact(plain, "", "short") != slog.Handler(plain) {
		t.Error("nothing to redact, and another handler")
	}
}

// lazy is known only when it is logged.
type lazy string

func (l lazy) LogValue() slog.Value { return slog.StringValue("lazily " + string(l)) }
