package main

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/swapper-go/swapper"
	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/httpapi"
	"github.com/swapper-go/swapper/httpapi/limit"
	"github.com/swapper-go/swapper/internal/vectors"
)

func header(in map[string]string) http.Header {
	h := http.Header{}
	for name, value := range in {
		h.Set(name, value)
	}
	return h
}

// admits is who may call by the configuration's list of entries.
func admits(t testing.TB, entries, global string) *admission {
	t.Helper()
	if global == "" {
		global = `{"windowMs": 60000, "maxRequests": 1000}`
	}
	var c config
	if err := parse([]byte(`{"auth": `+entries+`, "rateLimit": `+global+`}`), nil, &c); err != nil {
		t.Fatal(err)
	}
	a, err := c.admission(quiet())
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func TestVectorsHTTPAuth(t *testing.T) {
	vectors.Each(t, "utilities", "http_auth", func(t *testing.T, c *vectors.Case) {
		var in struct {
			Auth    json.RawMessage
			Headers map[string]string
		}
		c.Input(t, &in)
		var want struct {
			Entry     *struct{ Name, Type string }
			RateLimit json.RawMessage
			Status    int
		}
		c.Expected(t, &want)
		a := admits(t, string(in.Auth), `{"windowMs": 60000, "maxRequests": 7}`)
		id, err := a.chain.Authenticate(&http.Request{Header: header(in.Headers)})
		if want.Entry != nil && want.Entry.Type == "jwt" && claim(in.Headers["authorization"], "exp") == nil {
			c.Differ(t, "http-token-expiry")
			if err == nil && id.Entry == want.Entry.Name {
				t.Error("a token is admitted that never expires")
			}
			a.sameLimit(t, want.Entry.Name, want.RateLimit)
			return
		}
		if want.Entry != nil && want.Entry.Type == "jwt" && claim(in.Headers["authorization"], "sub") == nil {
			c.Differ(t, "http-token-subject")
			if err == nil && id.Entry == want.Entry.Name || !strings.Contains(fmt.Sprint(err), `claim "sub"`) { // all else is as it must be
				t.Errorf("a token that names nobody: %+v, %v", id, err)
			}
			a.sameLimit(t, want.Entry.Name, want.RateLimit)
			return
		}
		if scheme, rest, _ := strings.Cut(in.Headers["authorization"], " "); want.Entry == nil && (scheme == "bearer" || strings.HasPrefix(rest, " ")) && rest != " " {
			c.Differ(t, "http-token-scheme")
			if err == nil || !strings.Contains(err.Error(), `claim "sub"`) || want.Status != http.StatusUnauthorized { // the token itself is read, and names nobody
				t.Errorf("%+v, %v", id, err)
			}
			return
		}
		if want.Entry == nil {
			if err == nil || want.Status != http.StatusUnauthorized {
				t.Errorf("admitted as %+v", id)
			}
			return
		}
		if err != nil || id.Entry != want.Entry.Name || string(id.Kind) != want.Entry.Type {
			t.Fatalf("%+v, %v, want %+v", id, err, want.Entry)
		}
		a.sameLimit(t, id.Entry, want.RateLimit)
	})
}

// sameLimit compares the rate limit of an entry of the configuration.
func (a *admission) sameLimit(t *testing.T, entry string, want json.RawMessage) {
	t.Helper()
	at, known := a.rates[entry]
	if !known {
		t.Errorf("the configuration has no entry %q", entry)
		return
	}
	switch string(want) {
	case `"global"`:
		if at == nil || *at != a.global {
			t.Errorf("limit %v, want the global one", at)
		}
	case "null":
		if at != nil {
			t.Errorf("limit %v, want none", at)
		}
	default:
		vectors.SameJSON(t, want, map[string]any{"windowMs": at.WindowMs, "maxRequests": at.MaxRequests})
	}
}

// claim returns a claim of a bearer token, nil if it has none.
func claim(authorization, name string) json.RawMessage {
	parts := strings.Split(strings.TrimPrefix(authorization, "Bearer "), ".")
	if len(parts) != 3 {
		return nil
	}
	text, err := base64.RawURLEncoding.DecodeString(parts[1])
	if err != nil {
		return nil
	}
	var claims map[string]json.RawMessage
	if json.Unmarshal(text, &claims) != nil {
		return nil
	}
	return claims[name]
}

func TestVectorsHTTPRateLimit(t *testing.T) {
	vectors.Each(t, "utilities", "http_rate_limit", func(t *testing.T, c *vectors.Case) {
		type answered struct {
			Status int
			Body   *struct{ RetryAfter int64 }
		}
		var in struct {
			Global, Override rateConfig
			Steps            []struct {
				NowMs     int64
				IP, Limit string
			}
		}
		c.Input(t, &in)
		var want struct{ Answers []answered }
		c.Expected(t, &want)
		limits := map[string]*rateConfig{"global": &in.Global, "override": &in.Override, "none": nil}

		// The reference has one bucket per address. Where an address uses entries
		// with different limits, ours has one for each: modelled here anew.
		used := map[string]map[string]bool{}
		for _, step := range in.Steps {
			if limits[step.Limit] == nil {
				continue
			}
			if used[step.IP] == nil {
				used[step.IP] = map[string]bool{}
			}
			used[step.IP][step.Limit] = true
		}
		own := false
		for _, entries := range used {
			own = own || len(entries) > 1
		}
		if own {
			c.Differ(t, "http-buckets")
		}
		model := map[string][]int64{} // the times of requests that were let through in the current window
		var now time.Time
		l := limit.New(func() time.Time { return now })
		for i, step := range in.Steps {
			now = time.UnixMilli(step.NowMs)
			at := limits[step.Limit]
			rate := limit.Rate{}
			if at != nil {
				rate = at.rate()
			}
			ok, retry := l.AllowSender(limit.Line(step.Limit, netip.MustParseAddr(step.IP)), rate, 1)
			seconds := int64((retry + time.Second - 1) / time.Second)

			expected := want.Answers[i]
			if own {
				expected = answered{Status: http.StatusOK}
				key := step.IP + " " + step.Limit
				if at != nil {
					times := model[key]
					if len(times) > 0 && step.NowMs >= times[0]+at.WindowMs {
						times = nil
					}
					if int64(len(times)) >= at.MaxRequests {
						expected.Status = http.StatusTooManyRequests
						expected.Body = &struct{ RetryAfter int64 }{(times[0] + at.WindowMs - step.NowMs + 999) / 1000}
					} else {
						times = append(times, step.NowMs)
					}
					model[key] = times
				}
			}
			if limited := expected.Status == http.StatusTooManyRequests; ok == limited || limited && seconds != expected.Body.RetryAfter {
				t.Fatalf("step %d %+v: %v, %d s, want %+v", i, step, ok, seconds, expected)
			}
		}
	})
}

// parses is a service that knows one operation.
type parses struct{ swapper.Service }

func (parses) ParseAddress(_ context.Context, in swapper.ParseAddressInput) (*swapper.ParseAddressOutput, error) {
	if err := in.Validate(); err != nil {
		return nil, err
	}
	if !strings.HasPrefix(in.Address, "0x") {
		return nil, &fault.Error{Code: fault.InvalidInput, Field: "address", Message: "is no address"}
	}
	return &swapper.ParseAddressOutput{Address: in.Address, Type: "CITREA"}, nil
}

func quiet() *slog.Logger { return slog.New(slog.DiscardHandler) }

func newService(t testing.TB, entries, global string) *service {
	t.Helper()
	same := func(next http.Handler) http.Handler { return next }
	return &service{base: "/api", admission: admits(t, entries, global), cors: same, log: quiet(), health: &health{ready: func(context.Context) (swapper.Readiness, error) { return swapper.Readiness{}, nil }, log: quiet()}}
}

func TestVectorsHTTPService(t *testing.T) {
	bare := httptest.NewServer(httpapi.New(parses{}, httpapi.Options{Logger: quiet()}))
	defer bare.Close()
	s := newService(t, `[{"type": "apiKey", "name": "backend", "apiKey": "secret"}]`, "")
	s.base = "/"
	s.cors = (&corsConfig{Origin: texts{"https://app.example"}}).middleware()
	whole := httptest.NewServer(s.handler(parses{}))
	defer whole.Close()
	vectors.Each(t, "utilities", "http_service", func(t *testing.T, c *vectors.Case) {
		var in struct {
			Method, Path, Body string
			Headers            map[string]string
		}
		c.Input(t, &in)
		var want struct {
			Status  int
			Headers map[string]string
			Body    struct{ Error string }
		}
		c.Expected(t, &want)
		var size int
		if n, _ := fmt.Sscanf(in.Body, "%d bytes", &size); n == 1 {
			in.Body = `{"srcToken":"` + strings.Repeat("a", size-len(`{"srcToken":""}`)) + `"}`
		}
		status, head, text := call(t, whole.URL, in.Method, in.Path, in.Body, in.Headers)
		// The reference tells every page what one page may do; ours tells a page what it
		// asked for, and only one that may.
		allowed, vary := want.Headers["access-control-allow-origin"], want.Headers["vary"]
		if (allowed != "" || vary != "") && (allowed != "https://app.example" || vary != "Origin") { // none where it has not read the body
			t.Errorf("the reference tells pages %v", want.Headers)
		}
		origin := in.Headers["origin"]
		may := origin == want.Headers["access-control-allow-origin"]
		if got := head.Get("Access-Control-Allow-Origin"); may && got != origin || !may && got != "" {
			t.Errorf("a page of %q: may be called by %q", origin, got)
		}
		if got, asked := head.Get("Access-Control-Allow-Methods"), in.Headers["access-control-request-method"]; may && got != asked || !may && got != "" {
			t.Errorf("a page of %q that asks for %q: %q", origin, asked, got)
		}
		if !strings.Contains(strings.Join(head.Values("Vary"), ","), "Origin") {
			t.Errorf("Vary: %q", head.Values("Vary"))
		}
		if want.Headers["access-control-allow-origin"] != head.Get("Access-Control-Allow-Origin") || want.Headers["access-control-allow-methods"] != head.Get("Access-Control-Allow-Methods") {
			c.Differ(t, "http-cors")
		}
		switch {
		case in.Method == http.MethodOptions:
			if status != want.Status || text != "" {
				t.Errorf("%d %q, want %d", status, text, want.Status)
			}
		case in.Headers["x-api-key"] == "":
			if strings.HasPrefix(want.Headers["content-type"], "text/html") {
				c.Differ(t, "http-key-first")
				if want.Status != http.StatusBadRequest {
					t.Errorf("the reference answers %d before it looks for a key", want.Status)
				}
				want.Status, want.Body.Error = http.StatusUnauthorized, "Unauthorized"
			}
			var got struct{ Error string }
			if err := json.Unmarshal([]byte(text), &got); err != nil || status != http.StatusUnauthorized || status != want.Status || got != want.Body {
				t.Errorf("%d %s, want 401", status, text)
			}
		default: // the mount's own answer, which its own test judges
			bareStatus, _, bareText := call(t, bare.URL, in.Method, in.Path, in.Body, in.Headers)
			if status != bareStatus || text != bareText {
				t.Errorf("%d %s, want the mount's %d %s", status, text, bareStatus, bareText)
			}
			switch {
			case strings.HasPrefix(want.Headers["content-type"], "text/html"):
				c.Differ(t, "http-json-errors")
			case status == want.Status:
			case status == http.StatusNotFound:
				c.Differ(t, "http-exact-paths")
			case status == http.StatusUnsupportedMediaType:
				c.Differ(t, "http-content-type")
			case status == http.StatusBadRequest && want.Status == http.StatusOK:
				c.Differ(t, "input-unknown-fields")
			default:
				t.Errorf("%d %s, want %d", status, text, want.Status)
			}
		}
	})
}

func call(t *testing.T, server, method, path, content string, headers map[string]string) (int, http.Header, string) {
	t.Helper()
	request, err := http.NewRequest(method, server+path, strings.NewReader(content))
	if err != nil { // a path that is no URL to Go's client, as with a broken escape
		u, _ := url.Parse(server)
		u.Opaque = strings.TrimPrefix(server, u.Scheme+":") + path
		request = &http.Request{Method: method, URL: u, Body: io.NopCloser(strings.NewReader(content))}
	}
	request.Header = header(headers)
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response.StatusCode, response.Header, string(text)
}
